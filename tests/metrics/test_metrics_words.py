"""Words kept whole, characters split: hand-computed values and brute force."""

import functools
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from metric_views import Cut, Lossy, gold, look, metric, values

from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.shards import shards
from tokbench.corpus.words.find import find_words
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.measuring.word_units import NO_GOLD
from tokbench.metrics.utf8 import count_split
from tokbench.tokenizers.batch import encode_batch


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
    found = values("utf8", look(b"a|" + e[:1] + b"|" + e[1:] + smile[:2] + b"|" + smile[2:]))
    assert {name: value.value for name, value in found.items()} == {
        "chars_split": 2 / 3,
        "partial_tokens": 3 / 4,
        "graphemes_split": 2 / 3,
    }
    # A mark parted from its letter: every character is whole, a cluster is not. The space is no cluster.
    found = values("utf8", look(utf8("e|\u0301 x"), b"", utf8("y")))
    assert (found["chars_split"].value, found["chars_split"].n, found["partial_tokens"].value) == (0, 3, 0)
    assert found["graphemes_split"].value == 1 / 3


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
    found = values("fertility", view, unit="gold")["fertility"]
    assert (found.value, found.unit) == (1, "tokens/word (gold)")
    found = values("fertility", view, units={"en": "gold_nonpunct"})
    assert (found["fertility"].value, found["fertility"].unit) == (2, "tokens/word (gold, no punctuation)")
    assert (found["words"].value, found["words"].unit) == (1, "words (gold, no punctuation)")
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
