"""The note on a run that was stopped, and the time of each phase of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.report.cells import PARTIAL, percent
from tokbench.report.document import Details, Inline, Name, Node, Note, Paragraph, Rich, Strong
from tokbench.report.number_format import duration
from tokbench.results.model import Results

_STOPPED: Final[Mapping[str, str]] = {
    "training": "while tokenizers were trained; nothing was measured",
    "measuring": "while documents were measured; what follows it, such as timing, was left out",
    "cells": "when all documents were measured; what follows, such as timing, was left out",
    "timing": "while tokenizers were timed; there are no speeds",
}

_BEFORE_STUDIES: Final[Mapping[str, str]] = {
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
_ALL_TOKENIZERS: Final = Rich(
    (), plain=[Paragraph("Of the documents of each group, over all tokenizers, until the run was stopped.")]
)


def partial_sentences(results: Results) -> list[str]:
    """Return when a run was stopped and what was measured; nothing for a complete run.

    >>> from tokbench.results.blocks import CorpusInfo, PartialRun
    >>> shares = {"pud": {"de": 1.0, "en": 0.5, "fr": 0.0}}
    >>> corpora = {"pud": CorpusInfo(groups={"de": 10, "en": 20, "fr": 10})}
    >>> stopped = Results(name="r", corpora=corpora, partial=PartialRun(phase="measuring", groups=shares))
    >>> partial_sentences(stopped)[1]
    'Measured: pud 50 %: 1 group whole, 1 in part, 1 not at all.'
    """
    if results.partial is None:
        return []
    name = results.partial.phase
    in_study = f"in the study {name.replace('_', ' ')}; what follows it, such as timing, was left out"
    phase = _STOPPED.get(name, in_study if name else "before it was through")
    corpora = [_corpus(results, corpus, shares) for corpus, shares in results.partial.groups.items()]
    reason = f" The reason: {results.partial.reason}." if results.partial.reason else ""
    return [f"Partial: this run was stopped {phase}.{reason}", f"Measured: {'; '.join(corpora) or 'nothing'}."]


def partial_note(results: Results) -> Note | None:
    """Return the note on a run that was stopped; ``None`` for a complete run."""
    if results.partial is None:
        return None
    stopped, measured = partial_sentences(results)
    nodes: list[Node] = [
        Paragraph([Strong(stopped), f" {measured} Numbers with {PARTIAL} are from part of the documents."])
    ]
    shares = _shares(results.partial.groups)
    if shares:
        nodes.append(Details("Share measured of each group", [_ALL_TOKENIZERS, Paragraph(shares)]))
    return Note(nodes)


def _shares(groups: Mapping[str, Mapping[str, float]]) -> Sequence[Inline]:
    places = [(corpus, group, share) for corpus, shares in groups.items() for group, share in shares.items()]
    line: list[Inline] = []
    for corpus, group, share in places[:_MOST_GROUPS]:
        line += [", "] if line else []
        line += [Name(corpus), " / ", Name(group), f"\u00a0{percent(share)}"]
    left = len(places) - _MOST_GROUPS
    more = f" and {left:,} more groups" if left > 0 else ""
    return [*line, f"{more}."] if line else []


def _corpus(results: Results, corpus: str, shares: Mapping[str, float]) -> str:
    documents = results.corpora[corpus].groups if corpus in results.corpora else {}
    weights = {group: documents.get(group, 1) for group in shares}
    measured = sum(shares[group] * weight for group, weight in weights.items()) / max(1, sum(weights.values()))
    whole, none = (sum(share == end for share in shares.values()) for end in (1, 0))
    part = len(shares) - whole - none
    counts = [(whole, "whole"), (part, "in part"), (none, "not at all")]
    words = [f"{count} {word}" for count, word in counts if count]
    first, _, rest = words[0].partition(" ")
    words[0] = f"{first} group{'' if first == '1' else 's'} {rest}"
    return f"{corpus} {percent(measured)}: {', '.join(words)}"


def durations(results: Results) -> list[tuple[str, str]]:
    """Return the phases in words with their times, wall time first.

    >>> from tokbench.results.blocks import Durations
    >>> durations(Results(name="r", durations=Durations(reading=0.25, worker_encode=2)))
    [('reading corpora', '0.250 s'), ('encoding, CPU time summed over workers', '2.00 s')]
    """
    studies = {f"study {name.replace('_', ' ')}": seconds for name, seconds in results.durations.studies.items()}
    before, after = (
        {words: getattr(results.durations, name) for name, words in phases.items()}
        for phases in (_BEFORE_STUDIES, _AFTER_STUDIES)
    )
    taken = {**before, **studies, **after}
    return [(words, duration(seconds)) for words, seconds in taken.items() if seconds is not None]
