"""Near-duplicates against sets of windows, and by hand."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_models.language_models import near_duplicates as module
from tokbench_models.language_models.near_duplicates import SAMPLED, WINDOW, near_duplicates


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
