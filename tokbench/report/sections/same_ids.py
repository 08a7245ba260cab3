"""Tokenizers that are declared the same and are not: where, in how many documents, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.report.escaping import cut, markdown, visible
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

__all__ = ["Difference", "comparisons", "difference_lines", "differences", "markdown_section"]

_LONGEST = 40
_METRIC = "same_ids"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first document of a group that has other ids, all of it made visible.

    Attributes:
        tokenizer, reference: the one, and the one that it is declared the same as.
        corpus, group: where.
        compared, documents: how many documents were compared, and how many differ.
        origin: where a person finds the first of them.
        position: of the first difference, in characters; ``None`` if it could not be shown.
        text: what stands there, from a little before on, or why that could not be shown.
        expected, got: the tokens there, those of the reference first, such as ``the·278 ␣cat·991``.
    """

    tokenizer: str
    reference: str
    corpus: str
    group: str
    compared: int
    documents: int
    origin: str
    position: int | None
    text: str
    expected: str
    got: str


def differences(results: Results) -> list[Difference]:
    """The differences of a run, in its order."""
    return [_difference(entry) for entry in results.differences]


def _difference(entry: dict[str, Any]) -> Difference:
    return Difference(
        tokenizer=str(entry.get("tokenizer", "")),
        reference=str(entry.get("same_as", "")),
        corpus=str(entry.get("corpus", "")),
        group=str(entry.get("group", "")),
        compared=int(entry.get("compared", 0)),
        documents=int(entry.get("documents", 0)),
        origin=str(entry.get("origin", "")),
        position=entry.get("position"),
        text=visible(str(entry.get("text", "")), spaces=True) or visible(str(entry.get("reason", "not shown"))),
        expected=_tokens(entry.get("expected", [])),
        got=_tokens(entry.get("got", [])),
    )


def _tokens(tokens: Sequence[Sequence[Any]]) -> str:
    return " ".join(f"{visible(str(text), spaces=True)}·{number}" for number, text in tokens) or "no token"


def comparisons(results: Results) -> list[str]:
    """A sentence for each tokenizer that is declared the same as another, over all corpora."""
    declared = {name: str(entry["same_as"]) for name, entry in results.tokenizers.items() if entry.get("same_as")}
    lines = []
    for name, other in declared.items():
        cells = [cell for cell in results.cells if (cell.tokenizer, cell.metric, cell.group) == (name, _METRIC, WHOLE)]
        compared = sum(cell.n for cell in cells)
        differing = sum(int(each["documents"]) for each in results.differences if each["tokenizer"] == name)
        if differing:
            share = f"{differing:,} of {compared:,} documents"
            lines.append(f"{name}: other ids than {other} in {share}; not ranked on speed")
        elif compared:
            lines.append(f"{name}: the ids of {other} in all {compared:,} documents that were compared")
        lines += [f"{name}: not verified on {cell.corpus}: {cell.reason}" for cell in cells if cell.value is None]
    return lines


def difference_lines(results: Results) -> list[str]:
    """What a terminal has room for: a line for each tokenizer, and how its first difference looks."""
    lines = comparisons(results)
    for name, first in {each.tokenizer: each for each in reversed(differences(results))}.items():
        where = f"{name}: first in {first.origin} of {first.corpus}, {first.group}: {cut(first.text, _LONGEST)}"
        lines += [where, f"  {first.reference}: {first.expected}", f"  {name}: {first.got}"]
    return lines


def markdown_section(results: Results) -> str:
    """The section of ``report.md``, ``""`` where nothing was declared the same."""
    found = comparisons(results)
    if not found and not results.differences:
        return ""
    text = "## Same ids\n\n" + "".join(f"- {markdown(line)}\n" for line in found)
    if not results.differences:
        return text
    head = ["tokenizer", "same as", "corpus", "group", "differ", "of", "first", "position", "text", "expected", "got"]
    rows = [head, ["---:" if column in {"differ", "of", "position"} else "---" for column in head]]
    for each in differences(results):
        position = "unknown" if each.position is None else f"{each.position:,}"
        names = [markdown(part) for part in (each.tokenizer, each.reference, each.corpus, each.group)]
        counts = [f"{each.documents:,}", f"{each.compared:,}", markdown(each.origin), position]
        rows.append([*names, *counts, *(markdown(part) for part in (each.text, each.expected, each.got))])
    return text + "\n" + "".join("| " + " | ".join(row) + " |\n" for row in rows)
