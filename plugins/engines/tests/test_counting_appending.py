"""Counting and appending: who counts how, and which texts an engine sees while one grows."""

from typing import ClassVar

import pytest

from tokbench.foundation.progress import silent
from tokbench.measuring.timing.contract import TimedText
from tokbench.studies.speed.measure import Speed, SpeedOptions
from tokbench.tokenizers.contract import CountsAlone
from tokbench_engines.speed.appending import Appending
from tokbench_engines.speed.counting import Counting


class Letters:
    vocab_size = 1 << 21

    def encode(self, text, /):
        return [ord(c) for c in text]

    def decode(self, ids, /):
        return "".join(map(chr, ids))


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """Each turn collects garbage, which takes seconds in a process with the objects of all tests before."""
    monkeypatch.setattr("gc.collect", lambda: 0)


def measured(family, tokenizers, same_as):
    metric = family(SpeedOptions(rounds=4, min_time=1e-9))
    metric.same_as = same_as
    documents = [f"document {k}" for k in range(50)]
    outcome = metric.measure(tokenizers, [TimedText("c", True, 600, documents)], silent)
    return {(cell.tokenizer, cell.metric): cell for cell in outcome.cells}


def test_every_tokenizer_counts_by_its_own_count_or_by_encoding():
    class Counts(CountsAlone):
        vocab_size = 1 << 21

        def count_batch(self, texts, /):
            return list(map(len, texts))

    tokenizers = {"letters": Letters(), "counts": Counts()}
    cells = measured(Counting, tokenizers, {"counts": "letters"})
    assert {name: (cell.n, cell.status.value) for name, cell in cells.items()} == {
        ("letters", "count_mb_per_s"): (4, "ok"),
        ("counts", "count_mb_per_s"): (4, "ok"),
        ("counts", "count_ratio"): (4, "ok"),
    }
    speed = measured(Speed, tokenizers, {})
    assert speed["counts", "encode_mb_per_s"].status.value == "not_applicable"


def test_appends_are_the_texts_of_a_text_that_grows():
    class Seen(Letters):
        seen: ClassVar = []

        def encode(self, text, /):
            self.seen.append(text)
            return super().encode(text)

    cells = measured(Appending, {"seen": Seen(), "letters": Letters()}, {"letters": "seen"})
    assert {name: (cell.n, cell.unit) for name, cell in cells.items()} == {
        ("seen", "appends_per_s"): (4, "appends/s"),
        ("letters", "appends_per_s"): (4, "appends/s"),
        ("letters", "appends_ratio"): (4, "x"),
    }
    assert {"d", "do", "docume", "document", "document 7"} <= set(Seen.seen)
