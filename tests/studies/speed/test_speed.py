"""Speed: the statistics and the protocol; no assertion on how fast anything is."""

import gc
import time
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.measuring.timing.contract import TimedText
from tokbench.plugin import from_lists
from tokbench.studies.speed.measure import Speed, SpeedOptions


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """Each turn collects garbage, which takes seconds in a process with the objects of all tests before."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


def silent(step, done, total):
    """Nobody is looking."""


@given(st.lists(st.text(max_size=40), max_size=60), st.integers(2, 12))
def test_slices_are_disjoint_and_complete(documents, count):
    size = sum(len(document.encode()) for document in documents)
    parts = TimedText("c", True, size, documents).slices(count, 10**9, seed=3)
    pieces = [text for part in parts for text in part.texts]
    assert sorted("".join(pieces)) == sorted("".join(documents))
    assert all(piece and any(piece in document for document in documents) for piece in pieces)
    assert all(part.n_bytes == sum(len(text.encode()) for text in part.texts) for part in parts)
    assert len(parts) == min(count, len(pieces))


def test_every_round_sees_text_for_the_first_time():
    class Remembers:
        vocab_size = 1 << 21

        def __init__(self):
            self.seen = []

        def encode(self, text, /):
            self.seen.append(text)
            return [ord(c) for c in text]

        def encode_batch(self, texts, /):
            return from_lists(list(map(self.encode, texts)))

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


@pytest.mark.parametrize(("cores", "told"), [(1.0, False), (1.9, True)])
def test_an_engine_of_several_threads_is_told(monkeypatch, cores, told):
    monkeypatch.setattr(time, "process_time", lambda: cores * time.perf_counter())
    _, outcome = measured({"a": Lists()})
    assert any("cores to encode" in note for note in outcome.notes) == told


def test_too_little_text_is_a_reason_not_a_number():
    metric = Speed(SpeedOptions(rounds=4))
    outcome = metric.measure({"a": tokbench.load("utf8_bytes")}, [TimedText("c", True, 2, ["x", "y"])], silent)
    assert {cell.status.value for cell in outcome.cells} == {"failed"}


class Lists:
    """The characters of a text, as a list that takes its time."""

    vocab_size = 1 << 21

    def encode(self, text, /):
        return [ord(c) for c in text]

    def decode(self, ids, /):
        return "".join(map(chr, ids))


class Arrays(Lists):
    """The same, and arrays in no time: as an engine whose buffers are handed on."""

    def encode_batch(self, texts, /):
        return from_lists([self.encode(text) for text in texts])


def measured(tokenizers, same_as=None, **options):
    metric = Speed(SpeedOptions(rounds=4, min_time=1e-9, **options))
    metric.same_as = same_as or {}
    documents = [f"document {k}" for k in range(50)]
    outcome = metric.measure(tokenizers, [TimedText("c", True, 600, documents)], silent)
    return {(cell.tokenizer, cell.metric): cell for cell in outcome.cells}, outcome


def test_a_ratio_has_the_reference_return_what_the_tokenizer_returns():
    """The arrays of the reference are asked for where the tokenizer gives arrays, and its lists where it gives lists."""

    class Asked(Arrays):
        asked: ClassVar = []

        def encode(self, text, /):
            self.asked.append("lists")
            return super().encode(text)

        def encode_batch(self, texts, /):
            self.asked.append("arrays")
            return from_lists([Lists.encode(self, text) for text in texts])

    cells, _ = measured({"ref": Asked(), "lists": Lists()}, {"lists": "ref"})
    assert cells["lists", "encode_ratio"].n == 4
    assert set(Asked.asked) == {"lists", "arrays"}
    Asked.asked.clear()
    cells, _ = measured({"ref": Asked(), "arrays": Arrays()}, {"arrays": "ref"})
    assert cells["arrays", "encode_ratio"].n == 4
    assert set(Asked.asked) == {"arrays"}


def test_there_is_no_ratio_where_the_reference_cannot_return_the_same():
    cells, _ = measured({"ref": Lists(), "arrays": Arrays()}, {"arrays": "ref"})
    assert cells["arrays", "encode_ratio"].status.value == "not_applicable"
