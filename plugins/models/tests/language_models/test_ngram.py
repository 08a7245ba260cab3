"""The n-gram model against dictionaries and KenLM; near-duplicates against sets of windows."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.tokenizers.contract import Encoded
from tokbench_models.language_models import near_duplicates as module
from tokbench_models.language_models.near_duplicates import SAMPLED, WINDOW, near_duplicates
from tokbench_models.language_models.ngram_model import bits_by_order

BOS, EOS = "BOS", "EOS"


def encoded(documents):
    ids = np.array([token for document in documents for token in document], dtype=np.uint32)
    return Encoded(ids, np.concatenate([[0], np.cumsum([len(document) for document in documents])]).astype(np.int64))


class Dictionaries:
    """The model of one order, in exact fractions, from counts of tuples."""

    def __init__(self, documents, order, n_ids):
        self.order, self.n_ids = order, n_ids
        raw = [Counter() for _ in range(order + 1)]
        for document in documents:
            tokens = (BOS, *document, EOS)
            for n in range(1, order + 1):
                raw[n].update(tokens[k : k + n] for k in range(len(tokens) - n + 1) if tokens[k : k + n] != (BOS,))
        self.counts = [Counter() for _ in range(order + 1)]
        self.counts[order] = raw[order]
        for n in range(1, order):
            preceded = Counter(gram[1:] for gram in raw[n + 1])
            self.counts[n] = Counter({g: c if g[0] == BOS else preceded[g] for g, c in raw[n].items()})
        self.discounts = [None, *(self._discounts(self.counts[n]) for n in range(1, order + 1))]

    @staticmethod
    def _discounts(counts):
        n = Counter(counts.values())
        few = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3, 2)]
        if not (n[1] and n[2] and n[3]):
            return few
        y = Fraction(n[1], n[1] + 2 * n[2])
        found = [Fraction(0)] + [j - (j + 1) * y * Fraction(n[j + 1], n[j]) for j in (1, 2, 3)]
        return found if all(0 < d <= j for j, d in enumerate(found[1:], 1)) else few

    def p(self, word, history):
        n = len(history) + 1
        below = self.p(word, history[1:]) if history else Fraction(1, self.n_ids + 1)
        following = {gram[-1]: count for gram, count in self.counts[n].items() if gram[:-1] == history}
        total = sum(following.values())
        if not total:
            return below
        discounts = self.discounts[n]
        count = following.get(word, 0)
        kept = sum(discounts[min(c, 3)] for c in following.values())
        return (count - discounts[min(count, 3)] + kept * below) / total

    def bits(self, document):
        tokens = (BOS, *document, EOS)
        histories = (tokens[max(0, k - self.order + 1) : k] for k in range(1, len(tokens)))
        return sum(-log2(self.p(word, history)) for word, history in zip(tokens[1:], histories, strict=True))


documents = st.lists(st.lists(st.integers(0, 3), max_size=8), min_size=1, max_size=8)


@settings(max_examples=40)
@given(documents, documents, st.integers(1, 4))
def test_every_order_equals_dictionaries(training, scored, highest):
    bits = bits_by_order(encoded(training), encoded(scored), 4, highest)
    for order in range(1, highest + 1):
        oracle = Dictionaries(training, order, 4)
        assert bits[order - 1] == pytest.approx([oracle.bits(document) for document in scored], rel=1e-12)


def text(seed, size, n_ids):
    """Documents in which a token depends on the one before, with repetitions, so that discounts can be estimated."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        length = int(rng.integers(0, 40))
        steps = np.minimum(rng.geometric(0.3, length), n_ids - 1)
        found.append((np.cumsum(steps) % n_ids).tolist())
    return found


def test_estimated_discounts_equal_dictionaries():
    rng, n_ids = np.random.default_rng(1), 300
    tokens = np.minimum(rng.zipf(1.5, 3000), n_ids) - 1
    *training, scored = (part.tolist() for part in np.split(tokens, 60))
    scored = [scored, []]
    bits = bits_by_order(encoded(training), encoded(scored), n_ids, 3)
    for order in (1, 2, 3):
        oracle = Dictionaries(training, order, n_ids)
        assert oracle.discounts[order][1] != Fraction(1, 2)
        assert bits[order - 1] == pytest.approx([oracle.bits(document) for document in scored], rel=1e-12)


@pytest.mark.parametrize("history", [[], [11, 11, 11], [3, 4, 5, 6, 7, 8, 9]])
def test_probabilities_sum_to_one(history):
    """Over all ids and EOS after a history, in fractions; and the arrays give the same bits."""
    training, n_ids = text(1, 60, 12), 12
    longer = [[*history, word] for word in range(n_ids)]
    for order in range(1, 7):
        oracle = Dictionaries(training, order, n_ids)
        tail = tuple([BOS, *history][max(0, len(history) + 2 - order) :])
        assert sum(oracle.p(word, tail) for word in [*range(n_ids), EOS]) == 1
        found = bits_by_order(encoded(training), encoded([*longer, history]), n_ids, order)[order - 1]
        assert found == pytest.approx([oracle.bits(document) for document in [*longer, history]], rel=1e-12)


def test_ids_too_large_for_packed_sorting_give_the_same():
    training, scored = text(1, 30, 12), text(2, 3, 12)
    huge = [[[token * 300_000_000 for token in document] for document in part] for part in (training, scored)]
    assert bits_by_order(*map(encoded, huge), 12) == pytest.approx(
        bits_by_order(encoded(training), encoded(scored), 12), rel=1e-12
    )


def test_no_training_text():
    with pytest.raises(ValueError, match="no training text"):
        bits_by_order(encoded([]), encoded([[1]]), 2)


def per_symbol(ours, theirs, documents):
    """Return the absolute difference of all documents, bits a symbol."""
    return np.abs(ours - theirs).sum() / sum(len(document) + 1 for document in documents)


LMPLZ = {
    2: [60.167086, 156.717437, 34.810446, 52.721103],
    3: [58.854447, 157.314448, 34.306182, 52.648907],
    4: [61.306194, 163.494648, 35.036999, 50.640682],
    5: [64.893993, 167.437431, 34.1705, 50.039984],
    6: [65.777561, 173.691467, 34.387548, 51.030003],
}
"""By order, the bits of four documents under the model that KenLM 0.3.0 estimates itself; each has 32-bit numbers.

Of the text of ``repeated`` as words, a document in each line: ``lmplz -o ORDER -S 64M --arpa model.arpa < text``. Nothing is
pruned, and without ``--discount_fallback`` lmplz stops if it cannot estimate a discount.
"""


def repeated():
    """Return 380 documents, four more, and the number of ids, of which one is in none of the 380.

    Numbers are frequent as in Zipf's law, and half of a document repeats what stood before, so that discounts can be
    estimated at all orders. Nothing but ``random()`` is drawn, which is the same in every version of Python.
    """
    draw = random.Random(1).random
    stream, documents, at = [], [], 0
    for _ in range(384):
        start = len(stream)
        for _ in range(int(60 * draw())):
            if stream and draw() < 0.5:
                at = at + 1 if draw() < 0.8 and at + 1 < len(stream) else int(draw() * len(stream))
                stream.append(stream[at])
            else:
                stream.append(min(int(1 / (1 - draw())), 500))
        documents.append(stream[start:])
    known = sorted({token for document in documents[:380] for token in document})
    ids = {token: k for k, token in enumerate(known)}
    renamed = [[ids.get(token, len(ids)) for token in document] for document in documents]
    return renamed[:380], renamed[380:], len(ids) + 1


def test_the_bits_are_those_that_lmplz_estimated():
    """The id that no training document has stands for <unk>, so KenLM's uniform share, 1 / |words|, is 1 / (V + 1)."""
    training, scored, n_ids = repeated()
    assert any(n_ids - 1 in document for document in scored)
    found = bits_by_order(encoded(training), encoded(scored), n_ids)
    for order, bits in LMPLZ.items():
        assert per_symbol(found[order - 1], bits, scored) < 1e-6


def by_sets(texts):
    """The rule to the letter, with the hash of each window from the same function, one window at a time."""
    seen, found = set(), []
    for text in texts:
        data = text.encode()
        windows = [data[k : k + WINDOW] for k in range(len(data) - WINDOW + 1)]
        looked_at = [window for window in windows if hash_of(window) % SAMPLED == 0] or [("short", data)]
        found.append(2 * sum(window in seen for window in looked_at) >= len(looked_at))
        seen.update(looked_at)
    return found


def hash_of(window):
    powers = [pow(module._BASE, k, 1 << 64) for k in range(WINDOW)]
    total = sum(power * byte for power, byte in zip(powers, window, strict=True)) % (1 << 64)
    return int(module._mixed(np.array([total], dtype=np.uint64))[0])


phrases = st.sampled_from(["the rain in Spain ", "falls mainly on the plain, ", "сегодня идёт дождь ", "x", ""])


@settings(max_examples=40)
@given(st.lists(st.lists(phrases, max_size=12).map("".join), max_size=8))
def test_equal_to_sets_of_windows(texts):
    assert near_duplicates(texts).tolist() == by_sets(texts)


def words(seed, size):
    return " ".join("".join(random.Random(f"{seed} {k}").choices("abcdefghij", k=6)) for k in range(size))


def test_half_is_the_limit():
    old = words("old", 400)
    share = [(old[: len(old) * k // 10] + words("new", 400)[: len(old) * (10 - k) // 10]) for k in (3, 4, 6, 7)]
    assert [bool(near_duplicates([old, each])[1]) for each in share] == [False, False, True, True]


def test_nothing():
    assert near_duplicates([]).tolist() == []
    assert near_duplicates(["", "a", ""]).tolist() == [False, False, True]


def test_stretches_of_documents_change_nothing(monkeypatch):
    texts = [words(k % 7, 40 + k) for k in range(30)]
    whole = near_duplicates(texts).tolist()
    monkeypatch.setattr(module, "_STRETCH", 500)
    assert near_duplicates(texts).tolist() == whole
    assert any(whole)
