"""The CSV file of measured tokens."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.plugin import InputError, Problem, decode_utf8

_COLUMNS: Final = ("model", "tokenizer", "id", "tokens", "text")
_LINES: Final = 5
_UNSENDABLE: Final = ("hostile-controls", "hostile-markers")


class BillRow(NamedTuple):
    """The tokens that a provider counted for a text."""

    model: str
    id: str
    text: str
    tokens: int
    tokenizer: str = ""


def shipped_texts() -> dict[str, str]:
    """Return the text of each id: the first lines of a language, or a program.

    >>> len(shipped_texts())
    49
    """
    from tokbench.plugin.command import texts_by_group

    found = {group: texts for group, texts in texts_by_group("sample").items() if group not in _UNSENDABLE}
    return {group: texts[0] if "\n" in texts[0] else "\n".join(texts[:_LINES]) for group, texts in found.items()}


def write_rows(path: Path, models: Sequence[str]) -> int:
    """Write a file in which the tokens of the shipped texts can be filled in; return the number of its rows."""
    rows = [(model, "", name, "", text) for model in models for name, text in shipped_texts().items()]
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([_COLUMNS, *rows])
    except OSError as error:
        raise InputError([Problem(str(path), f"not written: {error.strerror}; give another name")]) from error
    return len(rows)


def read_rows(path: Path) -> list[BillRow]:
    """Read the rows of a CSV file that have tokens.

    The columns are ``model``, ``tokens``, and one of ``text``, ``file`` (a path from the folder of the CSV file) and
    ``id`` (of a shipped text); ``tokenizer`` may name what to compare with.
    """
    texts: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError([Problem(str(path), f"cannot be read: {error}; give a CSV file in UTF-8")]) from error
    rows, faults = [], []
    for number, line in enumerate(lines, 2):
        try:
            if not (tokens := (line.get("tokens") or "").strip()):
                continue
            name, text = line.get("id") or "", line.get("text") or ""
            if not text and (other := line.get("file")):
                text, name = decode_utf8((path.parent / other).read_bytes()), name or other
            elif not text:
                texts = texts or shipped_texts()
                text = texts[name]
            rows.append(BillRow(line["model"], name or text[:20], text, int(tokens), line.get("tokenizer") or ""))
        except (KeyError, ValueError, OSError) as error:
            faults.append(Problem(f"{path}: row {number}", f"{error!r}; give model, tokens, and text, file or a known id"))
    if faults:
        raise InputError(faults)
    if not rows:
        raise InputError([Problem(str(path), "no row has tokens; fill in the prompt tokens that the provider reports")])
    return rows
