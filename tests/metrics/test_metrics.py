"""The metrics: hand-computed values, published reference values, words kept whole, and merging in any order."""

import functools
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from metric_views import Cut, Lossy, gold, look, metric, utf8_bytes, values, view

import tokbench
from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.shards import shards
from tokbench.corpus.words.find import find_words
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.metric import LossSummary, Measured, NotApplicable
from tokbench.measuring.sums import Sums
from tokbench.measuring.token_counts import (
    CountTable,
    TokenCounts,
    add_tables,
    join_tables,
)
from tokbench.measuring.word_units import NO_GOLD
from tokbench.metrics.utf8 import count_split
from tokbench.results.blocks import LossCause, LossExample
from tokbench.tokenizers.batch import encode_batch


def test_compression_by_hand():
    measured = values("compression", view(tokbench.load("utf32_units"), "né", "né né"))
    assert {name: value.value for name, value in measured.items()} == {
        "tokens": 7,
        "bytes": 10,
        "chars": 7,
        "compression_ratio": 10 / 7,
        "chars_per_token": 1,
    }
    assert measured["tokens"].n == 2


@pytest.mark.parametrize(
    ("text", "group", "ratio", "unit"),
    [
        ("It's 3.5 km.", "en", 12 / 3, "word (UAX #29)"),
        ("བོད་ཡིག", "bo", 7 / 2, "syllable"),
        ("안녕 하세요.", "ko", 7 / 2, "word (whitespace)"),
    ],
)
def test_fertility_names_its_unit(text, group, ratio, unit):
    found = values("fertility", view(tokbench.load("utf32_units"), text, group=group))["fertility"]
    assert (found.value, found.unit, found.ratio_of) == (ratio, f"tokens/{unit}", ("tokens", "words"))


def test_fertility_of_different_units_has_no_common_value():
    one, other = view(utf8_bytes(), "a"), view(utf8_bytes(), "བ", group="bo")
    assert isinstance(values("fertility", one, other)["fertility"], NotApplicable)


def test_continued_words_by_bytes_and_by_offsets():
    # Each byte is a token: every word of two letters or more is cut, 'a' is not.
    measured = values("continued_words", view(tokbench.load("utf8_bytes"), "a bé cat", "dog"))
    assert measured["continued_word_rate"].value == 3 / 4
    # Lossy as to capitals, yet it says itself where its tokens lie.
    measured = values("continued_words", view(Lossy(), "A Bee"))
    assert measured["continued_word_rate"].value == 1 / 2


def test_round_trip_by_hand():
    measured = values("roundtrip", view(Lossy(), "abc", "Hello", "jazz"))
    assert measured["roundtrip_exact"].value == 1 / 3
    assert measured["cer"].value == 3 / 12  # H -> h, and two unknown letters
    assert measured["unk_rate"].value == 2 / 12


def test_the_first_loss_is_shown():
    m = metric("roundtrip")
    state = m.merge(m.map(view(Lossy(), "fine", "so far so good, then Bad")), m.map(view(Lossy(), "fine")))
    first = LossExample(origin="c:1", position=21, expected=" good, then Bad", got=" good, then bad")
    causes = [LossCause(cause="casing", documents=1, taking_part=1, first=first)]
    assert m.loss(state) == LossSummary(1, first, causes)


class Pieces:
    """Words between spaces are tokens, as in text that is cut already; a word has the number of its first place."""

    def __init__(self, text):
        self.words = list(dict.fromkeys(text.split()))
        self.vocab_size = len(self.words)

    def encode(self, text, /):
        return [self.words.index(word) for word in text.split()]

    def decode(self, ids, /):
        return " ".join(self.words[token] for token in ids)


@pytest.mark.parametrize(
    ("text", "alphas"),
    [
        (
            "pick @@ed pick @@l @@ed pick @@les",
            {2.5: 0.8265064834225245, 1: 0.9211854965885544, 3: 0.8031528501359657},
        ),
        (
            "pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s",
            {2.5: 0.9204840242168808, 1: 0.9609557933859342, 3: 0.9105681923824472},
        ),
    ],
)
def test_efficiency_is_that_of_tokenization_scorer(text, alphas):
    """Its own tests, as far as they are right: its README gives the values of order 3 as those of order 2.5."""
    encoded = view(Pieces(text), text)
    for alpha, efficiency in alphas.items():
        measured = values("vocabulary", encoded, alpha=alpha)
        assert measured["renyi_efficiency"].value == pytest.approx(efficiency, rel=1e-14)
    assert measured["token_entropy"].value == pytest.approx(alphas[1] * np.log2(len(set(text.split()))), rel=1e-14)


def test_the_shape_of_frequencies_by_hand():
    """Counts 4, 2, 1, 1."""
    measured = values("vocabulary", view(tokbench.load("utf8_bytes"), "aaaabb", "cd"))
    assert (measured["type_token_ratio"].value, measured["token_entropy"].value) == (4 / 8, 1.75)


def test_vocabulary_by_hand():
    measured = values("vocabulary", view(tokbench.load("utf8_bytes"), "aaab"))
    assert measured["vocab_utilization"].value == 2 / 256
    assert measured["distinct_tokens"].value == 2
    assert measured["shannon_efficiency"].value == pytest.approx(0.8112781244591328)


texts = st.lists(st.text(alphabet="abzA \n,né한กé", max_size=12), min_size=1, max_size=20)


def test_a_share_ends_at_one():
    sums = Sums(40, {"part": np.array([5.0] * 28 + [2, 2, 3, 4]), "whole": np.array([5.0] * 32)})
    assert sums.share("part", "whole").ci_high == 1.0
    assert sums.ratio("part", "whole").ci_high > 1.0


KEYS = st.integers(0, 200) | st.integers(2**32 - 40, 2**32 + 40) | st.integers(0, 2**36)
TABLES = st.lists(st.dictionaries(KEYS, st.integers(1, 70_000), max_size=40), min_size=1, max_size=8)


@given(TABLES)
def test_tables_of_counts_add_up_however_they_are_kept(rows):
    columns = ([np.array(list(each), dtype=np.int64) for each in (row.keys(), row.values())] for row in rows)
    tables = [CountTable.of(*column) for column in columns]
    counted = functools.reduce(lambda one, other: one + other, (TokenCounts(2**32, 1, (table,)) for table in tables))
    expected = sum(map(Counter, rows), Counter())
    for found in (counted.joined(), join_tables(functools.reduce(add_tables, ([each] for each in tables)))):
        assert found.keys.tolist() == sorted(expected)
        assert dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected


def utf8(text):
    return text.encode()


PIECES = st.lists(
    st.sampled_from([*map(utf8, ["a", " ", "é", "e\u0301", "\u0302", "🇫🇮", "한", "\r\n"]), b"|"]), max_size=9
)


@given(texts=st.lists(PIECES.map(b"".join), min_size=1, max_size=4), cut=st.integers(0, 2))
def test_utf8_equals_a_loop(texts, cut):
    plain = dict.fromkeys(text.replace(b"|", b"") for text in texts)
    cuts = [b"|".join(bytes([byte]) for byte in text) if cut == 2 else text for text in plain] if cut else texts
    first = {text.replace(b"|", b""): text for text in cuts}  # a text is cut in one way
    view = look(*first.values())
    found = count_split(view, None)
    data, ends = view.shard.data, view.token_ends.ends.tolist()
    spans = find_words(view.shard.texts, "grapheme")
    places = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    split = [any(start < end < stop for end in ends) for start, stop in places]
    assert found["split_clusters"].sum() == sum(split)
    inside = [0x80 <= byte < 0xC0 for byte in data] + [False]
    assert found["partial_tokens"].sum() == sum(inside[start] or inside[end] for start, end in pairwise([0, *ends]))


@pytest.mark.parametrize(
    ("cut", "words", "whole"),
    [
        ("The| dog| barks", 3, 3),  # the space before the word is no harm
        ("The| |dog|\n |barks", 3, 3),
        ("The| dog bar|ks", 3, 1),  # two words in one token: 'dog' is not alone, 'barks' is cut
        ("(The| dog.| barks", 3, 1),  # something else in the token
        ("The|\u3000dog", 2, 2),  # white space of three bytes
    ],
)
def test_words_kept_whole(cut, words, whole):
    # A second document: a token never reaches over from one to the next.
    found = values("strr", look(cut.encode(), b"a"))["strr"]
    assert (found.value, found.n, found.unit) == ((whole + 1) / (words + 1), 2, "share of words (UAX #29)")


def test_the_unknown_token_keeps_nothing():
    # 'z' is unknown to it, 'a' and 'b' are not.
    assert values("strr", look(b"a z b", tokenizer=Lossy()))["strr"].value == 2 / 3


def test_characters_tokens_and_clusters():
    # 'aé😀': a | C3 | A9 F0 9F | 98 80: two characters of three are split, three tokens of four are not whole.
    e, smile = "é".encode(), "😀".encode()
    measured = values("utf8", look(b"a|" + e[:1] + b"|" + e[1:] + smile[:2] + b"|" + smile[2:]))
    assert {name: value.value for name, value in measured.items()} == {
        "chars_split": 2 / 3,
        "partial_tokens": 3 / 4,
        "graphemes_split": 2 / 3,
    }
    # A mark parted from its letter: every character is whole, a cluster is not. The space is no cluster.
    measured = values("utf8", look(utf8("e|\u0301 x"), b"", utf8("y")))
    assert (measured["chars_split"].value, measured["chars_split"].n, measured["partial_tokens"].value) == (0, 3, 0)
    assert measured["graphemes_split"].value == 1 / 3


def test_documents_that_do_not_come_back_do_not_count():
    class Forgets(Cut):
        def decode(self, ids, /):
            return super().decode(ids).replace("z", "")

    cut = (utf8("é"), b"z|z")
    found = values("utf8", look(*cut, tokenizer=Forgets(*cut)))["chars_split"]
    assert (found.value, found.n) == (0, 1)


def test_without_gold_there_is_a_reason():
    for family, name in (("fertility", "fertility"), ("continued_words", "continued_word_rate"), ("strr", "strr")):
        assert values(family, look(b"a| b"), unit="gold")[name] == NotApplicable(NO_GOLD)


def test_gold_words_are_the_default_where_there_are_some():
    """Of the two words one is punctuation, which no token cuts."""
    marked, plain = look(utf8("n|é!"), golds=[gold("né!", "né", "!")]), look(utf8("n|é!"))
    units = {name: [values(name, view)[name].unit for view in (marked, plain)] for name in ("fertility", "strr")}
    assert units["fertility"] == ["tokens/word (gold)", "tokens/word (UAX #29)"]
    assert units["strr"] == ["share of words (gold, no punctuation)", "share of words (UAX #29)"]
    for asked in ({"units": {"en": "uax29"}}, {"unit": "uax29"}):
        assert values("fertility", marked, **asked)["fertility"].unit == "tokens/word (UAX #29)"


def test_gold_units():
    text = "né!"
    view = look(utf8("n|é!"), golds=[gold(text, "né", "!")])
    measured = values("fertility", view, unit="gold")["fertility"]
    assert (measured.value, measured.unit) == (1, "tokens/word (gold)")
    measured = values("fertility", view, units={"en": "gold_nonpunct"})
    assert (measured["fertility"].value, measured["fertility"].unit) == (2, "tokens/word (gold, no punctuation)")
    assert (measured["words"].value, measured["words"].unit) == (1, "words (gold, no punctuation)")
    # What is said of a group goes before what is said of all.
    assert values("fertility", view, unit="gold", units={"en": "grapheme"})["fertility"].value == 2 / 3


def brute(text, ends, gold_words):
    """STRR, the share of split characters and of partial tokens, one by one."""
    white = [char.isspace() for char in text for _ in char.encode()]
    starts = [0, *ends][: len(ends)]
    whole = 0
    for first, last in gold_words:
        a, b = len(text[:first].encode()), len(text[:last].encode())
        whole += any(s <= a and b <= e and all(white[s:a] + white[b:e]) for s, e in zip(starts, ends, strict=True))
    places = [len(text[:k].encode()) for k in range(len(text) + 1)]
    split = sum(any(a < end < b for end in ends) for a, b in pairwise(places))
    partial = sum(s not in places or e not in places for s, e in zip(starts, ends, strict=True))

    return whole, split, partial


CASES = st.lists(
    st.tuples(st.text("ab é😀\u3000!", max_size=9), st.randoms(use_true_random=False)), min_size=1, max_size=5
)


@given(CASES, st.integers(1, 30))
def test_values_equal_brute_force(cases, size):
    cut, rows, expected = {}, [], []
    for k, (text, random) in enumerate(cases):
        data, spans = text.encode(), [match.span() for match in regex.finditer(r"\w+|[^\w\s]", text)]
        if text not in cut:
            ends = (
                sorted({*random.sample(range(len(data)), random.randrange(len(data))), len(data)} - {0}) if data else []
            )
            cut[text] = ends
        rows.append(
            Document(text, "en", str(k), "", Gold(tuple(spans), tuple(not text[a].isalnum() for a, _ in spans)))
        )
        expected.append((*brute(text, cut[text], spans), len(spans), len(text), len(cut[text])))
    tokenizer = Cut(
        *(b"|".join(text.encode()[a:b] for a, b in zip([0, *ends], ends, strict=False)) for text, ends in cut.items())
    )
    whole, split, partial, words, chars, pieces = map(sum, zip(*expected, strict=True))

    def found(family, **options):
        m = metric(family, **options)
        views = (
            EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, shard.texts))
            for shard in shards("c", rows, by_key=False, size=size)
        )
        state = functools.reduce(m.merge, map(m.map, views))
        return {name: value.value if isinstance(value, Measured) else None for name, value in m.finish(state).items()}

    def ratio(above, below):
        return above / below if below else None

    assert found("strr", unit="gold")["strr"] == ratio(whole, words)
    assert found("utf8")["chars_split"] == ratio(split, chars)
    assert found("utf8")["partial_tokens"] == ratio(partial, pieces)
