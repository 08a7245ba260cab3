"""Things that groups and tokenizers share: divergences by their definition, boundaries by brute force, merging."""

import functools
import random
from hashlib import blake2b
from itertools import combinations

import numpy as np
import pytest
from metric_views import metric, values, view

import tokbench
from tokbench.measuring.metric import CorpusStates, NotApplicable
from tokbench_research import document_sample
from tokbench_research.metrics import context

WORDS = "low lower lowest slow slower the of flowers and towers are new newer".split()


class Chunks:
    """Cuts text of one byte a character into pieces of ``size`` characters; it says which bytes an id has."""

    def __init__(self, size):
        self.size = size
        self.vocab_size = 1 << 25

    def encode(self, text, /):
        pieces = [text[k : k + self.size] for k in range(0, len(text), self.size)]
        return [int.from_bytes(b"\1" + piece.encode("latin-1"), "big") for piece in pieces]

    def token_bytes(self, token_id, /):
        return token_id.to_bytes(4, "big").lstrip(b"\0")[1:]

    def decode(self, ids, /):
        return b"".join(map(self.token_bytes, ids)).decode("latin-1")


def texts(seed, count, words=WORDS):
    rng = random.Random(seed)
    return [" ".join(rng.choices(words, k=rng.randint(3, 9))) for _ in range(count)]


def entropy(p):
    p = np.array(p)[np.array(p) > 0]
    return -(p * np.log2(p)).sum()


def divergence_of(one, other):
    """The definition: the entropy of the mean less the mean of the entropies."""
    p, q = (np.array(each) / sum(each) for each in (one, other))
    return entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2


def states(family, parts, **options):
    """States by tokenizer and group of ``{(name, tokenizer): {group: texts}}``."""
    m = metric(family, **options)
    found = {
        (name, group): m.map(view(tokenizer, *some, group=group))
        for (name, tokenizer), by_group in parts.items()
        for group, some in by_group.items()
    }
    groups = {group: len(some) for by_group in parts.values() for group, some in by_group.items()}
    names = [name for name, _ in parts]
    return m, CorpusStates("c", False, "", groups, names, found)


def outcome(family, parts):
    """Return by tokenizer and group the values of a family."""
    m, found = states(family, parts)
    return m.finish_corpus(found).values


@pytest.fixture(scope="module")
def languages():
    """Two groups with the same words and one with others."""
    return {"a": texts(1, 60), "b": texts(2, 60), "z": texts(3, 60, ["QU", "XY", "ZZ"])}


def test_the_divergence_is_that_of_the_definition(languages):
    """The value of two groups is that of the pair, and of three the mean of the pairs."""
    counts = {
        group: np.bincount(np.frombuffer("".join(some).encode(), np.uint8), minlength=256)
        for group, some in languages.items()
    }
    tokenizer, pairs = ("bytes", tokbench.load("utf8_bytes")), {}
    for one, other in combinations(languages, 2):
        pairs[one + other] = divergence_of(counts[one], counts[other])
        found = outcome("overlap", {tokenizer: {group: languages[group] for group in (one, other)}})
        for place in (one, other, "*"):
            assert found["bytes", place]["language_divergence"].value == pytest.approx(pairs[one + other], abs=1e-12)
    values = {group: found for (_, group), found in outcome("overlap", {tokenizer: languages}).items()}
    assert values["a"]["language_divergence"].value == pytest.approx((pairs["ab"] + pairs["az"]) / 2)
    assert values["*"]["language_divergence"].value == pytest.approx(sum(pairs.values()) / 3)
    assert pairs["ab"] < 3 * values["b"]["language_divergence_noise"].value < pairs["az"]
    kinds = {group: set("".join(some)) for group, some in languages.items()}
    shared = [len(kinds[a] & kinds[b]) / len(kinds[a] | kinds[b]) for a, b in combinations(kinds, 2)]
    assert values["*"]["shared_ids"].value == pytest.approx(np.mean(shared))
    every = kinds["a"] | kinds["b"] | kinds["z"]
    spread = [sum(each in some for some in kinds.values()) for each in every]
    assert values["*"]["groups_per_id"].value == pytest.approx(np.mean(spread))


def boundaries(size, text):
    return set(range(size, len(text), size))


def test_boundaries_agree_with_brute_force():
    some = texts(1, 40)
    found = outcome("agreement", {("two", Chunks(2)): {"a": some}, ("three", Chunks(3)): {"a": some}})
    common = sum(len(boundaries(2, text) & boundaries(3, text)) for text in some)
    one, other = (sum(len(boundaries(size, text)) for text in some) for size in (2, 3))
    assert found["two", "a"]["boundary_agreement"].value == 2 * common / (one + other)
    assert found["two", "*"] == found["two", "a"] == found["three", "a"]


def test_vocabularies_are_compared_by_bytes():
    one, other = tokbench.train("naive_bpe", WORDS * 3, 280), tokbench.train("naive_bpe", WORDS[:6] * 3, 280)
    by_group = {"a": texts(1, 30)}
    found = outcome("agreement", {("one", one): by_group, ("other", other): by_group})["one", "a"]
    entries = [{each.token_bytes(k) for k in range(each.vocab_size)} for each in (one, other)]
    assert found["vocabulary_overlap"].value == len(entries[0] & entries[1]) / len(entries[0] | entries[1])
    shares = []
    for each in (one, other):
        used = [each.token_bytes(k) for text in by_group["a"] for k in each.encode(text)]
        shares.append({token: used.count(token) / len(used) for token in set(used)})
    overlap = sum(min(shares[0][token], shares[1][token]) for token in shares[0].keys() & shares[1].keys())
    assert found["token_overlap"].value == pytest.approx(overlap)
    alone = outcome("agreement", {("one", one): by_group})["one", "a"]
    assert set(alone.values()) == {NotApplicable("no other tokenizer to compare with")}


@pytest.fixture
def small(monkeypatch):
    """Windows of four ids, and a sample of 2,000 bytes."""
    monkeypatch.setattr(context, "_WINDOW", 4)
    monkeypatch.setattr(context, "_STRIDE", 2)
    monkeypatch.setattr(document_sample, "SAMPLE", 2000)


def test_pairs_are_counted_in_the_documents_with_the_first_hashes(small):
    """The values of a text of which a sample is drawn are those of its documents alone, in many shards and in one."""
    some = [f"{text} {text}" for text in texts(1, 300)]
    tokenizer, m = tokbench.load("utf8_bytes"), metric("context")
    by_hash = sorted(some, key=lambda text: int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little"))
    before = np.cumsum([0, *map(len, by_hash)])[:-1]
    drawn = [text for text, at in zip(by_hash, before, strict=True) if at < 2000]
    alone = m.finish(m.map(view(tokenizer, *drawn)))
    parts = [m.map(view(tokenizer, *some[k::30])) for k in range(30)]
    for state in (functools.reduce(m.merge, parts), m.map(view(tokenizer, *some))):
        found = m.finish(state)
        assert len(drawn) < 50
        for name in ("bigram_entropy", "accessor_variety"):
            assert found[name] == alone[name]
            assert found[name].n == len(drawn)
    assert found["mattr"].n == 300  # windows are counted in all documents


def test_the_context_of_a_text_by_hand(small):
    """ "abacab" twice: after a come b, c, b; after b comes a; bigrams do not cross from one document into the next."""
    m = metric("context")
    found = m.finish(m.map(view(tokbench.load("utf8_bytes"), "abacab", "abacab")))
    entropy = -(4 / 6 * np.log2(4 / 6) + 2 / 6 * np.log2(2 / 6))
    # a: 6 successors (b 4, c 2); b: 2 successors and c: 2, both too few.
    assert found["bigram_entropy"].value == pytest.approx(entropy)
    assert found["accessor_variety"].value == pytest.approx(4 / 3)
    # windows "abac" and "acab" have 3 different ids of 4.
    assert found["mattr"].value == pytest.approx(3 / 4)
    assert isinstance(m.finish(m.map(view(tokbench.load("utf8_bytes"), "a")))["mattr"], NotApplicable)


def test_lengths_of_tokens_by_hand():
    measured = values("token_lengths", view(tokbench.load("utf32_units"), "aé日🙂", "b"))
    assert [measured[f"token_bytes_{n}"].value for n in (1, 2, 3, 4, 5)] == [2 / 5, 1 / 5, 1 / 5, 1 / 5, 0]
