"""The source ``morphemes``: every layout on a small file written in it, what is left out, and what is refused."""

from itertools import pairwise

import pytest

import tokbench
from tokbench_research.sources.morphemes import MorphemesOptions, MorphemesSource

UNIMORPH = (
    "walk\twalked\tV;PST\twalk|ed\nwalk\twalked\tV;PTCP;PST\twalk|ed\nrun\tran\tV;PST\t-\nhurry\thurries\tV\thurry|s\n"
)
DERIVED = (
    "happy\tunhappy\tADJ\tADJ\tun\tprefix\nplay\tplayer\tV\tN\ter\tsuffix\naccurate\taccuracy\tADJ\tN\tcy\tsuffix\n"
    "un\tun\tX\tX\tun\tprefix\n"
)
SIGMORPHON = "reruns\tre@@ run @@s\t110\ninaccuracies\tin@@ accurate @@cy @@s\t110\nrun\trun\t000\n"
MORPHSCORE = "full_word,pt1,rest,pos\ndogs,dog,s,N\nhouses,house,s,N\n"


def opened(tmp_path, text, layout, name="eng.tsv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return MorphemesSource(MorphemesOptions(path=tmp_path / name, layout=layout))


def spelled(document):
    ends = [0, *document.gold.morphemes, len(document.text)]
    return "|".join(document.text[start:end] for start, end in pairwise(ends))


@pytest.mark.parametrize(
    ("layout", "text", "words"),
    [
        ("unimorph", UNIMORPH, ["walk|ed"]),
        ("morphynet_derivational", DERIVED, ["un|happy", "play|er", "accura|cy"]),
        ("sigmorphon2022", SIGMORPHON, ["re|run|s", "run"]),
        ("morphscore", MORPHSCORE, ["dog|s", "house|s"]),
    ],
)
def test_every_layout(tmp_path, layout, text, words):
    source = opened(tmp_path, text, layout)
    documents = list(source.documents())
    assert [spelled(document) for document in documents] == words
    assert all(document.gold.words == ((0, len(document.text)),) for document in documents)
    assert {document.group for document in documents} == {"eng"}
    line = next(k for k, row in enumerate(text.split("\n"), 1) if words[0].replace("|", "") in row)
    assert (documents[0].key, documents[0].origin) == (str(line), f"eng.tsv:{line}")


def test_the_notes_count_what_is_left_out(tmp_path):
    source = opened(tmp_path, UNIMORPH, "unimorph")
    assert len(list(source.documents())) == len(list(source.documents())) == 1
    assert source.notes == [
        "1 of 4 lines are left out: the word came before, such as walked = walk + ed",
        "1 of 4 lines are left out: the morphemes are not given, such as ran = ?",
        "1 of 4 lines are left out: the morphemes do not spell the word, such as hurries = hurry + s",
    ]


@pytest.mark.parametrize(
    ("layout", "text", "message"),
    [
        ("unimorph", "walk\twalked\n", "eng.tsv:1: has 2 columns, layout 'unimorph' has 4: lemma, form, features"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, layout, text, message):
    with pytest.raises(tokbench.InputError) as caught:
        list(opened(tmp_path, text, layout).documents())
    assert message in str(caught.value)
