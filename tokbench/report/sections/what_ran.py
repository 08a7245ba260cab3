"""What ran: the subtitle of a report, what the command changed, what a stopped run lacks, and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokbench.report.number_format import duration
from tokbench.report.sections.problems import missing_tokenizers
from tokbench.report.tables import CellTables
from tokbench.results.cells import FAILED
from tokbench.results.model import Results

_STOPPED: Final[Mapping[str, str]] = {
    "training": "while tokenizers were trained; nothing was measured",
    "measuring": "while documents were measured; what follows it, such as timing, was left out",
    "cells": "when all documents were measured; what follows, such as timing, was left out",
}

_BEFORE_STUDIES: Final[Mapping[str, str]] = {
    "reading": "reading corpora",
    "loading": "loading tokenizers",
    "training": "training, saving and hashing tokenizers",
    "measuring": "encoding, decoding and text metrics",
    "cells": "merging and computing results",
}


def subtitle(tables: CellTables) -> str:
    """Return a sentence on what ran, when, and for how long."""
    results = tables.results
    total, missing = len(results.tokenizers), len(missing_tokenizers(results))
    ran = f"{total - missing} of {total} tokenizers" if missing else _count(total, "tokenizer")
    measured = {
        cell.corpus for cell in results.cells if cell.value is not None
    }  # others are only trained on, or failed
    parts = [f"{ran} on {_count(len(measured or results.corpora), 'corpus', 'corpora')}"]
    if results.created:
        parts.append(f"started {results.created.replace('T', ' ').replace('+00:00', ' UTC')}")
    if results.seconds:
        parts.append(f"took {duration(results.seconds)}")
    if bad := sum(cell.status in FAILED for cell in results.cells):
        parts.append(f"{_count(bad, 'result')} failed")
    if results.interrupted:
        parts.append("stopped early")
    return ", ".join(parts)


def overrides(results: Results) -> list[str]:
    """Return a line for each override of the configuration.

    >>> from tokbench.results.blocks import RunConfig
    >>> overrides(Results(name="r", config=RunConfig(limit=5, only=["gpt-4"], settings=["limits.step=9"])))
    ['first look: at most 5 documents a group', 'only gpt-4', 'set by the command: limits.step=9']
    """
    config = results.config
    lines = []
    if config.limit is not None:
        lines.append(f"first look: at most {_count(config.limit, 'document')} a group")
    if config.only:
        lines.append(f"only {', '.join(config.only)}")
    if config.settings:
        lines.append(f"set by the command: {'; '.join(config.settings)}")
    return lines


def partial_sentences(results: Results) -> list[str]:
    """Return when a run was stopped, and what to do; nothing for a complete run.

    >>> from tokbench.results.blocks import PartialRun
    >>> partial_sentences(Results(name="r", partial=PartialRun(phase="speed")))[0]
    'Partial: this run was stopped in the study speed; what follows it was left out.'
    """
    if results.partial is None:
        return []
    name = results.partial.phase
    in_study = f"in the study {name.replace('_', ' ')}; what follows it was left out"
    phase = _STOPPED.get(name, in_study if name else "before it was complete")
    reason = f" The reason: {results.partial.reason}." if results.partial.reason else ""
    again = "What it had not finished has no numbers. Run it again to measure the rest."
    return [f"Partial: this run was stopped {phase}.{reason}", again]


def durations(results: Results) -> list[tuple[str, str]]:
    """Return the phases in words with their times.

    >>> from tokbench.results.blocks import Durations
    >>> durations(Results(name="r", durations=Durations(reading=0.25, studies={"probes": 2})))
    [('reading corpora', '0.250 s'), ('study probes', '2.00 s')]
    """
    phases = {words: getattr(results.durations, name) for name, words in _BEFORE_STUDIES.items()}
    studies = {f"study {name.replace('_', ' ')}": seconds for name, seconds in results.durations.studies.items()}
    return [(words, duration(seconds)) for words, seconds in (phases | studies).items() if seconds is not None]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
