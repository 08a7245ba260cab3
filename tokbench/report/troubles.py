"""What did not run and why, and what did not come back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tokbench.report.text import visible
from tokbench.results import Results, Status, TokenizerState

__all__ = ["Loss", "Trouble", "broken_plugins", "cells_without_value", "losses", "missing_tokenizers", "no_losses"]


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


@dataclass(frozen=True, slots=True)
class Loss:
    """The first text of a tokenizer, corpus and group that did not come back.

    Attributes:
        tokenizer, corpus, group: where.
        documents: how many texts did not come back.
        origin: where a person finds the first of them.
        position: of the first difference, in characters.
        context: what both have in common just before it, made visible.
        expected, got: what follows in either, made visible.
        change: the code points at the first difference, as two texts may look the same.
    """

    tokenizer: str
    corpus: str
    group: str
    documents: int
    origin: str
    position: int | None
    context: str
    expected: str
    got: str
    change: str


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


def losses(results: Results) -> list[Loss]:
    """The losses, with hostile text made visible and the two sides cut where they part."""
    return [_loss(entry) for entry in results.losses]


def no_losses(results: Results) -> str:
    """What to say where no loss is listed: that nothing was lost only if every round trip says so."""
    tested = [cell for cell in results.cells if cell.metric == "roundtrip_exact" and cell.status == Status.OK]
    if not tested:
        return "No round trip was made."
    if any(cell.value != 1 for cell in tested):
        return "Some texts did not come back, but the run kept none of them."
    return "Every text that was tested came back as it was."


def _loss(entry: dict[str, Any]) -> Loss:
    expected, got = str(entry.get("expected", "")), str(entry.get("got", ""))
    shared = 0
    for one, other in zip(expected, got, strict=False):
        if one != other:
            break
        shared += 1
    return Loss(
        tokenizer=str(entry.get("tokenizer", "")),
        corpus=str(entry.get("corpus", "")),
        group=str(entry.get("group", "")),
        documents=int(entry.get("documents", 1)),
        origin=str(entry.get("origin", "")),
        position=entry.get("position"),
        context=visible(expected[:shared], spaces=True),
        expected=visible(expected[shared:], spaces=True),
        got=visible(got[shared:], spaces=True),
        change=f"{_code_point(expected[shared:])} → {_code_point(got[shared:])}",
    )


def _code_point(text: str) -> str:
    return f"U+{ord(text[0]):04X}" if text else "end"
