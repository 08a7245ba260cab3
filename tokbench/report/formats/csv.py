"""``results.csv``: one row a cell."""

from __future__ import annotations

import csv
import io
from typing import Any

from tokbench.contracts.reporter import ReporterSpec
from tokbench.report.escaping import spreadsheet
from tokbench.results.cells import COLUMNS
from tokbench.results.model import Results

__all__ = ["SPEC", "field", "render"]


def render(results: Results) -> str:
    """The cells as a tidy table with the columns :data:`~tokbench.results.model.COLUMNS`.

    Numbers keep every digit; what is missing is an empty field. Text that a spreadsheet would take
    for a formula gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([field(getattr(cell, name)) for name in COLUMNS] for cell in results.cells)
    return file.getvalue()


def field(value: Any) -> str:
    """A value as it stands in the file."""
    if value is None:
        return ""
    if isinstance(value, str):  # a status, too
        return spreadsheet(str(value))
    # float() also takes the wrapping off a numpy number, whose repr() is no number.
    return repr(value) if isinstance(value, int) else repr(float(value))


SPEC = ReporterSpec(
    name="csv",
    summary="every cell in one tidy table",
    filename="results.csv",
    render=render,
)
