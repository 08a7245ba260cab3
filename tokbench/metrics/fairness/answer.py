"""What each language costs, as a line of the run's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.report.answer.answer import overall
from tokbench.report.answer.line import AnswerLine
from tokbench.report.answer.words import join
from tokbench.report.tables import CellTables
from tokbench.results.cells import Cell
from tokbench.statistics.jackknife import LEAST_UNITS

_CHEAPEST, _DEAREST, _ALL = 3, 2, 6
"""The languages that are named, and the most that all are."""

LABEL: Final = "Languages"


def premium_lines(tables: CellTables) -> Iterator[AnswerLine]:
    """Yield the premiums of each parallel corpus under the best tokenizer that has some, and who is most equal."""
    metric, best = tables.with_role(Role.PREMIUM), overall(tables).best
    by_corpus: dict[str, list[str]] = {}
    for corpus in tables.corpora:
        groups = tables.corpus(corpus).groups
        for name in dict.fromkeys([best, *tables.series(metric, corpus).ranked()]):
            cells = [cell for group in groups if (cell := tables.cell(metric, corpus, group, name)) and cell.value]
            if len(cells) > 1:  # the reference alone costs what it costs
                by_corpus[corpus] = [*_premiums(tables, corpus, cells), *_most_equal(tables, corpus)]
                break
    several = len(by_corpus) > 1
    said = [
        f"{corpus}: {'; '.join(parts)}." if several else f"{'; '.join(parts)}." for corpus, parts in by_corpus.items()
    ]
    if said:
        yield AnswerLine(LABEL, tuple(said))


def _premiums(tables: CellTables, corpus: str, cells: list[Cell]) -> Iterator[str]:
    reference, groups = tables.corpus(corpus).reference, tables.corpus(corpus).groups
    ranked = sorted(cells, key=lambda cell: cell.value or 0.0)
    shown = ranked if len(ranked) <= _ALL else [*ranked[:_CHEAPEST], *ranked[-_DEAREST:]]
    said = [f"{tables.language(corpus, cell.group) or cell.group} {_number(cell)}" for cell in shown]
    if shown is not ranked:
        said.insert(_CHEAPEST, "…")
    known = reference in {cell.group for cell in shown}
    one = "" if known else f"{tables.language(corpus, reference) or reference} = 1: "
    yield f"{one}{' · '.join(said)} ({cells[0].tokenizer})"
    if missing := [group for group in groups if group not in {reference, *(cell.group for cell in cells)}]:
        yield f"no premium for {join([tables.language(corpus, group) or group for group in missing])}"
    if (documents := min(cell.n for cell in cells)) < LEAST_UNITS:
        yield f"no intervals: {documents} documents are too few"


def _most_equal(tables: CellTables, corpus: str) -> Iterator[str]:
    """Name who has the lowest Gini coefficient, if that is certain of more than half of them."""
    metric = tables.with_role(Role.INEQUALITY)
    pool = tables.competing(metric, corpus)
    level = tables.level_with_best(metric, corpus)
    if names := [cell.tokenizer for cell in pool if cell.tokenizer in level]:
        yield f"most equal: {join(names)}{' tie' if len(names) > 1 else ''}, Gini {_number(pool[0])}"


def _number(cell: Cell) -> str:
    if cell.ci_low is None:
        return f"{cell.value:.2f}"
    digits = 2 if f"{cell.ci_low:.2f}" != f"{cell.ci_high:.2f}" else 3  # never [0.10, 0.10], as if it were certain
    return f"{cell.value:.{digits}f} [{cell.ci_low:.{digits}f}, {cell.ci_high:.{digits}f}]"
