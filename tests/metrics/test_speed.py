"""Speed: the statistics and the protocol; no assertion on how fast anything is."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.measuring.metric import TimedText
from tokbench.metrics.speed.measure import Speed, SpeedOptions
from tokbench.metrics.speed.slices import MAX_PIECE, slices_of
from tokbench.metrics.speed.timing import calibrate, median_interval, median_spread, seconds


def silent(step, done, total):
    """Nobody is looking."""


@pytest.mark.parametrize(("n", "ranks"), [(6, (1, 6)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15))])
def test_order_statistics_equal_the_tables(n, ranks):
    assert median_interval(list(range(1, n + 1))) == ranks
    k = ranks[0]
    covered = 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2**n
    assert covered >= 0.95
    assert 1 - 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n < 0.95


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=30))
def test_the_median_lies_in_its_interval(values):
    found = median_spread(values)
    assert found.low is None or found.low <= found.median <= found.high
    assert (found.low is None) == (len(values) < 6)


@given(st.lists(st.text(max_size=40), max_size=60), st.integers(2, 12))
def test_slices_are_disjoint_and_complete(documents, count):
    size = sum(len(document.encode()) for document in documents)
    parts = slices_of(TimedText("c", True, size, documents), count, 10**9, seed=3)
    pieces = [text for part in parts for text in part.texts]
    assert sorted("".join(pieces)) == sorted("".join(documents))
    assert all(piece and any(piece in document for document in documents) for piece in pieces)
    assert all(part.n_bytes == sum(len(text.encode()) for text in part.texts) for part in parts)
    assert len(parts) == min(count, len(pieces))


def test_a_small_corpus_is_cut_finer():
    documents = ["line of code\n" * 200] * 3
    parts = slices_of(TimedText("c", True, 7_800, documents), 11, 10**9, seed=1)
    assert len(parts) == 11
    assert all(text.endswith("code\n") for part in parts for text in part.texts)


def test_long_documents_are_cut_at_line_ends():
    document = "x" * 99 + "\n"
    parts = slices_of(TimedText("c", True, 10**5, [document * 1000]), 5, 10**9, seed=1)
    pieces = [text for part in parts for text in part.texts]
    assert all(len(piece) <= MAX_PIECE and piece.endswith("\n") for piece in pieces)
    assert sum(map(len, pieces)) == 10**5


def test_a_large_corpus_is_sampled():
    documents = [f"document number {k}" for k in range(5000)]
    size = sum(map(len, documents))
    parts = slices_of(TimedText("c", True, size, documents), 4, size // 10, seed=1)
    assert 0.07 < sum(part.n_bytes for part in parts) / size < 0.13


def test_calibration_reaches_the_time():
    loops = calibrate(lambda: sum(range(1000)), 0.003)
    assert loops > 1
    assert seconds(lambda: sum(range(1000)), loops) * loops > 0.0005


def test_every_round_sees_text_for_the_first_time():
    class Remembers:
        vocab_size = 1 << 21

        def __init__(self):
            self.seen = []

        def encode(self, text, /):
            self.seen.append(text)
            return [ord(c) for c in text]

        def decode(self, ids, /):
            return "".join(map(chr, ids))

    tokenizer = Remembers()
    documents = [f"document {k}" for k in range(50)]
    metric = Speed(SpeedOptions(rounds=4, min_time=1e-9))
    outcome = metric.measure(
        {"a": tokenizer, "b": tokbench.load("utf32_units")}, [TimedText("c", True, 600, documents)], silent
    )
    assert {(cell.tokenizer, cell.metric, cell.n) for cell in outcome.cells} == {
        (name, value, 4) for name in "ab" for value in ("encode_mb_per_s", "decode_mb_per_s")
    }
    assert set(tokenizer.seen) == set(documents)
    assert any("noise floor" in note for note in outcome.notes)
    assert "speed on c: same ids, so speeds compare directly: a, b" in outcome.notes


@pytest.mark.parametrize(("cores", "told"), [(1.0, False), (1.9, True)])
def test_an_engine_of_several_threads_is_told(monkeypatch, cores, told):
    monkeypatch.setattr(time, "process_time", lambda: cores * time.perf_counter())
    documents = [f"document {k}" for k in range(50)]
    metric = Speed(SpeedOptions(rounds=4, min_time=1e-9))
    outcome = metric.measure({"a": tokbench.load("utf32_units")}, [TimedText("c", True, 600, documents)], silent)
    assert any(note.endswith("cores to encode: its speed is not that of one thread") for note in outcome.notes) == told


def test_too_little_text_is_a_reason_not_a_number():
    metric = Speed(SpeedOptions(rounds=4))
    outcome = metric.measure({"a": tokbench.load("utf8_bytes")}, [TimedText("c", True, 2, ["x", "y"])], silent)
    assert {cell.status.value for cell in outcome.cells} == {"failed"}
    assert "the text gives 2 slices, 4 rounds need one more" in outcome.cells[0].reason
