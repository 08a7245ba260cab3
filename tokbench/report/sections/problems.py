"""The section on problems: tokenizers, cells and plugins that did not run, and the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokbench.results.blocks import PluginInfo
from tokbench.results.cells import Cell, Status, TokenizerState
from tokbench.results.model import Results


@dataclass(frozen=True, slots=True)
class MissingCells:
    """Cells that have no value for one and the same reason.

    Attributes:
        status, reason: the word and the reason.
        tokenizers, corpora, metrics: the places, in the order of the cells.
        cells: the number of cells.
    """

    status: str
    reason: str
    tokenizers: Sequence[str]
    corpora: Sequence[str]
    metrics: Sequence[str]
    cells: int

    @property
    def applies(self) -> bool:
        """Tell whether the cells could have had a value."""
        return self.status != _word(Status.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class ProblemSection:
    """The whole section.

    Attributes:
        tokenizers: name, state and reason of every tokenizer that was not ready.
        cells: the cells without a value, those of one reason together; failures first.
        plugins: the plugins that cannot be used.
    """

    tokenizers: Sequence[tuple[str, str, str]]
    cells: Sequence[MissingCells]
    plugins: Sequence[PluginInfo]


def problems(results: Results) -> ProblemSection:
    """Return the section."""
    plugins = [plugin for plugin in results.plugins if plugin.reason]
    return ProblemSection(missing_tokenizers(results), _missing_cells(results), plugins)


def missing_tokenizers(results: Results) -> list[tuple[str, str, str]]:
    """Return name, state and reason of every tokenizer that was not ready; failures first."""
    missing = [
        (name, info.state.value, info.reason or "no reason given")
        for name, info in results.tokenizers.items()
        if info.state != TokenizerState.READY
    ]
    return sorted(missing, key=lambda row: row[1] != TokenizerState.FAILED)


def _missing_cells(results: Results) -> list[MissingCells]:
    """Return the cells that are not ok, without those of tokenizers that were not ready, which have a line each."""
    gone = {name for name, _, _ in missing_tokenizers(results)}
    found: dict[tuple[Status, str], list[Cell]] = {}
    for cell in results.cells:
        if cell.status != Status.OK and cell.tokenizer not in gone:
            found.setdefault((cell.status, cell.reason), []).append(cell)
    order = [Status.FAILED, Status.TIMEOUT, Status.UNAVAILABLE, Status.NOT_APPLICABLE]
    return [
        MissingCells(
            status=_word(status),
            reason=reason or "no reason given",
            tokenizers=_distinct(cell.tokenizer for cell in cells),
            corpora=_distinct(cell.corpus for cell in cells),
            metrics=_distinct(cell.metric for cell in cells),
            cells=len(cells),
        )
        for (status, reason), cells in sorted(found.items(), key=lambda item: order.index(item[0][0]))
    ]


def _word(status: Status) -> str:
    return status.value.replace("_", " ")


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
