"""Fits measured tokens: those of a tokenizer and a constant, on the text or on a changed text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tokbench.plugin import Failure, InputError, Tokenizer, attempt, encode_batch
from tokbench_questions.bills.rows import BillRow, read_rows
from tokbench_questions.loading import loaded

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


class Misfit(NamedTuple):
    """A cell that the fit does not explain."""

    id: str
    tokens: int
    expected: int
    cause: str
    """A change of the text, or another constant that several cells share; empty if unknown."""


@dataclass(frozen=True)
class Bill:
    """What a provider counts for a model: the tokens of a tokenizer and a constant."""

    model: str
    tokenizer: str
    change: str
    """What was done to all texts before, such as ``NFC``; empty for nothing."""
    constant: int
    cells: int
    misfits: tuple[Misfit, ...]
    same: tuple[str, ...]
    """Other tokenizers that fit as many cells."""
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


@dataclass(frozen=True)
class _Model:
    """The cells of a model."""

    rows: Sequence[BillRow]
    tokenizers: dict[str, Tokenizer | Failure]

    @cached_property
    def measured(self) -> list[int]:
        return [row.tokens for row in self.rows]

    def counts(self, name: str, change: str) -> list[int]:
        if name not in self.tokenizers:
            self.tokenizers[name] = attempt(lambda: loaded(name))
        tokenizer = self.tokenizers[name]
        if isinstance(tokenizer, Failure):
            return []
        texts = [_CHANGES[change](row.text) for row in self.rows]
        count = getattr(tokenizer, "count_batch", None)  # of an engine that counts alone, too
        return np.asarray(count(texts) if count else np.diff(encode_batch(tokenizer, texts).offsets)).tolist()

    def fit(self, name: str, change: str = "") -> _Fit:
        differences = Counter(x - y for x, y in zip(self.measured, self.counts(name, change), strict=False))
        constant, fitting = max(differences.items(), key=lambda one: (one[1], -abs(one[0])), default=(0, 0))
        return _Fit(name, change, constant, fitting)


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

    Raises:
        InputError: the file has a fault, or a named tokenizer is unknown.

    >>> rows = [BillRow("m", text, text, len(text.encode()) + 7) for text in ("one", "zwölf", "twenty")]
    >>> [bill] = bills(rows, candidates=["utf16_units", "utf8_bytes"])
    >>> bill.tokenizer, bill.constant, bill.fitting, bill.misfits
    ('utf8_bytes', 7, 3, ())
    """
    models: dict[str, list[BillRow]] = {}
    for row in read_rows(Path(rows)) if isinstance(rows, str | Path) else rows:
        models.setdefault(row.model, []).append(row)
    named = {model: some[0].tokenizer for model, some in models.items()} | dict(tokenizers or {})
    if candidates is None:
        from tokbench.plugin.command import local_names

        candidates = local_names().usable
    kept: dict[str, Tokenizer | Failure] = {name: loaded(name) for name in named.values() if name}
    return tuple(_bill(_Model(some, kept), named[model], candidates) for model, some in models.items())


def _bill(model: _Model, named: str, candidates: Sequence[str]) -> Bill:
    own = _best(model, [named]) if named else None
    cells, plain = len(model.rows), list[_Fit]()
    if own is None or own.fitting < cells:
        plain = sorted((model.fit(name) for name in candidates if name != named), key=lambda fit: -fit.fitting)
    others = _best(model, [fit.tokenizer for fit in plain[:_TRIED]]) if plain else own
    found = own or others
    if found is None or others is None:
        raise InputError("no tokenizer to compare with; name one with -t MODEL=TOKENIZER")
    same = [] if named else [fit.tokenizer for fit in plain if fit.fitting == found.fitting and not found.change]
    return Bill(
        model=model.rows[0].model,
        tokenizer=found.tokenizer,
        change=found.change,
        constant=found.constant,
        cells=cells,
        misfits=_misfits(model, found),
        same=tuple(name for name in same if name != found.tokenizer),
        better=others.tokenizer if others.fitting > found.fitting else "",
    )


def _best(model: _Model, names: Sequence[str]) -> _Fit:
    """Return the fit with the most cells; among equals the first, without a change before with one."""
    plain = [model.fit(name) for name in names]
    if any(fit.fitting == len(model.rows) for fit in plain):
        return max(plain, key=lambda fit: fit.fitting)
    changed = (model.fit(name, change) for change in _CHANGES for name in names if change)
    return max(chain(plain, changed), key=lambda fit: fit.fitting)


def _misfits(model: _Model, found: _Fit) -> tuple[Misfit, ...]:
    counted = model.counts(found.tokenizer, found.change)
    expected = [count + found.constant for count in counted]
    wrong = [place for place, tokens in enumerate(model.measured) if tokens != expected[place]]
    shifts = Counter(model.measured[place] - counted[place] for place in wrong)
    changed = {change: model.counts(found.tokenizer, change) for change in _CHANGES} if wrong else {}
    misfits = []
    for place in wrong:
        row, shift = model.rows[place], model.measured[place] - counted[place]
        fits = [change or "the text unchanged" for change in changed if changed[change][place] + found.constant == row.tokens]
        shared = f"a constant of {shift}, as of {shifts[shift]} texts" if len(wrong) <= 3 * shifts[shift] > 3 else ""  # noqa: PLR2004
        misfits.append(Misfit(row.id, row.tokens, expected[place], fits[0] if fits else shared))
    return tuple(misfits)
