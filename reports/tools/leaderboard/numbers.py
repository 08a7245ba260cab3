"""The numbers of an entry: sorted rows of a small file, with digits that are the same on every machine."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Final

from tokbench.foundation.files import read_regular, write_atomically
from tokbench.plugin import InputError, Problem
from tokbench.plugin.metrics import WHOLE
from tokbench.plugin.report import csv_text

VOCABULARY: Final = "(vocabulary)"
"""The corpus name in the rows of a vocabulary."""

IDS, DEAD, SPECIAL, DIGEST, TEXT_IDS = "ids", "dead_ids", "special_ids", "sha256", "text_ids_sha256"
"""The rows of a vocabulary: all ids, unreachable ids, special tokens, and digests of its bytes and of ids of texts."""


@dataclass(frozen=True, order=True)
class NumberRow:
    """One number of an entry, as written."""

    corpus: str
    group: str
    metric: str
    value: str
    """Empty for a missing number."""
    low: str = ""
    high: str = ""
    status: str = "ok"

    @property
    def place(self) -> tuple[str, str, str]:
        return self.corpus, self.group, self.metric

    @property
    def number(self) -> float | None:
        """``None`` if missing.

        >>> NumberRow("c", "*", "m", "1.5").number, NumberRow("c", "*", "m", "").number
        (1.5, None)
        """
        return float(self.value) if self.value and DIGEST not in self.metric else None


def written(value: float | None) -> str:
    """Return a number with six digits, which no order of sums changes.

    >>> written(4.569514110553782), written(39474.0), written(1234567.0), written(None)
    ('4.56951', '39474', '1234567', '')
    """
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


_HEAD: Final = [field.name for field in fields(NumberRow)]


def read_numbers(path: Path) -> list[NumberRow]:
    """Read the numbers of an entry; none without the file.

    Raises:
        InputError: the file is damaged; the message gives the line.
    """
    if not path.exists():
        return []
    lines = list(csv.reader(io.StringIO(read_regular(path).decode("utf-8", "replace"))))
    if not lines or lines[0] != _HEAD:
        raise InputError([Problem(f"{path}:1", f"the head is not {','.join(_HEAD)}; write the file again")])
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(_HEAD):
            raise InputError([Problem(f"{path}:{number}", f"{len(line)} fields and not {len(_HEAD)}")])
    rows = [NumberRow(*line) for line in lines[1:]]
    for number, row in enumerate(rows, 2):
        try:
            _ = row.number
        except ValueError:
            raise InputError([Problem(f"{path}:{number}", f"{row.value!r} is not a number")]) from None
    return rows


def write_numbers(path: Path, rows: Sequence[NumberRow]) -> None:
    """Write the numbers of an entry, sorted for a diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, csv_text(_HEAD, map(astuple, sorted(rows))).encode())


def moved(name: str, published: Sequence[NumberRow], measured: Sequence[NumberRow]) -> list[str]:
    """Return a sentence for every published number that differs when measured, is missing, or is new.

    >>> one, two = NumberRow("code", "*", "tokens", "12"), NumberRow("code", "*", "tokens", "13")
    >>> moved("mine", [one], [two])
    ['mine: tokens of code is published as 12, and is 13']
    """
    before, now = _by_place(published), _by_place(measured)
    sentences = []
    for place in sorted({*before, *now}):
        corpus, group, metric = place
        where = f"{name}: {metric} of {corpus if group == WHOLE else f'{corpus}/{group}'}"
        was, is_ = before.get(place), now.get(place)
        if was != is_:
            published_as = f"published as {_shown(was)}" if was else "not published"
            sentences.append(f"{where} is {published_as}, and is {_shown(is_) if is_ else 'not measured'}")
    return sentences


def _by_place(rows: Sequence[NumberRow]) -> Mapping[tuple[str, str, str], NumberRow]:
    return {row.place: row for row in rows}


def _shown(row: NumberRow) -> str:
    interval = f" [{row.low}, {row.high}]" if row.low else ""
    return f"{row.value or row.status}{interval}"
