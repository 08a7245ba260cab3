"""The text of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from functools import cache
from types import NoneType
from typing import Any, Final

from tokbench.report.escaping import spreadsheet_text


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the text of a CSV file: numbers with every digit, missing values empty.

    Text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    clean = cache(spreadsheet_text)  # the same names come in thousands of rows
    writer.writerows(
        [
            clean(str(value)) if isinstance(value, str) else value if type(value) in _WRITTEN else repr(float(value))
            for value in row
        ]
        for row in rows
    )
    return file.getvalue()


_WRITTEN: Final = {NoneType, bool, float, int}
