"""The source ``conllu``: gold words, and what is wrong with a file at which line."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.sources.conllu import ConlluOptions, ConlluSource
from tokbench.text.gold import AlignmentError, align

GERMAN = """# newdoc id = d
# sent_id = s1
# text = Am Montag, né?
1-2\tAm\t_\t_\t_\t_\t_\t_\t_\t_
1\tAn\tan\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_
3\tMontag\tMontag\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_
5\tné\tné\tINTJ\t_\t_\t3\tdiscourse\t_\tSpaceAfter=No
5.1\tgell\tgell\tINTJ\t_\t_\t_\t_\t_\t_
6\t?\t?\tPUNCT\t_\t_\t3\tpunct\t_\t_

# text = Ja.
1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


def read(tmp_path, text, name="de.conllu", **options):
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return list(ConlluSource(ConlluOptions(path=tmp_path / "*.conllu*", **options)).documents())


def refused(tmp_path, text):
    with pytest.raises(tokbench.InputError) as caught:
        read(tmp_path, text)
    return str(caught.value).replace(f"{tmp_path}/", "")


def spelled(document):
    return [document.text[start:end] for start, end in document.gold.words]


@pytest.mark.parametrize(("name", "ends"), [("de.conllu", "\n"), ("de.conllu.gz", "\r\n")])
def test_surface_tokens_are_the_gold_words(tmp_path, name, ends):
    first, second = read(tmp_path, GERMAN.replace("\n", ends), name)
    assert (first.group, first.key, first.origin) == ("de", "s1", f"{name}:1")
    assert spelled(first) == ["Am", "Montag", ",", "né", "?"]
    assert first.gold.punctuation == (False, False, True, False, True)
    assert first.gold.morphemes is None
    # Without a sent_id the key is the sentence's number.
    assert (second.key, second.origin, spelled(second)) == ("2", f"{name}:13", ["Ja", "."])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("3\tMontag\tMontag\tNOUN", "3\tMontag  Montag\tNOUN", "de.conllu:7: has 9 columns, CoNLL-U has 10"),
        ("4\t,", "5\t,", "de.conllu:8: the id 5 is out of order after word 3; number the words 1, 2, 3"),
        ("3\tMontag\tM", "3\tDienstag\tM", "de.conllu:7: the forms do not spell the line '# text = …': 'Dienstag' is not what follows in the text at character 4: 'Montag, né?'; correct one or the other"),
        ("# text = Ja.", "# translit = Ja.", "de.conllu:13: the sentence has no line '# text = …'; add it"),
        ("1\tJa\tja\t", "1-3\tJa.\t_\t_\t_\t_\t_\t_\t_\t_\n1\tJa\tja\t", "de.conllu:14: a multiword token up to word 3, but there are 2 words"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, says):
    assert old in GERMAN
    assert refused(tmp_path, GERMAN.replace(old, new)).startswith(says)


@given(
    st.lists(
        st.tuples(st.text("aé👍-", min_size=1, max_size=4), st.sampled_from(["", " ", "\u00a0", "  "])), max_size=8
    )
)
def test_forms_are_found_whatever_white_space_there_is(parts):
    text = "".join(form + space for form, space in parts)
    spans = align(text, [form for form, _ in parts])
    assert [text[start:end] for start, end in spans] == [form for form, _ in parts]
    with pytest.raises(AlignmentError):
        align(text, [*(form for form, _ in parts), "z"])
    if parts:
        with pytest.raises(AlignmentError):
            align(text, [form for form, _ in parts[:-1]])
