"""Fresh copies of tokenizers, and means of fresh processes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from tokbench.foundation.failures import doing
from tokbench.measuring.study import Outcome, joined
from tokbench.measuring.timing.clock import LEAST_PROCESSES, mean_of_processes
from tokbench.measuring.timing.contract import TimedText
from tokbench.results.cells import WHOLE, Cell, Status
from tokbench.tokenizers.batch import fresh_copies
from tokbench.tokenizers.contract import Tokenizer


class FreshCopies:
    """Copies that have not seen the text: one set for all groups, which share no text.

    >>> copies = FreshCopies({"a": [1]})  # any object will do
    >>> whole, en, fr = (copies.for_text(TimedText("c", True, 9, [], group)) for group in ("*", "en", "fr"))
    >>> whole["a"] is en["a"], en["a"] is fr["a"]
    (False, True)
    """

    def __init__(self, tokenizers: Mapping[str, Tokenizer]) -> None:
        self._tokenizers = tokenizers
        self._for_groups: tuple[str, Mapping[str, Tokenizer]] | None = None

    def for_text(self, text: TimedText) -> Mapping[str, Tokenizer]:
        if text.group != WHOLE and self._for_groups and self._for_groups[0] == text.corpus:
            return self._for_groups[1]
        copies = {}
        for name, tokenizer in self._tokenizers.items():
            with doing("copying", tokenizer=name, place=""):
                copies[name] = next(fresh_copies(tokenizer))
        if text.group != WHOLE:
            self._for_groups = text.corpus, copies
        return copies


def combined(family: str, outcomes: Sequence[Outcome]) -> Outcome:
    """Return geometric means; a value that is missing in one process is missing."""
    places = dict.fromkeys((c.tokenizer, c.corpus, c.group, c.metric) for one in outcomes for c in one.cells)
    known = [{(c.tokenizer, c.corpus, c.group, c.metric): c for c in one.cells} for one in outcomes]
    cells = [_mean([one[place] for one in known if place in one], len(outcomes)) for place in places]
    notes = [f"{family}: every value is the mean of {len(outcomes)} fresh processes, its interval is over processes"]
    noted = notes + _notes([one.notes for one in outcomes])
    return Outcome(cells=cells, notes=noted, tracebacks=joined(outcomes).tracebacks)


def _notes(noted: Sequence[Sequence[str]]) -> list[str]:
    """Return all notes; of several that differ only in numbers, the first."""
    alike: dict[str, str] = {}
    for note in chain.from_iterable(noted):
        alike.setdefault(re.sub(r"[\d.,]+", "0", note), note)
    return list(alike.values())


def _mean(cells: Sequence[Cell], processes: int) -> Cell:
    absent = next((cell for cell in cells if cell.value is None), None)
    if absent is not None:
        return absent
    if len(cells) < processes:
        reason = f"measured in {len(cells)} of {processes} processes"
        return replace(cells[0], value=None, ci_low=None, ci_high=None, n=0, status=Status.FAILED, reason=reason)
    mean = mean_of_processes([cell.value for cell in cells if cell.value is not None])
    caution = (
        "" if mean.low is not None else f"no interval: {processes} processes are too few; it needs {LEAST_PROCESSES}"
    )
    return replace(cells[0], value=mean.value, ci_low=mean.low, ci_high=mean.high, n=processes, caution=caution)
