"""The section on probes: their texts, and the tokens of each tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokbench.report.cells import LEGENDS, LOSSY, UNCHECKED
from tokbench.report.escaping import visible
from tokbench.results.model import Results
from tokbench.results.probes import PROBES, ProbeInfo


class TokenizedText(NamedTuple):
    """A text and its tokens.

    Attributes:
        label: the name of the text.
        tokens: id and text, made visible, of each token.
        mark: the mark of a text that does not come back; empty if it does.
    """

    label: str
    tokens: Sequence[tuple[int, str]]
    mark: str = ""

    def first(self, most: int) -> tuple[Sequence[tuple[int, str]], int]:
        """Return the first tokens, and the number of those that are left out."""
        return self.tokens[:most], max(len(self.tokens) - most, 0)


class ProbeRow(NamedTuple):
    """The texts of a probe as one tokenizer cuts them, or the reason why it gave no answer."""

    tokenizer: str
    texts: Sequence[TokenizedText]
    reason: str


@dataclass(frozen=True, slots=True)
class ProbeSection:
    """One probe.

    Attributes:
        info: its description, its texts and the ids of its metrics.
        rows: by tokenizer, in the order of the run.
        own: further texts that are those of one tokenizer.
    """

    info: ProbeInfo
    rows: Sequence[ProbeRow]
    own: Sequence[ProbeRow]

    @property
    def listings(self) -> list[tuple[str, str]]:
        """The texts of many lines, for which the heading of a column has no room."""
        return [(label, text) for label, text in self.info.texts if text.count("\n") > 1]

    @property
    def legends(self) -> list[str]:
        """The meaning of the marks beside the numbers of tokens."""
        marks = {text.mark for row in [*self.rows, *self.own] for text in row.texts}
        return [legend for mark, legend in LEGENDS.items() if mark in marks]

    @property
    def headings(self) -> list[tuple[str, str]]:
        """The labels, each with its text if that has one line and says more than the label."""
        same = str.maketrans({"␣": " ", "⏎": "\n"})
        texts = self.info.texts
        return [(label, "" if "\n" in text or label.translate(same) == text else text) for label, text in texts]


def probes(results: Results) -> list[ProbeSection]:
    """Return the probes of a run; those that have answered without any text stand among the numbers alone."""
    answered = (
        any(not answer.reason for answer in entry.answers.values()) for entry in (results.studies.get(PROBES) or [])
    )
    return [
        _probe(entry)
        for entry, known in zip((results.studies.get(PROBES) or []), answered, strict=True)
        if entry.texts or not known
    ]


def _probe(entry: ProbeInfo) -> ProbeSection:
    labels = [label for label, _ in entry.texts]
    rows, own = [], []
    for name, answer in entry.answers.items():
        lost = answer.lost
        texts = [
            _text(label, tokens, comes_back=None if lost is None else label not in lost)
            for label, tokens in zip(labels, answer.tokens, strict=False)
        ]
        rows.append(ProbeRow(name, texts, answer.reason))
        if answer.own:
            own.append(ProbeRow(name, [_text(t.label, t.tokens, comes_back=t.comes_back) for t in answer.own], ""))
    return ProbeSection(entry, rows, own)


def _text(label: str, tokens: Sequence[tuple[int, str]], *, comes_back: bool | None) -> TokenizedText:
    mark = {True: "", False: LOSSY, None: UNCHECKED}[comes_back]
    return TokenizedText(label, [(number, visible(text, spaces=True)) for number, text in tokens], mark)
