"""Corpora: documents, their limit, parts, shards, the spool, and the sample that ships."""

import glob
import gzip
import hashlib
import random
import re
import tempfile
import tracemalloc
import unicodedata
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from shared_fixtures import problems

import tokbench
from tokbench.corpus import spool
from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.corpus import Corpus
from tokbench.corpus.shards import Shard, shards
from tokbench.corpus.spool import EVALUATED, TRAINED, Spool
from tokbench.foundation.errors import InputError
from tokbench.sources.rows import RowFileOptions, RowFiles
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.sources.text import TextOptions, TextSource
from tokbench.text.cuts import reading
from tokbench.text.find import find_files


class Listed:
    """A source of given documents."""

    licence = ""

    def __init__(self, documents):
        self._documents = documents

    def documents(self):
        return iter(self._documents)


def test_the_sample_s_languages_are_aligned():
    groups = {}
    for document in SampleSource(SampleOptions(part="languages")).documents():
        groups.setdefault(document.group, []).append(document)
    assert len(groups) == 28
    assert {len(documents) for documents in groups.values()} == {66}
    for documents in groups.values():
        text = "\n".join(document.text for document in documents)
        assert unicodedata.is_normalized("NFC", text)
        assert len({document.text for document in documents}) == 66
    names = (
        "Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil Telugu Thai Georgian Armenian Ethiopic Han "
        "Hiragana Hangul"
    )
    everything = "".join(document.text for documents in groups.values() for document in documents)
    for script in names.split():
        assert len(regex.findall(rf"\p{{Script={script}}}", everything)) > 500, script


def test_the_sample_s_code_and_hostile_texts():
    code = list(SampleSource(SampleOptions(part="code")).documents())
    languages = "c cpp go html java javascript python ruby rust shell sql typescript".split()
    assert Counter(document.group for document in code) == dict.fromkeys(languages, 5)
    # Of like length: intervals would be rough if a few documents made up most of the text.
    assert all(1_000 < len(document.text) < 4_500 for document in code)
    hostile = "".join(document.text for document in SampleSource(SampleOptions(part="hostile")).documents())
    assert all(needed in hostile for needed in ("\u200d", "\u0301", "\x00", "a" * 1500, "\r\n", "<|endoftext|>"))


def test_text_keeps_line_ends_in_files_and_drops_them_from_lines(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\n\r\ntwo\n".encode())
    [whole] = TextSource(TextOptions(path=tmp_path / "a.txt")).documents()
    assert whole.text == "\ufeffone\r\n\r\ntwo\n"
    lines = list(TextSource(TextOptions(path=tmp_path / "*.txt", document="line", group="g-{name}")).documents())
    assert lines == [
        Document("\ufeffone", "g-a.txt", "1", "a.txt:1", line_end="\r\n\r\n"),
        Document("two", "g-a.txt", "3", "a.txt:3", line_end="\n"),
    ]


def read_documents(path, how):
    with reading(path) as reader:
        return list(reader.documents(how))


@given(text=st.text(alphabet="aé \r\n", max_size=30))
def test_documents_lose_nothing_but_line_ends(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("cut") / "x.txt"
    path.write_bytes(text.encode())
    for how in ("file", "line", "paragraph"):
        documents = read_documents(path, how)
        kept = "".join(document for _, document, _ in documents)
        assert kept.translate(str.maketrans("", "", "\r\n ")) == text.translate(str.maketrans("", "", "\r\n "))
        lines = text.split("\n")
        for number, document, _ in documents:
            assert "\n".join(lines[number - 1 :]).startswith(document)
            assert document if how == "file" else document.strip() or how == "line"
    assert [line for _, line, _ in read_documents(path, "line")] == [
        line for line in text.replace("\r\n", "\n").split("\n") if line
    ]
    ended = "".join(line + end for _, line, end in read_documents(path, "line"))
    assert ended == re.sub(r"\A(\r?\n)+", "", text)


def texts_of(options, **more):
    return [document.text for document in Corpus("c", TextSource(options), **more).training_text()]


@pytest.mark.parametrize("how", ["file", "line", "paragraph"])
def test_training_sees_files_as_they_are(tmp_path, how):
    code = "def a():\r\n    return 1\n\n\ndef b():\n    return 2\n"
    (tmp_path / "a.py").write_bytes(code.encode())
    options = TextOptions(path=tmp_path / "a.py", document=how)
    assert "".join(texts_of(options)) == code
    kept = texts_of(options, holdout=0.3) if how == "line" else []
    assert all(text in code.splitlines(keepends=True) or text.endswith("\n\n\n") for text in kept)
    assert not any(document.text.endswith("\n") for document in TextSource(options).documents()) or how == "file"


def test_parallel_lines_have_no_ends(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert texts_of(TextOptions(path=tmp_path / "a.txt", document="line"), parallel=True) == ["one", "two"]
    assert not any(document.line_end for document in SampleSource(SampleOptions(part="languages")).documents())


def test_line_ends_tell_texts_apart(tmp_path):
    hashes = []
    for name, data in (("lf", b"a\nb\n"), ("crlf", b"a\r\nb\r\n"), ("blank", b"a\n\nb\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_bytes(data)
        source = TextSource(TextOptions(path=tmp_path / name / "x.txt", document="line"))
        hashes.append(Corpus("c", source).survey().sha256)
    assert len(set(hashes)) == 3
    assert hashes[0] == hashlib.sha256(b"x\0001\0a\0x\0002\0b\0").hexdigest()  # as it always was


def test_jsonl_groups_from_fields(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"body": "x", "lang": "fi", "id": 7}\n', encoding="utf-8")
    options = RowFileOptions(path=tmp_path / "r.jsonl", text="body", group="{lang}-{stem}", key="id", licence="MIT")
    assert list(RowFiles("jsonl", options).documents()) == [Document("x", "fi-r", "7", "r.jsonl:1")]


def test_holdout_parts_are_disjoint_and_complete():
    documents = [Document(f"text {k % 90}", "g", str(k), "") for k in range(100)]
    corpus = Corpus("c", Listed(documents), holdout=0.3)
    held, trained = {d.text for d in corpus.evaluation()}, {d.text for d in corpus.training()}
    assert not held & trained, "copies of one text must not fall on both sides"
    assert len(held | trained) == 90
    assert 10 < len(held) < 45


def test_translations_stay_together():
    documents = [Document(f"{group} {k}", group, str(k), "") for group in "abc" for k in range(60)]
    corpus = Corpus("c", Listed(documents), holdout=0.5, parallel=True)
    keys = {group: [d.key for d in corpus.evaluation() if d.group == group] for group in "abc"}
    assert keys["a"] == keys["b"] == keys["c"]
    assert 15 < len(keys["a"]) < 45


LIMITED = [
    Document(f"{group}{k}", group, str(k), f"c:{k}")
    for k in range(30)
    for group in ("a", "b")
    if k < 20 or group == "b"
]


@pytest.mark.parametrize("holdout", [0.0, 0.4])
def test_a_limit_takes_each_group_s_first_documents(holdout):
    whole = Corpus("c", Listed(LIMITED), holdout=holdout)
    limited = Corpus("c", Listed(LIMITED), holdout=holdout, limit=3)
    all_, survey = whole.survey(), limited.survey()
    first, learned = (
        [d for group in "ab" for d in [d for d in documents if d.group == group][:3]]
        for documents in (list(whole.evaluation()), list(whole.training()))
    )
    assert sorted(limited.evaluation()) == sorted(first)
    assert sum(map(len, limited.shards())) == 6
    assert survey.groups == {"a": 3, "b": 3}
    assert survey.evaluated_bytes == sum(len(d.text) for d in first)
    assert sorted(limited.training()) == sorted(learned)
    assert len(survey.trained) == 6
    left = [d for d in LIMITED if d in [*first, *learned]]
    assert (survey.documents, survey.bytes) == (len(left), sum(len(d.text) for d in left))
    assert survey.sha256 == Corpus("c", Listed(left)).survey().sha256 != all_.sha256


@given(st.lists(st.tuples(st.text(max_size=9), st.sampled_from("xyz")), max_size=25), st.integers(1, 40))
def test_shards_keep_order_and_lose_nothing(rows, size):
    documents = [Document(text, group, str(k), "") for k, (text, group) in enumerate(rows)]
    items = list(shards("c", documents, by_key=False, size=size))
    for group in "xyz":
        mine = [shard for shard in items if shard.group == group]
        assert [text for shard in mine for text in shard.texts] == [text for text, g in rows if g == group]
        assert [shard.first for shard in mine] == np.cumsum([0, *map(len, mine)])[: len(mine)].tolist()
    for shard in items:
        assert shard.n_bytes.tolist() == [len(text.encode()) for text in shard.texts]
        assert shard.sampled.units.documents.sum() == len(shard)


def test_a_digest_is_that_of_the_documents_and_of_their_place_in_the_group():
    def shard(text="a b", group="en", key="0", corpus="c", by_key=False, gold=None, first=0):
        document = Document(text, group, key, f"c:{key}", gold)
        return Shard(corpus, group, first, [document], by_key=by_key)

    one = shard()
    assert one.digest == shard(corpus="d").digest
    gold = [Gold(((0, 1), (2, 3)), (False, False)), Gold(((0, 1), (2, 3)), (False, True)), Gold(((0, 3),), (False,))]
    others = [shard(text="a c"), shard(group="de"), shard(by_key=True), shard(key="1"), shard(first=1)]
    others += [shard(gold=each) for each in gold]
    assert len({each.digest for each in [one, *others]}) == 9


def test_buckets_do_not_depend_on_shards():
    texts = [f"text {k}" for k in range(200)]
    random.Random(1).shuffle(texts)
    documents = [Document(text, "g", str(k), "") for k, text in enumerate(texts)]
    [whole] = shards("c", documents, by_key=False)
    parts = list(shards("c", documents, by_key=False, size=50))
    assert whole.buckets.tolist() == [bucket for part in parts for bucket in part.buckets.tolist()]
    assert len(set(whole.buckets.tolist())) == 32


def read(path, **options):
    source = TextSource(TextOptions(path=path, **options))
    return [(document.group, document.origin) for document in source.documents()]


def test_links_in_a_circle_are_not_followed(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "x.txt").write_text("text", encoding="utf-8")
    for name in ("again", "once-more"):  # two circles: a search that follows both forty times would never end
        (inner / name).symlink_to(tmp_path / "a")
    documents = read(tmp_path / "**" / "*.txt")
    assert documents == [("x", "x.txt:1")]
    assert read(tmp_path / "a" / "**") == documents


def test_a_search_without_links_finds_what_glob_finds(tmp_path):
    for name in ("a.txt", "d/b.txt", "d/e/c.txt", "d/.hidden/h.txt", ".h.txt", "d/e/f/g.txt", "d[1]/x.txt", "d/n.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    for pattern in ("**/*.txt", "*.txt", "**", "d/**/f/*", "**/e/**/*.txt", "d/**/**/*.txt", "?/*", "**/[de]/*.txt"):
        expected = map(Path, glob.glob(str(tmp_path / pattern), recursive=True))  # noqa: PTH207 - it is the reference
        files = find_files(tmp_path / pattern)
        assert files == sorted({path for path in expected if path.is_file()}), pattern


PARALLEL = {
    "one file a language": ({"de.txt": "drei", "en.txt": "three", "fr.md": "trois"}, "{stem}"),
    "a folder a text": ({"1/de.txt": "ein", "2/de.txt": "zwei", "1/en.txt": "one", "2/en.txt": "two"}, "{stem}"),
}


@pytest.mark.parametrize("case", PARALLEL)
def test_whole_files_are_translations(tmp_path, case):
    files, group = PARALLEL[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    source = TextSource(TextOptions(path=tmp_path / "**" / "*.*", group=group))
    survey = Corpus("c", source, parallel=True).survey()
    alone = Corpus("c", source).survey()
    assert survey.groups == alone.groups
    assert survey.sha256 == alone.sha256, "the digest of a corpus does not depend on its use"
    shards_of = {shard.group: shard for shard in Corpus("c", source, parallel=True).shards()}
    buckets = [shard.buckets.tolist() for shard in shards_of.values()]
    assert all(bucket == buckets[0] for bucket in buckets), "translations are in one jackknife group"


def test_whole_files_that_do_not_match_are_refused(tmp_path):
    for name in ("de/1.txt", "de/2.txt", "en/1.txt", "en/3.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    source = TextSource(TextOptions(path=tmp_path / "**" / "*.*", group="{parent}"))
    with pytest.raises(tokbench.InputError, match="is not parallel: group 'en'"):
        Corpus("c", source, parallel=True).survey()


def documents():
    rng, gold = random.Random(0), Gold(((0, 1), (2, 3)), (False, True), (1,))
    for k in range(200):
        text = "".join(rng.choices(["a", "é", "東", "\0", "\n", "🎉"], k=rng.choice([0, 1, 300])))
        yield Document(
            text, rng.choice(["", "en", "*"]), str(k), f"c:{k}", rng.choice([None, gold]), rng.choice("xy"), "\r\n"
        )


@pytest.mark.parametrize("in_memory", [0, 5_000, 1 << 20])
def test_readings_take_turns_and_lose_nothing(monkeypatch, in_memory):
    monkeypatch.setattr(spool, "_IN_MEMORY", in_memory)
    monkeypatch.setattr(spool, "_BATCH_CHARS", 1_000)
    kept, parts = Spool(), random.Random(1).choices([EVALUATED, TRAINED, EVALUATED | TRAINED], k=200)
    pairs = list(zip(documents(), parts, strict=True))
    for pair in pairs:
        kept.add(*pair)
    asked = [(part, group) for part in (EVALUATED, TRAINED) for group in (None, "", "en", "*", "missing")]
    turns = zip_longest(*(kept.read(*each) for each in asked))
    for (part, group), found in zip(asked, zip(*turns, strict=True), strict=True):
        assert [*filter(None, found)] == [one for one, its in pairs if its & part and group in {None, one.group}]


def test_no_room_is_an_error_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="missing: No such file or directory; set TMPDIR"):
        Spool().add(Document("a" * 10**7, "g", "1", "c:1"), EVALUATED)


MB = 10**6
LONG = "a document of more than 1 MB; cut it into smaller ones, or allow more with 'limits: {document: 2MB}'"
LIMIT = "limits: {document: 1MB}\n"
ROW = '{"text": "%s"}\n'
SENTENCE = "# text = %s\n1\ta" + "\t_" * 8 + "\n\n"


def peak_of(function):
    """Return the memory in bytes that a function took at most."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("source", "name", "content", "line"),
    [
        ("text, document: line", "x.txt", "short\n" + "a" * 2 * MB + "\nb\n", 2),
        ("text, document: paragraph", "x.txt", "short\n\n" + "a" * 2 * MB, 1),
        ("jsonl", "x.jsonl", ROW % "a" + ROW % ("a" * 2 * MB), 2),
        ("conllu", "x.conllu", SENTENCE % "a" + SENTENCE % ("a" * 2 * MB), 4),
    ],
)
def test_a_document_that_is_too_long_is_told_with_its_place(write_config, tmp_path, source, name, content, line):
    (tmp_path / name).write_text(content, encoding="utf-8")
    path = write_config(corpora=f"  c: {{source: {source}, path: {name}}}", extra=LIMIT)
    assert problems(path) == [f"run.yaml:4:6: {tmp_path / name}:{line}: {LONG}"]


def test_a_bomb_takes_no_memory(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(30):
            file.write(bytes(MB))

    def refused():
        with pytest.raises(Exception, match="a document of more than 1 MB"), reading(path, most=MB) as reader:
            list(reader.documents("line"))

    assert peak_of(refused) < 8 * MB
