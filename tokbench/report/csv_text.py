"""The text of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
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
    texts = _Texts()
    writer.writerows(
        [
            texts[value] if isinstance(value, str) else value if type(value) in _WRITTEN else repr(float(value))
            for value in row
        ]
        for row in rows
    )
    return file.getvalue()


_WRITTEN: Final = {NoneType, bool, float, int}


class _Texts(dict[str, str]):
    def __missing__(self, text: str) -> str:
        made = self[text] = spreadsheet_text(str(text))  # a status is text, too
        return made
