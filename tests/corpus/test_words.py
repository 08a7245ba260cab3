"""Words and syllables: units and where they lie."""

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from shared_fixtures import cell

import tokbench
from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.shards import Shard, shards
from tokbench.corpus.words.find import count_words, find_clusters, find_words, words_in_pieces
from tokbench.corpus.words.icu import icu_works
from tokbench.corpus.words.units import default_unit
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.text.gold import align

needs_icu = pytest.mark.skipif(not icu_works(), reason="PyICU is not installed: pip install 'tokbench[icu]'")
FOUND = ["uax29", "whitespace", "character", "grapheme", "syllable", pytest.param("icu", marks=needs_icu)]


def spell(texts, unit):
    data = "".join(texts).encode()
    words = find_words(texts, unit)
    return [data[a:b].decode() for a, b in zip(words.starts.tolist(), words.ends.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("code", "with_icu", "without"),
    [
        *((code, "icu", "character") for code in ("th", "zho-CN", "yue")),
        ("bod_Tibt", "syllable", "syllable"),
        ("ko", "whitespace", "whitespace"),
        ("hostile-emoji", "uax29", "uax29"),
    ],
)
def test_the_unit_of_a_language(code, with_icu, without):
    assert (default_unit(code, icu=True), default_unit(code, icu=False)) == (with_icu, without)


@needs_icu
def test_icu_finds_words_in_unspaced_scripts():
    # Beyond U+FFFF ICU counts two for one character.
    text = "😀 สวัสดีชาวโลก 😀 It's 3.5 km, 你好，世界！"
    words = ["สวัสดี", "ชาว", "โลก", "It's", "3.5", "km", "你好", "世界"]
    assert spell([text], "icu") == words
    assert spell([text, "", text], "icu") == words * 2


@given(st.lists(st.lists(st.tuples(st.text("aé👍น", min_size=1, max_size=3), st.booleans()), max_size=5), max_size=4))
def test_gold_words_keep_their_place(documents):
    texts = [" ".join(form for form, _ in rows) for rows in documents]
    golds = []
    for text, rows in zip(texts, documents, strict=True):
        spans = align(text, [form for form, _ in rows])
        golds.append(Gold(tuple(spans), tuple(flag for _, flag in rows), tuple(a + 1 for a, b in spans if b > a + 1)))
    rows = [Document(text, "g", "", "", gold) for text, gold in zip(texts, golds, strict=True)]
    for shard in shards("c", rows, by_key=False):
        data = "".join(texts).encode()

        def spelled(words, data=data):
            return [data[a:b].decode() for a, b in zip(words.starts.tolist(), words.ends.tolist(), strict=True)]

        assert spelled(shard.words("gold")) == [form for each in documents for form, _ in each]
        assert spelled(shard.words("gold_nonpunct")) == [form for each in documents for form, flag in each if not flag]
        assert shard.words("gold").documents.tolist() == [k for k, each in enumerate(documents) for _ in each]
        firsts = [form[0] for document in documents for form, _ in document if len(form) > 1]
        long = [a for a, b in zip(*shard.words("gold")[:2], strict=True) if len(data[a:b].decode()) > 1]
        assert [data[a:m].decode() for a, m in zip(long, shard.gold.morphemes, strict=True)] == firsts


def test_a_corpus_without_gold_says_so():
    [shard] = shards("c", [Document("a b", "g", "1", "g:1")], by_key=False)
    with pytest.raises(tokbench.InputError, match="corpus 'c' has no gold words"):
        shard.words("gold")


@pytest.mark.parametrize("unit", FOUND)
@given(texts=st.lists(st.text(max_size=15), max_size=6))
def test_words_lie_inside_their_documents(texts, unit):
    words = find_words(texts, unit)
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text.encode()))
    last = 0
    for start, end, document in zip(words.starts.tolist(), words.ends.tolist(), words.documents.tolist(), strict=True):
        assert last <= start < end <= offsets[document + 1]
        assert start >= offsets[document]
        last = end
        word = "".join(texts).encode()[start:end].decode()
        if unit in {"uax29", "character"}:
            assert regex.search(r"[\p{L}\p{N}\p{M}_]", word)
        else:
            assert regex.search(r"\S", word)


@pytest.mark.parametrize("unit", FOUND)
@given(one=st.text(max_size=30), other=st.text(max_size=30))
def test_documents_do_not_touch(one, other, unit):
    assert spell([one, other], unit) == spell([one], unit) + spell([other], unit)


CLUSTERED = st.lists(
    st.text(alphabet="ab \t\r\n\x0b\x1cé\u0301\u0302ज\u093f\U0001f469\u200d🇫🇮한\x85", max_size=12), max_size=6
)


@given(texts=CLUSTERED, size=st.integers(1, 12))
def test_clusters_in_a_byte_each_are_the_spans_of_clusters(texts, size):
    spans = find_words(texts, "grapheme")
    clusters = find_clusters(texts, np.array([len(text.encode()) for text in texts], dtype=int), size)
    inside = np.zeros(len("".join(texts).encode()) + 1, dtype=bool)
    for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True):
        inside[start + 1 : end] = True
    assert clusters.counts.tolist() == np.bincount(spans.documents, minlength=len(texts)).tolist()
    assert clusters.inside.tolist() == inside.tolist()


@pytest.mark.parametrize("unit", FOUND)
@given(
    texts=st.lists(st.text("ab9 \u0301'.,\u00a0\u200d\n漢字かカ。、ー", max_size=15), max_size=4),
    size=st.integers(1, 5),
)
def test_words_in_pieces_are_the_words(texts, unit, size):
    n_bytes = np.array([len(text.encode()) for text in texts], dtype=np.int64)
    pieces = words_in_pieces(texts, unit, n_bytes, size)
    whole = find_words(texts, unit)
    assert [span for piece in pieces for span in np.column_stack(piece).tolist()] == np.column_stack(whole).tolist()
    assert count_words(texts, unit, n_bytes).tolist() == np.bincount(whole.documents, minlength=len(texts)).tolist()


def test_spaces_and_ink_of_documents():
    texts = ["", "a b\u3000c", "\xa0", " ", "x"]
    shard = Shard("c", "en", 0, [Document(text, "en", str(k), str(k)) for k, text in enumerate(texts)], by_key=False)
    assert shard.n_spaces.tolist() == [0, 2, 1, 1, 0]
    assert shard.ink_before.tolist() == [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4]


@pytest.mark.parametrize("unit", FOUND)
def test_a_long_document_is_searched_in_pieces(unit):
    text = "".join(document.text[:20] for document in SampleSource(SampleOptions()).documents())
    text = text.replace(" ", "\n", 2000) + "\r\n\u0301a\n\u200d🇫\n🇮\nไทย\nที่ no end"
    n_bytes = np.array([len(text.encode())])
    [whole] = words_in_pieces([text], unit, n_bytes, len(text))
    assert len(whole.starts) > 500
    for size in (1, 500):
        parts = list(words_in_pieces([text], unit, n_bytes, size))
        assert len(parts) > 2
        for one, other in zip(zip(*parts, strict=True), whole, strict=True):
            assert np.array_equal(np.concatenate(one), other)


@pytest.mark.parametrize(
    ("text", "syllables"),
    [
        ("한국어를 배워요", "한 국 어 를 배 워 요"),
        ("\u1112\u1161\u11ab글", "\u1112\u1161\u11ab 글"),  # a block of three code points, and one of one
        ("我在北京，第3章。", "我 在 北 京 第 3 章"),
        ("བཀྲ་ཤིས་བདེ་ལེགས།", "བཀྲ ཤིས བདེ ལེགས"),
        ("Việt Nam có 1.234 làng", "Việt Nam có 1.234 làng"),
        ("မြန်မာနိုင်ငံ", "မြန် မာ နိုင် ငံ"),
        ("မင်္ဂလာပါ", "မင် ဂ လာ ပါ"),  # the nasal stands above what it comes before
        ("မန္တလေး", "မန တ လေး"),  # one consonant below another
    ],
)
def test_syllables_as_the_writing_shows_them(text, syllables):
    starts, ends, _ = find_words([text], "syllable")
    found = [text.encode()[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    assert found == syllables.split()


def test_units_are_named_and_foreign_languages_refused(write_config, tmp_path):
    for group, text in {"ko": "한국어 배워", "en": "to be"}.items():
        (tmp_path / f"{group}.txt").write_text(text)
    config = write_config(
        corpora='  c: {source: text, path: "*.txt", group: "{stem}"}',
        metrics="[{fertility: {unit: syllable}}]",
    )
    results = tokbench.run(config, workers=0)
    counted = {group: cell(results, "bytes", "fertility", group) for group in ("ko", "en")}
    assert (counted["ko"].value, counted["ko"].unit) == (16 / 5, "tokens/syllable")
    assert counted["en"].status == "not_applicable"
    assert counted["en"].reason.startswith("'en' is not counted in syllables; groups that are: bo, bod, cmn")
