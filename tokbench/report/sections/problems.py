"""What did not run, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tokbench.results.cells import Status, TokenizerState
from tokbench.results.model import Results

__all__ = ["Trouble", "broken_plugins", "cells_without_value", "missing_tokenizers"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Cells that have no value for one and the same reason.

    Attributes:
        status: the word for it.
        reason: why.
        tokenizers, corpora, metrics: where it happened, in the order of the cells.
        cells: how many.
    """

    status: str
    reason: str
    tokenizers: tuple[str, ...]
    corpora: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: int


def missing_tokenizers(results: Results) -> list[tuple[str, str, str]]:
    """Name, state and reason of every tokenizer that is not ready; failures first."""
    missing = [
        (name, str(entry.get("state", "")), str(entry.get("reason") or "no reason given"))
        for name, entry in results.tokenizers.items()
        if entry.get("state", TokenizerState.READY) != TokenizerState.READY
    ]
    return sorted(missing, key=lambda row: row[1] != TokenizerState.FAILED)


def broken_plugins(results: Results) -> list[dict[str, str]]:
    """The plugins that cannot be used, each with its reason."""
    return [plugin for plugin in results.plugins if plugin.get("reason")]


def cells_without_value(results: Results) -> list[Trouble]:
    """The cells that are not ok, those of one reason together; failures first.

    Those of a tokenizer that never got ready are left out: it has a line of its own.
    """
    gone = {name for name, _, _ in missing_tokenizers(results)}
    found: dict[tuple[Status, str], list[Any]] = {}
    for cell in results.cells:
        if cell.status != Status.OK and cell.tokenizer not in gone:
            found.setdefault((cell.status, cell.reason), []).append(cell)
    order = [Status.FAILED, Status.TIMEOUT, Status.UNAVAILABLE, Status.NOT_APPLICABLE]
    return [
        Trouble(
            status=status.value.replace("_", " "),
            reason=reason or "no reason given",
            tokenizers=_distinct(cell.tokenizer for cell in cells),
            corpora=_distinct(cell.corpus for cell in cells),
            metrics=_distinct(cell.metric for cell in cells),
            cells=len(cells),
        )
        for (status, reason), cells in sorted(found.items(), key=lambda item: order.index(item[0][0]))
    ]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
