"""A comparison of two runs with the face that a notebook shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Self

from tokbench.comparison.compare import Comparison
from tokbench.comparison.render import HEAD, ComparisonPage
from tokbench.report.escaping import cut, visible
from tokbench.report.pages import html_environment

_FEW, _LONGEST_LINE, _LONGEST_CELL = 8, 200, 40


@dataclass(kw_only=True, repr=False)
class NotebookComparison(Comparison):
    """A comparison that shows itself in a notebook: the value of ``tokbench.compare``."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Return the same comparison with this face."""
        return cls(**{field.name: getattr(comparison, field.name) for field in fields(comparison)})

    def __repr__(self) -> str:
        """Return three lines: the runs, the number of changes of each sort, and what to do next."""
        return three_lines(self)

    def _repr_html_(self) -> str:
        """Return the largest changes as small tables, for notebooks."""
        return small_page(self)


def three_lines(comparison: Comparison) -> str:
    """Return the runs, the number of changes of each sort, and what to do next, in a line each.

    >>> print(three_lines(Comparison(baseline="old", other="new")))
    Comparison: new against old
    Nothing to compare.
    next: .frame
    """
    page = ComparisonPage(comparison, (), 0)
    lines = [f"Comparison: {page.title}", page.summary, "next: .frame" + ", .refused" * bool(comparison.refused)]
    return "\n".join(cut(visible(line), _LONGEST_LINE) for line in lines)


def small_page(comparison: Comparison) -> str:
    """Return the largest changes as HTML of less than 20 kB, for the cell of a notebook."""
    page = ComparisonPage(comparison, (), 0)
    facts = [
        (heading, [cut(each, _LONGEST_LINE) for each in some[:_FEW]], len(some) - _FEW) for heading, some in page.facts
    ]
    tables = [
        (
            heading,
            [[cut(text, _LONGEST_CELL) for text in asdict(row).values()] for row in rows[:_FEW]],
            max(more, 0) + max(len(rows) - _FEW, 0),
        )
        for heading, rows, more in page.tables
    ]
    template = html_environment().get_template("notebook_comparison.html.j2")
    title = cut(page.title, _LONGEST_LINE)
    return template.render(title=title, summary=page.summary, head=HEAD, facts=facts, tables=tables)
