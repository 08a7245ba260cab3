"""Words kept whole, characters split, boundaries against a gold standard: hand-computed values and brute force."""

import functools
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from test_metrics import Lossy, metric, values

from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.shards import Shard, shards
from tokbench.corpus.words.find import find_words
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.measuring.sums import Sums
from tokbench.measuring.word_units import NO_GOLD
from tokbench.metrics import utf8 as families_utf8
from tokbench.metrics.utf8 import count_split
from tokbench.sources.gold import gold_segments
from tokbench.tokenizers.batch import encode_batch


class Cut:
    """Cuts each text as it is told: ``|`` in bytes parts the tokens."""

    vocab_size = 10_000

    def __init__(self, *cut):
        self._cut = {data.replace(b"|", b""): [piece for piece in data.split(b"|") if piece] for data in cut}
        self._tokens = sorted({piece for pieces in self._cut.values() for piece in pieces})

    def encode(self, text, /):
        return [self._tokens.index(piece) for piece in self._cut[text.encode()]] if text else []

    def decode(self, ids, /):
        return b"".join(map(self.token_bytes, ids)).decode(errors="replace")

    def token_bytes(self, token_id, /):
        return self._tokens[token_id]


def look(*cut, tokenizer=None, group="en", golds=None):
    texts = [data.replace(b"|", b"").decode() for data in cut]
    golds = golds or [None] * len(texts)
    rows = [
        Document(text, group, str(k), f"c:{k}", gold) for k, (text, gold) in enumerate(zip(texts, golds, strict=True))
    ]
    tokenizer = tokenizer or Cut(*cut)
    return EncodedShard(
        LoadedTokenizer("t", tokenizer), Shard("c", group, 0, rows, by_key=False), encode_batch(tokenizer, texts)
    )


def utf8(text):
    return text.encode()


PIECES = st.lists(
    st.sampled_from([*map(utf8, ["a", " ", "é", "e\u0301", "\u0302", "🇫🇮", "한", "\r\n"]), b"|"]), max_size=9
)


@given(texts=st.lists(PIECES.map(b"".join), min_size=1, max_size=4), cut=st.integers(0, 2), tokens=st.integers(1, 5))
def test_utf8_is_the_same_however_many_tokens_are_looked_at_together(texts, cut, tokens):
    plain = dict.fromkeys(text.replace(b"|", b"") for text in texts)
    cuts = [b"|".join(bytes([byte]) for byte in text) if cut == 2 else text for text in plain] if cut else texts
    first = {text.replace(b"|", b""): text for text in cuts}  # a text is cut in one way
    view = look(*first.values())
    found = [Sums.of(view.shard, **count_split(view, None)).raw()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families_utf8, "_TOKENS", tokens)
        found.append(Sums.of(view.shard, **count_split(view, None)).raw())
    assert found[0] == found[1]
    data, ends = view.shard.data, view.token_ends.ends.tolist()
    spans = find_words(view.shard.texts, "grapheme")
    places = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    split = [any(start < end < stop for end in ends) for start, stop in places]
    assert sum(found[0]["sums"]["split_clusters"]) == sum(split)
    inside = [0x80 <= byte < 0xC0 for byte in data] + [False]
    assert sum(found[0]["sums"]["partial_tokens"]) == sum(
        inside[start] or inside[end] for start, end in pairwise([0, *ends])
    )


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


def test_strr_needs_places():
    # Lossy as to capitals, but it says itself where its tokens lie; one without either has no value.
    assert values("strr", look(b"A b Bee", tokenizer=Lossy()))["strr"].value == 2 / 3

    class Silent:
        vocab_size, encode, decode = Lossy.vocab_size, Lossy.encode, Lossy.decode

    silent = values("strr", look(b"A", tokenizer=Silent()))["strr"]
    assert silent == NotApplicable("no document's tokens could be laid onto its bytes")


def test_the_unknown_token_keeps_nothing():
    # 'z' is unknown to it, 'a' and 'b' are not.
    assert values("strr", look(b"a z b", tokenizer=Lossy()))["strr"].value == 2 / 3
    golds = [gold("ab", "a", "b"), gold("az", "a", "z")]
    found = values("morphology", look(b"ab", b"az", tokenizer=Lossy(), golds=golds))["word_boundary_recall"]
    assert (found.value, found.n) == (1, 1)
    found = values("morphology", look(b"az", tokenizer=Lossy(), golds=golds[1:]))
    assert isinstance(found["word_boundary_f1"], NotApplicable)


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


def gold(text, *words):
    return gold_segments(text, [word.split("-") for word in words])


def test_boundaries_by_hand():
    text = "The unkind dogs bark."
    golds = [gold(text, "The", "un-kind", "dog-s", "bark", ".")]
    found = values("morphology", look(b"The| unk|ind do|gs| bark.", golds=golds))
    # Tokens meet after 'The', in 'unk|ind', in 'do|gs' and after 'dogs'; words meet in four places.
    assert {name: value.value for name, value in found.items()} == {
        "word_boundary_precision": 2 / 4,
        "word_boundary_recall": 2 / 4,
        "word_boundary_f1": 4 / 8,
        "morpheme_boundary_precision": 0 / 2,
        "morpheme_boundary_recall": 0 / 2,
        "morpheme_boundary_f1": 0 / 4,
        "morph_score": 0 / 2,
    }
    found = values("morphology", look(b"The |un|k|ind| dog|s bark.", b"a", golds=[*golds, gold("a", "a")]))
    assert {name: value.value for name, value in found.items()} == {
        "word_boundary_precision": 2 / 5,
        "word_boundary_recall": 2 / 4,
        "word_boundary_f1": 4 / 9,
        "morpheme_boundary_precision": 2 / 3,
        "morpheme_boundary_recall": 2 / 2,
        "morpheme_boundary_f1": 4 / 5,
        "morph_score": 2 / 2,
    }
    assert found["word_boundary_f1"].n == 2


def test_the_morphscore_is_that_of_its_authors():
    """Their rule on each word: left out if it is one token; 1 if the tokens before some cut spell the first part."""
    words = ["un-do", "dog-s", "walk-ed", "re-run", "bark-ing"]
    cuts = [b"un|do", b"dogs", b"wal|k|ed", b"rer|un", b"b|a|rking"]
    scores = []
    for word, cut in zip(words, cuts, strict=True):
        tokens, (first, _) = cut.decode().split("|"), word.split("-")
        if len(tokens) > 1:
            scores.append(any("".join(tokens[:k]) == first for k in range(1, len(tokens))))
    golds = [gold(word.replace("-", ""), word) for word in words]
    found = values("morphology", look(*cuts, golds=golds))
    assert found["morph_score"].value == sum(scores) / len(scores) == 2 / 4
    assert found["morpheme_boundary_recall"].value == 2 / 5


def test_without_gold_there_is_a_reason():
    found = values("morphology", look(b"a| b"))
    assert set(found.values()) == {NotApplicable(NO_GOLD)}
    words_only = Gold(((0, 1), (2, 3)), (False, False))
    found = values("morphology", look(b"a| b", golds=[words_only]))
    assert found["word_boundary_f1"].value == 1
    assert isinstance(found["morpheme_boundary_f1"], NotApplicable)
    for family, name in (("fertility", "fertility"), ("continued_words", "continued_word_rate"), ("strr", "strr")):
        assert values(family, look(b"a| b"), unit="gold")[name] == NotApplicable(NO_GOLD)


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
    """STRR, the share of split characters and of partial tokens, and word boundaries, one by one."""
    white = [char.isspace() for char in text for _ in char.encode()]
    starts = [0, *ends][: len(ends)]
    whole = 0
    for first, last in gold_words:
        a, b = len(text[:first].encode()), len(text[:last].encode())
        whole += any(s <= a and b <= e and all(white[s:a] + white[b:e]) for s, e in zip(starts, ends, strict=True))
    places = [len(text[:k].encode()) for k in range(len(text) + 1)]
    split = sum(any(a < end < b for end in ends) for a, b in pairwise(places))
    partial = sum(s not in places or e not in places for s, e in zip(starts, ends, strict=True))

    def rank(position):
        return white[:position].count(False)

    inner = {0, rank(len(white))}
    tokens = {rank(end) for end in ends} - inner
    words = {rank(len(text[:k].encode())) for span in gold_words for k in span} - inner
    return whole, split, partial, len(tokens & words), len(tokens), len(words)


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
    whole, split, partial, hits, tokens, boundaries, words, chars, pieces = map(sum, zip(*expected, strict=True))

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
    boundary = found("morphology")
    assert boundary["word_boundary_precision"] == ratio(hits, tokens)
    assert boundary["word_boundary_recall"] == ratio(hits, boundaries)
    assert boundary["word_boundary_f1"] == ratio(2 * hits, tokens + boundaries)
