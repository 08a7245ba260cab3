"""Explains measured tokens by a tokenizer and a constant, on the text or on a changed text."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tokbench import InputError, plugin
from tokbench.command import local_names, session, texts_by_group

if TYPE_CHECKING:
    from tokbench.command import TokenizerSession

_CHANGES: Final[Mapping[str, Callable[[str], str]]] = {
    "": lambda text: text,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "white space at the ends removed": str.strip,
    "a space before the text": lambda text: f" {text}",
    "a line end after the text": lambda text: f"{text}\n",
    "line ends as LF": lambda text: text.replace("\r\n", "\n"),
    "runs of white space as one space": lambda text: re.sub(r"\s+", " ", text),
}
_COLUMNS: Final = ("model", "tokens", "text")


class BillRow(NamedTuple):
    """The tokens that a provider counted for a text."""

    model: str
    id: str
    text: str
    tokens: int


@dataclass(frozen=True)
class Misfit:
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
    others: Mapping[str, int]
    """Other tokenizers that fit at least as many cells, and how many, the best first."""

    @property
    def fitting(self) -> int:
        return self.cells - len(self.misfits)


def write_rows(path: Path) -> int:
    """Write a file of texts, five lines of a language or a program, for their tokens; return how many there are."""
    groups = [one for one in texts_by_group("sample").items() if one[0] not in {"hostile-controls", "hostile-markers"}]
    texts = {group: some[0] if "\n" in some[0] else "\n".join(some[:5]) for group, some in groups}
    rows = [("my-model", "", text, group) for group, text in texts.items()]
    if path.exists():
        raise InputError([plugin.Problem(str(path), "exists already and is left alone; give another name")])
    written = io.StringIO(newline="")
    csv.writer(written).writerows([(*_COLUMNS, "id"), *rows])
    plugin.write_atomically(path, written.getvalue().encode())
    return len(rows)


def read_rows(path: Path | str) -> list[BillRow]:
    """Read the rows of a CSV file that have tokens: its columns are ``model``, ``tokens``, ``text``, maybe ``id``."""
    rows = []
    try:
        content = plugin.decode_utf8(plugin.read_file(Path(path), text=True)).removeprefix("\ufeff")
        lines = csv.DictReader(io.StringIO(content, newline=""))
        if missing := ", ".join(name for name in _COLUMNS if name not in (lines.fieldnames or ())):
            raise InputError([plugin.Problem(f"{path}:1", f"no column {missing}; name the columns in the first line")])
        for line in lines:
            model, tokens, text = (line[name] or "" for name in _COLUMNS)
            if not tokens.strip():
                continue
            if not re.fullmatch(r"\d+(\.0)?", tokens.strip()):
                fault = f"{tokens!r} is not a number of tokens; correct it"
                raise InputError([plugin.Problem(f"{path}:{lines.line_num}", fault)])
            rows.append(BillRow(model, line.get("id") or text[:20], text, int(float(tokens))))
    except plugin.TextError as error:
        raise InputError(f"{error.at(Path(path))}; save the file as UTF-8") from error
    except (plugin.BackendError, csv.Error) as error:
        raise InputError([plugin.Problem(str(path), f"{error}; give a CSV file in UTF-8")]) from error
    if not rows:
        raise InputError(
            [plugin.Problem(str(path), "no row has tokens; fill in the prompt tokens that the provider reports")]
        )
    return rows


def bills(
    rows: Iterable[BillRow], tokenizers: Mapping[str, str] | None = None, candidates: Sequence[str] | None = None
) -> tuple[Bill, ...]:
    """Fit each model's measured tokens by a tokenizer and a constant, and find what does not fit.

    The constant is the most common difference. Where cells do not fit, changes of the text are tried on all cells, and
    then on those that still do not fit.

    Args:
        rows: measured tokens, as from :func:`read_rows`.
        tokenizers: by model what to compare with; for others it is the best candidate.
        candidates: tokenizers to try; by default the published names that can be used without network.

    >>> rows = [BillRow("m", text, text, len(text.encode()) + 7) for text in ("one", "zwölf", "twenty")]
    >>> [bill] = bills(rows, candidates=["utf16_units", "utf8_bytes"])
    >>> bill.tokenizer, bill.constant, bill.fitting, bill.misfits
    ('utf8_bytes', 7, 3, ())
    """
    models: dict[str, list[BillRow]] = {}
    for row in rows:
        models.setdefault(row.model, []).append(row)
    if unknown := [model for model in tokenizers or () if model not in models]:
        raise InputError(f"no text has tokens of the model {unknown[0]!r}; name one of {', '.join(models)}")
    names, chosen = local_names() if candidates is None else candidates, tokenizers or {}
    with session([*chosen.values(), *names]) as ready:
        return tuple(_bill(some, chosen.get(model, ""), names, ready) for model, some in models.items())


class _Fit:
    """The cells of a model, as the tokens of a tokenizer on changed texts and a constant."""

    def __init__(self, rows: Sequence[BillRow], name: str, tokens: Sequence[int], change: str) -> None:
        self.name, self.change = name, change
        self.shifts = [row.tokens - n for row, n in zip(rows, tokens, strict=True)]
        shared = Counter(self.shifts)
        self.constant = max(shared, key=lambda shift: (shared[shift], -abs(shift)))
        self.fitting = shared[self.constant]


def tokens_of(tokenizer: plugin.Tokenizer, texts: Sequence[str], changes: Sequence[str]) -> dict[str, list[int]]:
    """Return the tokens of texts after each change.

    >>> import tokbench
    >>> tokens_of(tokbench.load("utf8_bytes"), ["e\u0301", " a"], ["", "NFC"])
    {'': [3, 2], 'NFC': [2, 2]}
    """
    changed = {change: [_CHANGES[change](text) for text in texts] for change in changes}
    return {change: np.diff(plugin.encode_batch(tokenizer, some).offsets).tolist() for change, some in changed.items()}


def _fits(rows: Sequence[BillRow], names: Sequence[str], changes: Sequence[str], ready: TokenizerSession) -> list[_Fit]:
    """Fit what tokenizers count; one that fails is left out, unless there is no other."""
    step = partial(tokens_of, texts=[row.text for row in rows], changes=changes)
    counted, failed = {}, []
    for name, answer in ready.ask(step, names=names).items():
        if isinstance(answer, plugin.Failure):
            failed.append(f"{name}: {answer.reason}")
        else:
            counted[name] = answer
    if not counted:
        raise InputError("; ".join(failed))
    return [_Fit(rows, name, tokens[change], change) for change in changes for name, tokens in counted.items()]


def _bill(rows: Sequence[BillRow], named: str, candidates: Sequence[str], ready: TokenizerSession) -> Bill:
    fits = _fits(rows, [named] if named else candidates, [""], ready)
    if all(fit.fitting < len(rows) for fit in fits):
        fits = _fits(rows, [*dict.fromkeys([named, *candidates] if named else candidates)], [*_CHANGES], ready)
    order = [*_CHANGES]
    fits.sort(key=lambda fit: (-fit.fitting, order.index(fit.change), abs(fit.constant)))
    best = next(fit for fit in fits if fit.name == (named or fits[0].name))
    others: dict[str, int] = {}
    for fit in fits:
        if fit.fitting >= best.fitting and fit.name != best.name:
            others.setdefault(fit.name, fit.fitting)
    misfits = _misfits(rows, best, [fit for fit in fits if fit.name == best.name])
    return Bill(rows[0].model, best.name, best.change, best.constant, len(rows), misfits, others)


def _misfits(rows: Sequence[BillRow], best: _Fit, changed: Sequence[_Fit]) -> tuple[Misfit, ...]:
    wrong = [place for place, shift in enumerate(best.shifts) if shift != best.constant]
    shared = Counter(best.shifts[place] for place in wrong)
    misfits = []
    for place in wrong:
        row, shift = rows[place], best.shifts[place]
        causes = [fit.change or "the text unchanged" for fit in changed if fit.shifts[place] == best.constant]
        if len(wrong) <= 3 * shared[shift] > 3:  # noqa: PLR2004
            causes.append(f"{shift} more instead of {best.constant}, as {shared[shift]} texts have")
        misfits.append(Misfit(row.id, row.tokens, row.tokens - shift + best.constant, (*causes, "")[0]))
    return tuple(misfits)
