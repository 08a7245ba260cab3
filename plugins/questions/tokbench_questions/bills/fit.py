"""Explains measured tokens by a tokenizer and a constant, on the text or on a changed text."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import tokbench
from tokbench.plugin import Failure, InputError, Problem, Tokenizer, attempt, decode_utf8, encode_batch

_CHANGES: Final[Mapping[str, Callable[[str], str]]] = {
    "": lambda text: text,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "white space at the ends removed": str.strip,
    "white space at the end removed": str.rstrip,
    "a space before the text": lambda text: f" {text}",
    "a line end after the text": lambda text: f"{text}\n",
    "line ends as LF": lambda text: text.replace("\r\n", "\n"),
    "runs of white space as one space": lambda text: re.sub(r"\s+", " ", text),
}
_TRIED: Final = 3
"""Vocabularies that are tried with changes, besides the named one."""


class BillRow(NamedTuple):
    """The tokens that a provider counted for a text."""

    model: str
    id: str
    text: str
    tokens: int
    tokenizer: str = ""


def shipped_texts() -> dict[str, str]:
    """Return the text of each id: five lines of a language, or a program.

    >>> len(shipped_texts())
    49
    """
    from tokbench.command import texts_by_group

    sendable = (
        one for one in texts_by_group("sample").items() if one[0] not in {"hostile-controls", "hostile-markers"}
    )
    return {group: texts[0] if "\n" in texts[0] else "\n".join(texts[:5]) for group, texts in sendable}


def write_rows(path: Path, models: Sequence[str]) -> int:
    """Write a file in which the tokens of the shipped texts can be filled in; return the number of its rows."""
    rows = [(model, "", name, "", text) for model in models for name, text in shipped_texts().items()]
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("model", "tokenizer", "id", "tokens", "text"), *rows])
    except OSError as error:
        raise InputError([Problem(str(path), f"not written: {error.strerror}; give another name")]) from error
    return len(rows)


def read_rows(path: Path) -> list[BillRow]:
    """Read the rows of a CSV file that have tokens.

    The columns are ``model``, ``tokens``, and one of ``text``, ``file`` (a path from the folder of the CSV file) and
    ``id`` (of a shipped text); ``tokenizer`` may name what to compare with.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError([Problem(str(path), f"cannot be read: {error}; give a CSV file in UTF-8")]) from error
    rows, faults, shipped = [], [], shipped_texts()
    for number, line in enumerate(lines, 2):
        name, text, other = (line.get(key) or "" for key in ("id", "text", "file"))
        try:
            if tokens := (line.get("tokens") or "").strip():
                text = text or (decode_utf8((path.parent / other).read_bytes()) if other else shipped[name])
                name = name or other or text[:20]
                rows.append(BillRow(line["model"], name, text, int(tokens), line.get("tokenizer") or ""))
        except (KeyError, ValueError, OSError) as error:
            faults.append(
                Problem(f"{path}: row {number}", f"{error!r}; give model, tokens, and text, file or a known id")
            )
    if faults or not rows:
        none = Problem(str(path), "no row has tokens; fill in the prompt tokens that the provider reports")
        raise InputError(faults or [none])
    return rows


class Misfit(NamedTuple):
    """A cell that the fit does not explain."""

    id: str
    tokens: int
    expected: int
    cause: str
    """A change of the text, or another constant that several cells share; empty if unknown."""


class Bill(NamedTuple):
    """What a provider counts for a model: the tokens of a tokenizer and a constant."""

    model: str
    tokenizer: str
    change: str
    """What was done to all texts before, such as ``NFC``; empty for nothing."""
    constant: int
    cells: int
    misfits: tuple[Misfit, ...]
    same: tuple[str, ...]
    """Other tokenizers that fit as many cells, if none was named."""
    better: str
    """Another tokenizer that fits more cells than the named one; empty if none does."""

    @property
    def fitting(self) -> int:
        return self.cells - len(self.misfits)


class _Fit(NamedTuple):
    tokenizer: str
    change: str
    constant: int
    fitting: int


class _Model:
    """The cells of a model."""

    def __init__(self, rows: Sequence[BillRow], tokenizers: dict[str, Tokenizer | Failure]) -> None:
        self.rows, self._tokenizers = rows, tokenizers

    def counts(self, name: str, change: str) -> list[int]:
        """Return the tokens of each changed text; nothing if the tokenizer cannot be loaded."""
        if name not in self._tokenizers:
            self._tokenizers[name] = attempt(lambda: tokbench.load(name))
        tokenizer = self._tokenizers[name]
        if isinstance(tokenizer, Failure):
            return []
        texts = [_CHANGES[change](row.text) for row in self.rows]
        count = getattr(tokenizer, "count_batch", None)  # of an engine that counts alone, too
        return list(map(int, count(texts) if count else np.diff(encode_batch(tokenizer, texts).offsets)))

    def fit(self, name: str, change: str = "") -> _Fit:
        found = Counter(row.tokens - count for row, count in zip(self.rows, self.counts(name, change), strict=False))
        constant, fitting = max(found.items(), key=lambda one: (one[1], -abs(one[0])), default=(0, 0))
        return _Fit(name, change, constant, fitting)

    def best(self, names: Sequence[str]) -> _Fit:
        """Return the fit with the most cells; among equals the first, without a change before with one."""
        plain = [self.fit(name) for name in names]
        exact = any(fit.fitting == len(self.rows) for fit in plain)
        changed = (self.fit(name, change) for change in _CHANGES for name in names if change and not exact)
        return max(chain(plain, changed), key=lambda fit: fit.fitting)


def bills(
    rows: Iterable[BillRow] | str | Path,
    tokenizers: Mapping[str, str] | None = None,
    candidates: Sequence[str] | None = None,
) -> tuple[Bill, ...]:
    """Fit each model's measured tokens by a tokenizer and a constant, and find what does not fit.

    The constant is the most common difference. Where cells do not fit, changes of the text are tried on all cells, and
    then on those that still do not fit.

    Args:
        rows: measured tokens, or a CSV file with them (:func:`read_rows`).
        tokenizers: by model what to compare with; for others it is the column ``tokenizer``, or the best candidate.
        candidates: tokenizers to try; by default the published names that can be used without network.

    >>> rows = [BillRow("m", text, text, len(text.encode()) + 7) for text in ("one", "zwölf", "twenty")]
    >>> [bill] = bills(rows, candidates=["utf16_units", "utf8_bytes"])
    >>> bill.tokenizer, bill.constant, bill.fitting, bill.misfits
    ('utf8_bytes', 7, 3, ())
    """
    from tokbench.command import local_names

    models: dict[str, list[BillRow]] = {}
    for row in read_rows(Path(rows)) if isinstance(rows, str | Path) else rows:
        models.setdefault(row.model, []).append(row)
    named = {model: some[0].tokenizer for model, some in models.items()} | dict(tokenizers or {})
    names = local_names() if candidates is None else candidates
    kept: dict[str, Tokenizer | Failure] = {name: tokbench.load(name) for name in named.values() if name}
    return tuple(_bill(_Model(some, kept), named[model], names) for model, some in models.items())


def _bill(model: _Model, named: str, candidates: Sequence[str]) -> Bill:
    own, cells, plain = model.best([named]) if named else None, len(model.rows), list[_Fit]()
    if own is None or own.fitting < cells:
        plain = sorted((model.fit(name) for name in candidates if name != named), key=lambda fit: -fit.fitting)
    others = model.best([fit.tokenizer for fit in plain[:_TRIED]]) if plain else own
    found = own or others
    if found is None or others is None:
        raise InputError("no tokenizer to compare with; name one with -t MODEL=TOKENIZER")
    same = [x.tokenizer for x in plain if not named and not found.change and x.fitting == found.fitting]
    return Bill(
        *(model.rows[0].model, found.tokenizer, found.change, found.constant, cells),
        misfits=_misfits(model, found),
        same=tuple(name for name in same if name != found.tokenizer),
        better=others.tokenizer if others.fitting > found.fitting else "",
    )


def _misfits(model: _Model, found: _Fit) -> tuple[Misfit, ...]:
    shifts = [row.tokens - n for row, n in zip(model.rows, model.counts(found.tokenizer, found.change), strict=True)]
    wrong = [place for place, shift in enumerate(shifts) if shift != found.constant]
    shared = Counter(shifts[place] for place in wrong)
    changed = {change: model.counts(found.tokenizer, change) for change in _CHANGES if wrong}
    misfits = []
    for place in wrong:
        row, shift = model.rows[place], shifts[place]
        causes = [
            change or "the text unchanged"
            for change in changed
            if changed[change][place] + found.constant == row.tokens
        ]
        if len(wrong) <= 3 * shared[shift] > 3:  # noqa: PLR2004
            causes.append(f"a constant of {shift}, as of {shared[shift]} texts")
        misfits.append(Misfit(row.id, row.tokens, row.tokens - shift + found.constant, (*causes, "")[0]))
    return tuple(misfits)
