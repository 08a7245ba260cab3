"""The text of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from tokbench.report.escaping import spreadsheet_text


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the text of a CSV file.

    Numbers keep every digit, and a missing value is an empty field. Text that a spreadsheet would take for a formula
    gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_field(value) for value in row] for row in rows)
    return file.getvalue()


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):  # such as a status
        return spreadsheet_text(str(value))
    # float() turns a number of numpy into a plain one, as the repr() of the former is not a number.
    return repr(value) if isinstance(value, int) else repr(float(value))
