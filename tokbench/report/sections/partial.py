"""The header of a run that was stopped, and the time that each phase of a run took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tokbench.report.cells import percent
from tokbench.report.number_format import duration
from tokbench.results.model import Results

_STOPPED: Final[Mapping[str, str]] = {
    "training": "while tokenizers were trained; nothing was measured",
    "measuring": "while documents were measured; what follows it, such as timing, was left out",
    "cells": "when all documents were measured; what follows, such as timing, was left out",
    "timing": "while tokenizers were timed; there are no speeds",
}

_PHASES: Final[Mapping[str, str]] = {
    "reading": "reading corpora",
    "loading": "loading tokenizers",
    "training": "training, saving and hashing tokenizers",
    "measuring": "encoding, decoding and text metrics",
    "cells": "merging and making cells",
}

_AFTER_STUDIES: Final[Mapping[str, str]] = {
    "timing": "timing",
    "worker_encode": "encoding, CPU time summed over workers",
    "worker_decode": "decoding, CPU time summed over workers",
    "worker_metrics": "text metrics, CPU time summed over workers",
}

_MOST_GROUPS: Final = 100


@dataclass(frozen=True, slots=True)
class PartialSection:
    """The header of a run that was stopped.

    Attributes:
        sentence: that it was stopped, and in which phase.
        corpora: by corpus the share of its documents that was measured, in words.
        groups: corpus, group and share in words, those of the longest lists cut.
        left_out: the number of groups that are not listed.
    """

    sentence: str
    corpora: list[str]
    groups: list[tuple[str, str, str]]
    left_out: int


def partial_section(results: Results) -> PartialSection | None:
    """Return the header; ``None`` if the run came to its end.

    >>> from tokbench.results.blocks import CorpusInfo, PartialRun
    >>> shares = {"pud": {"de": 1.0, "en": 0.5, "fr": 0.0}}
    >>> corpora = {"pud": CorpusInfo(groups={"de": 10, "en": 20, "fr": 10})}
    >>> stopped = Results(name="r", corpora=corpora, partial=PartialRun(phase="measuring", groups=shares))
    >>> partial_section(stopped).corpora
    ['pud 50 %: 1 group whole, 1 in part, 1 not at all']
    """
    if results.partial is None:
        return None
    name = results.partial.phase
    in_study = f"in the study {name.replace('_', ' ')}; what follows it, such as timing, was left out"
    phase = _STOPPED.get(name, in_study if name else "before it was through")
    groups = [
        (corpus, group, percent(share))
        for corpus, shares in results.partial.groups.items()
        for group, share in shares.items()
    ]
    return PartialSection(
        f"Partial: this run was stopped {phase}.",
        [_corpus(results, corpus, shares) for corpus, shares in results.partial.groups.items()],
        groups[:_MOST_GROUPS],
        max(0, len(groups) - _MOST_GROUPS),
    )


def _corpus(results: Results, corpus: str, shares: Mapping[str, float]) -> str:
    documents = results.corpora[corpus].groups if corpus in results.corpora else {}
    weights = {group: documents.get(group, 1) for group in shares}
    share = sum(shares[group] * weight for group, weight in weights.items()) / max(1, sum(weights.values()))
    whole, none = (sum(each == end for each in shares.values()) for end in (1, 0))
    part = len(shares) - whole - none
    counts = [(whole, "whole"), (part, "in part"), (none, "not at all")]
    words = [f"{count} {word}" for count, word in counts if count]
    first, _, rest = words[0].partition(" ")
    words[0] = f"{first} group{'' if first == '1' else 's'} {rest}"
    return f"{corpus} {percent(share)}: {', '.join(words)}"


def durations(results: Results) -> list[tuple[str, str]]:
    """Return the phases in words with their times; first wall time, then CPU time of workers.

    >>> from tokbench.results.blocks import Durations
    >>> durations(Results(name="r", durations=Durations(reading=0.25, worker_encode=2)))
    [('reading corpora', '0.250 s'), ('encoding, CPU time summed over workers', '2.00 s')]
    """
    studies = {f"study {name.replace('_', ' ')}": seconds for name, seconds in results.durations.studies.items()}
    before = {_PHASES[name]: getattr(results.durations, name) for name in _PHASES}
    after = {words: getattr(results.durations, name) for name, words in _AFTER_STUDIES.items()}
    return [
        (words, duration(seconds)) for words, seconds in {**before, **studies, **after}.items() if seconds is not None
    ]
