"""Corpora: documents, parts, shards, and the sample that ships."""

import random
import unicodedata

import numpy as np
import regex
from hypothesis import given
from hypothesis import strategies as st

from tokbench.contracts.corpus import Document
from tokbench.corpus.corpus import Corpus
from tokbench.corpus.shards import shards
from tokbench.corpus.sources.files import read_documents
from tokbench.corpus.sources.jsonl import JsonlOptions, JsonlSource
from tokbench.corpus.sources.python import StdlibOptions, StdlibSource
from tokbench.corpus.sources.sample import SampleOptions, SampleSource
from tokbench.corpus.sources.text import TextOptions, TextSource


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
    code = {document.group for document in SampleSource(SampleOptions(part="code")).documents()}
    assert code == set("c cpp go html java javascript python ruby rust shell sql typescript".split())
    hostile = "".join(document.text for document in SampleSource(SampleOptions(part="hostile")).documents())
    for needed in (
        "\u200d",
        "\u0301",
        "\u202e",
        "\x00",
        "\x1b",
        "a" * 1500,
        "\r\n",
        "\ue000",
        "\ufeff",
        "<|endoftext|>",
    ):
        assert needed in hostile


def test_sample_groups_can_be_chosen():
    source = SampleSource(SampleOptions(groups=("en", "python")))
    assert {document.group for document in source.documents()} == {"en", "python"}


def test_text_keeps_line_ends_in_files_and_drops_them_from_lines(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\n\r\ntwo\n".encode())
    [whole] = TextSource(TextOptions(path=tmp_path / "a.txt")).documents()
    assert whole.text == "\ufeffone\r\n\r\ntwo\n"
    lines = list(TextSource(TextOptions(path=tmp_path / "*.txt", document="line", group="g-{name}")).documents())
    assert lines == [Document("\ufeffone", "g-a.txt", "1", "a.txt:1"), Document("two", "g-a.txt", "3", "a.txt:3")]


@given(text=st.text(alphabet="aé \r\n", max_size=30))
def test_documents_lose_nothing_but_line_ends(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("cut") / "x.txt"
    path.write_bytes(text.encode())
    for how in ("file", "line", "paragraph"):
        documents = list(read_documents(path, how))
        kept = "".join(document for _, document in documents)
        assert kept.translate(str.maketrans("", "", "\r\n ")) == text.translate(str.maketrans("", "", "\r\n "))
        lines = text.split("\n")
        for number, document in documents:
            assert "\n".join(lines[number - 1 :]).startswith(document)
            assert document if how == "file" else document.strip() or how == "line"
    assert [line for _, line in read_documents(path, "line")] == [
        line for line in (line.removesuffix("\r") for line in text.split("\n")) if line
    ]


def test_jsonl_groups_from_fields(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"body": "x", "lang": "fi", "id": 7}\n', encoding="utf-8")
    options = JsonlOptions(path=tmp_path / "r.jsonl", text="body", group="{lang}-{stem}", key="id", licence="MIT")
    assert list(JsonlSource(options).documents()) == [Document("x", "fi-r", "7", "r.jsonl:1")]


def test_the_standard_library_is_real_code():
    documents = list(StdlibSource(StdlibOptions(packages=("json", "textwrap"))).documents())
    assert "textwrap.py" in [document.key for document in documents]
    assert all("test" not in document.key for document in documents)
    assert sum(len(document.text) for document in documents) > 20_000


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


def test_a_digest_tells_corpora_apart():
    one = Corpus("c", Listed([Document("ab", "g", "1", "x")])).survey().sha256
    assert one == Corpus("d", Listed([Document("ab", "g", "1", "elsewhere")])).survey().sha256
    assert one != Corpus("c", Listed([Document("a", "bg", "1", "x")])).survey().sha256
    assert one != Corpus("c", Listed([Document("ab", "h", "1", "x")])).survey().sha256


@given(st.lists(st.tuples(st.text(max_size=9), st.sampled_from("xyz")), max_size=25), st.integers(1, 40))
def test_shards_keep_order_and_lose_nothing(rows, size):
    documents = [Document(text, group, str(k), "") for k, (text, group) in enumerate(rows)]
    found = list(shards("c", documents, by_key=False, size=size))
    for group in "xyz":
        mine = [shard for shard in found if shard.group == group]
        assert [text for shard in mine for text in shard.texts] == [text for text, g in rows if g == group]
        assert [shard.first for shard in mine] == np.cumsum([0, *map(len, mine)])[: len(mine)].tolist()
    for shard in found:
        assert shard.n_bytes.tolist() == [len(text.encode()) for text in shard.texts]
        assert shard.per_bucket(shard.n_chars).sum() == sum(map(len, shard.texts))


def test_buckets_do_not_depend_on_shards():
    texts = [f"text {k}" for k in range(200)]
    random.Random(1).shuffle(texts)
    documents = [Document(text, "g", str(k), "") for k, text in enumerate(texts)]
    [whole] = shards("c", documents, by_key=False)
    parts = list(shards("c", documents, by_key=False, size=50))
    assert whole.buckets.tolist() == [bucket for part in parts for bucket in part.buckets.tolist()]
    assert len(set(whole.buckets.tolist())) == 32
