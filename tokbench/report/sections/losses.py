"""What did not come back, and why: the documents by cause, and the first of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.metrics.families.roundtrip.causes import CELLS, Cause
from tokbench.report.escaping import visible
from tokbench.results.cells import WHOLE, Status
from tokbench.results.model import Results

__all__ = ["COUNTED", "Loss", "LossCounts", "LossRow", "loss_counts", "losses", "no_losses", "some_groups"]

COUNTED = frozenset(CELLS)
"""The metrics that are told here, so that no other table needs them."""

_LABELS: Mapping[str, str] = {
    Cause.DECODER: "decoder",
    Cause.UNKNOWN: "unknown token",
    Cause.NFC: "NFC",
    Cause.NFD: "NFD",
    Cause.WHITESPACE: "white space",
    Cause.CONTROL: "control characters",
    Cause.NFKC: "NFKC",
    Cause.NFKD: "NFKD",
    Cause.ACCENTS: "accents",
    Cause.CASING: "casing",
    Cause.INVALID_BYTES: "invalid bytes",
    Cause.SPECIAL_TOKEN: "special-token text",
    Cause.OTHER: "other",
}
_NOT_TOLD = "not told"


@dataclass(slots=True, kw_only=True)
class Loss:
    """The texts of a tokenizer and corpus that did not come back for one cause, and the first of them.

    Attributes:
        tokenizer, corpus: where.
        cause: why, as a reader is told.
        documents: texts whose first difference has this cause.
        taking_part: texts in which the cause takes part.
        groups: by group, how many of ``documents``.
        origin: where a person finds the first of them.
        position: of the first difference, in characters.
        context: what both have in common just before it, made visible.
        expected, got: what follows in either, made visible.
        change: the code points at the first difference, as two texts may look the same.
    """

    tokenizer: str
    corpus: str
    cause: str
    documents: int
    taking_part: int
    groups: dict[str, int]
    origin: str = ""
    position: int | None = None
    context: str = ""
    expected: str = ""
    got: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class LossRow:
    """The losses of one tokenizer and corpus.

    Attributes:
        tokenizer, corpus: which.
        documents: texts that did not come back.
        tested: texts that were tested; ``None`` if that is not known.
        counts: for each cause of the table, texts whose first difference it explains, and texts in which it takes part.
    """

    tokenizer: str
    corpus: str
    documents: int
    tested: int | None
    counts: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class LossCounts:
    """Losses by cause: the causes that there are, and a row for each tokenizer and corpus."""

    causes: Sequence[str]
    rows: Sequence[LossRow]


def losses(results: Results) -> list[Loss]:
    """The losses that have a text to show, with hostile text made visible and the two sides cut where they part."""
    return [loss for loss in _by_cause(results) if loss.documents]


def loss_counts(results: Results) -> LossCounts:
    """How many texts were lost for which cause; along a row, the first counts add up to its documents."""
    found = _by_cause(results)
    known = [*_LABELS.values(), *(loss.cause for loss in found)]
    causes = [cause for cause in dict.fromkeys(known) if any(loss.cause == cause for loss in found)]
    tested = {(c.tokenizer, c.corpus): c.n for c in results.cells if (c.metric, c.group) == ("roundtrip_exact", WHOLE)}
    rows: dict[tuple[str, str], dict[str, Loss]] = {}
    for loss in found:
        rows.setdefault((loss.tokenizer, loss.corpus), {})[loss.cause] = loss
    return LossCounts(
        causes,
        [
            LossRow(
                *key,
                documents=sum(loss.documents for loss in row.values()),
                tested=tested.get(key) or None,
                counts=[(row[cause].documents, row[cause].taking_part) if cause in row else (0, 0) for cause in causes],
            )
            for key, row in rows.items()
        ],
    )


def some_groups(groups: Mapping[str, int], most: int = 4) -> str:
    """The groups with the most of them, as a reader is told.

    >>> some_groups({"de": 3, "ja": 66, "zh": 66}, most=2)
    'ja 66, zh 66 and 1 more'
    """
    ranked = sorted(groups.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {count:,}" for name, count in ranked[:most])
    return shown + (f" and {len(ranked) - most} more" if len(ranked) > most else "")


def no_losses(results: Results) -> str:
    """What to say where no loss is listed: that nothing was lost only if every round trip says so."""
    tested = [cell for cell in results.cells if cell.metric == "roundtrip_exact" and cell.status == Status.OK]
    if not tested:
        return "No round trip was made."
    if any(cell.value != 1 for cell in tested):
        return "Some texts did not come back, but the run kept none of them."
    return "Every text that was tested came back as it was."


def _by_cause(results: Results) -> list[Loss]:
    """The losses by tokenizer, corpus and cause, over all groups; the text to show is of the first group."""
    found: dict[tuple[str, str, str], Loss] = {}
    for entry in results.losses:
        tokenizer, corpus, group = (str(entry.get(name, "")) for name in ("tokenizer", "corpus", "group"))
        # A plugin's family may tell no causes.
        for each in entry.get("causes") or [{**entry, "taking_part": entry.get("documents", 1)}]:
            told = str(each.get("cause", _NOT_TOLD))
            cause = _LABELS.get(told, told)
            loss = found.setdefault(
                (tokenizer, corpus, cause),
                Loss(tokenizer=tokenizer, corpus=corpus, cause=cause, documents=0, taking_part=0, groups={}),
            )
            documents = int(each.get("documents", 1))
            if documents and not loss.documents:
                _show(loss, each)
            if documents:
                loss.groups[group] = loss.groups.get(group, 0) + documents
            loss.documents += documents
            loss.taking_part += int(each.get("taking_part", documents))
    return list(found.values())


def _show(loss: Loss, entry: dict[str, Any]) -> None:
    """Put an excerpt into a loss."""
    expected, got = str(entry.get("expected", "")), str(entry.get("got", ""))
    shared = 0
    for one, other in zip(expected, got, strict=False):
        if one != other:
            break
        shared += 1
    loss.origin = str(entry.get("origin", ""))
    loss.position = entry.get("position")
    loss.context = visible(expected[:shared], spaces=True)
    loss.expected = visible(expected[shared:], spaces=True)
    loss.got = visible(got[shared:], spaces=True)
    loss.change = f"{_code_point(expected[shared:])} → {_code_point(got[shared:])}"


def _code_point(text: str) -> str:
    return f"U+{ord(text[0]):04X}" if text else "end"
