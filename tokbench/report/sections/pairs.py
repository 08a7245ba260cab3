"""Who needs fewer tokens than whom: places with ties, and the differences in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.report.cells import legends
from tokbench.report.escaping import markdown
from tokbench.report.tables import Tables
from tokbench.results.cells import WHOLE

__all__ = ["Difference", "Pairs", "Standing", "explanation", "markdown_section", "pairs", "sentence"]

_SMALL = 0.05
_TIE = "="


@dataclass(frozen=True, slots=True)
class Difference:
    """How many more or fewer tokens one needs than another, and what is behind it; ``sure`` if they differ at all."""

    text: str
    title: str
    sure: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """One group: who stands where, who is without a place, and what parts the first two."""

    group: str
    places: str
    without: str
    first: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """One corpus.

    Attributes:
        corpus: its name.
        comparisons: over how many the correction is in a group, at most.
        standings: the whole corpus first.
        legends: what the marks in them say.
        names: tokenizers compared on the whole corpus, fewest tokens first.
        matrix: by row and column, what the row's tokenizer needs beside the column's; ``None`` on the diagonal.
    """

    corpus: str
    comparisons: int
    standings: Sequence[Standing]
    legends: Sequence[str]
    names: Sequence[str]
    matrix: Sequence[Sequence[Difference | None]]


def pairs(tables: Tables, corpus: str) -> Pairs | None:
    """What was compared on a corpus; ``None`` if nothing was."""
    found = [pair for pair in tables.results.pairs if pair.get("corpus") == corpus]
    if not found:
        return None
    by_group: dict[str, list[Mapping[str, Any]]] = {}
    for pair in found:
        by_group.setdefault(str(pair["group"]), []).append(pair)
    groups = [*([WHOLE] if WHOLE in by_group else []), *(group for group in by_group if group != WHOLE)]
    whole = {(pair["tokenizer"], pair["other"]): pair for pair in by_group.get(WHOLE, [])}
    tokens = {name: count for pair in whole.values() for name, count in _tokens(pair)}
    names = sorted(tokens, key=lambda name: tokens[name])
    return Pairs(
        corpus=corpus,
        comparisons=max(map(len, by_group.values())),
        standings=[_standing(tables, corpus, group, by_group[group]) for group in groups],
        legends=legends(cell for group in groups for cell in tables.series("rank", corpus, group).cells.values()),
        names=names,
        matrix=[[_difference(whole, one, other) for other in names] for one in names],
    )


def _tokens(pair: Mapping[str, Any]) -> list[tuple[str, int]]:
    return list(zip((pair["tokenizer"], pair["other"]), pair["tokens"], strict=True))


def _standing(tables: Tables, corpus: str, group: str, found: Sequence[Mapping[str, Any]]) -> Standing:
    tokens = {name: count for pair in found for name, count in _tokens(pair)}
    order = sorted(tokens, key=lambda name: tokens[name])
    cells = tables.series("rank", corpus, group).cells
    by_place: dict[str, list[str]] = {}
    for name in order:
        by_place.setdefault(cells[name].text, []).append(name + cells[name].marks)
    places = "; ".join(f"{place}. {' = '.join(names)}" for place, names in by_place.items())
    without = ", ".join(name for name, cell in cells.items() if cell.value is None)
    first = next((pair for pair in found if [pair["tokenizer"], pair["other"]] == order[:2]), None)
    return Standing(group, places, without, sentence(first) if first else "")


def sentence(pair: Mapping[str, Any]) -> str:
    """A difference as a reader is told.

    >>> pair = {"tokenizer": "A", "other": "B", "difference": -0.031, "ci_low": -0.035, "ci_high": -0.027}
    >>> sentence(pair | {"differ": True})
    'A needs 3.1 % fewer tokens than B [2.7, 3.5]'
    >>> sentence(pair | {"differ": False})
    'A needs 3.1 % fewer tokens than B [2.7, 3.5], not significant among so many comparisons'
    >>> sentence(pair | {"ci_high": 0.002, "differ": False})
    'A and B cannot be told apart: 3.1 % fewer tokens [-0.2, 3.5]'
    """
    one, other, fewer = str(pair["tokenizer"]), str(pair["other"]), _percent(-float(pair["difference"]))
    interval = ""
    if pair["ci_low"] is not None and pair["ci_high"] is not None:
        interval = f" [{_percent(-float(pair['ci_high']))}, {_percent(-float(pair['ci_low']))}]"
    if not pair["difference"]:
        return f"{one} and {other} need equally many tokens"
    told = f"{one} needs {fewer} % fewer tokens than {other}{interval}"
    if pair["differ"]:
        return told
    if pair["ci_high"] is None or pair["ci_high"] >= 0:
        return f"{one} and {other} cannot be told apart: {fewer} % fewer tokens{interval}"
    return f"{told}, not significant among so many comparisons"


def _percent(share: float) -> str:
    """A share in percent: a digit after the point, and more where that would make it 0.

    >>> _percent(0.031), _percent(-0.00012), _percent(-0.0)
    ('3.1', '-0.012', '0')
    """
    shown = 100 * share + 0.0  # no minus before zero
    return f"{shown:.1f}" if abs(shown) >= _SMALL else f"{shown:.2g}"


def _difference(whole: Mapping[tuple[str, str], Mapping[str, Any]], one: str, other: str) -> Difference | None:
    pair = whole.get((one, other)) or whole.get((other, one))
    if pair is None:
        return None
    share = float(pair["difference"])
    if pair["tokenizer"] != one:
        share = 1 / (1 + share) - 1
    sign = "+" if share > 0 else ""
    title = f"{sentence(pair)}; {pair['n']:,} documents; p {pair['p']:.2g}, corrected {pair['p_holm']:.2g}"
    return Difference(f"{sign}{_percent(share)}", title, bool(pair["differ"]))


def markdown_section(tables: Tables) -> str:
    """The section of ``report.md``, ``""`` where nothing was compared."""
    text = ""
    for corpus in tables.corpora:
        found = pairs(tables, corpus)
        if not found:
            continue
        text += f"## Fewer tokens than whom: {markdown(corpus)}\n\n{explanation(found)}\n\n"
        rows = [["group", "places", "without a place", "the first two"], ["---"] * 4]
        for each in found.standings:
            group = "whole corpus" if each.group == WHOLE else markdown(each.group)
            rows.append([group, *(markdown(part) for part in (each.places, each.without, each.first))])
        text += "".join("| " + " | ".join(row) + " |\n" for row in rows)
        text += "".join(f"\n{line}.\n" for line in found.legends)
        text += "\nWhole corpus: tokens of the row beside those of the column, in percent; "
        text += f"{_TIE} cannot be told apart.\n\n"
        rows = [["", *(markdown(name) for name in found.names)], ["---", *["---:"] * len(found.names)]]
        for name, row in zip(found.names, found.matrix, strict=True):
            cells = ["" if each is None else each.text + ("" if each.sure else f" {_TIE}") for each in row]
            rows.append([markdown(name), *cells])
        text += "".join("| " + " | ".join(row) + " |\n" for row in rows) + "\n"
    return text


def explanation(found: Pairs) -> str:
    """What a reader must know before the tables."""
    return (
        "Every two tokenizers on the same documents, by a paired jackknife; intervals are 95 % each. A place is 1 plus "
        "the number of tokenizers that need significantly fewer tokens: after Holm's correction over the "
        f"{found.comparisons:,} comparisons of a group, no more than 1 group in 20 has a false difference in it. "
        "Who loses text in a group has no place there."
    )
