"""Measures what a table printed, and says of each number whether it is equal, parted with a cause, or open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, Final, Literal

import tokbench
from tokbench.plugin import BackendError, BackendUnavailable, HasSpecialTokens, HasTokenBytes, InputError, Tokenizer
from tokbench_maintain.referee.causes import Encode, Ids, causes, encoder
from tokbench_maintain.referee.table import NotHereError, Printed, Published, PublishedTable, listed

State = Literal["equal", "rounding", "cause", "open", "not_run"]
STATES: Final[tuple[State, ...]] = ("equal", "rounding", "cause", "open", "not_run")
_ENOUGH: Final = 0.95
"""The share of a column that a cause must give."""
_CAUSES_SHOWN: Final = 3


@dataclass(frozen=True)
class Judged:
    """One printed number, our own, and what is to say of them."""

    cell: Printed
    ours: str
    state: State
    why: str = ""

    @property
    def same(self) -> bool:
        """Tell whether the number is ours, up to rounding."""
        return self.state in {"equal", "rounding"}


@dataclass(frozen=True)
class TableVerdict:
    """One table with all its numbers."""

    published: Published
    cells: list[Judged] = field(default_factory=list)

    def count(self, state: State) -> int:
        """Return how many numbers have a state."""
        return sum(judged.state == state for judged in self.cells)

    def findings(self) -> list[str]:
        """Return the causes and reasons, each with its columns and how many numbers it is about.

        >>> cell = Printed("Hindi", "Mistral", "2.47")
        >>> TableVerdict(None, [Judged(cell, "4.72", "cause", "these ranks under cl100k's split")]).findings()
        ["Mistral: these ranks under cl100k's split (1)"]
        """
        said = Counter((judged.cell.tokenizer, judged.why) for judged in self.cells if judged.why)
        return [f"{tokenizer}: {why} ({number})" for (tokenizer, why), number in said.items()]

    def plain(self) -> dict[str, object]:
        """Return what ``--json`` prints."""
        parted = [one for one in self.cells if one.state in {"cause", "open"}]
        return {
            "name": self.published.name,
            "cells": len(self.cells),
            **{state: self.count(state) for state in STATES},
            "findings": self.findings(),
            "parted": [{**one.cell._asdict(), "ours": one.ours, "cause": one.why} for one in parted],
        }


def judge(published: Published, kept: Path) -> TableVerdict:
    """Measure a table.

    Args:
        published: the table.
        kept: the folder that has the texts of tables that are not in their YAML.

    Raises:
        InputError: a text there is not the one that was measured.
    """
    columns: dict[str, list[Printed]] = {}
    for cell in published.cells():
        columns.setdefault(cell.tokenizer, []).append(cell)
    judged = [one for name, cells in columns.items() for one in _column(published, name, cells, kept)]
    return TableVerdict(published, _of_variants(published, judged))


def _column(published: Published, name: str, cells: list[Printed], kept: Path) -> list[Judged]:
    """Judge the numbers of one tokenizer."""
    given = published.table.tokenizers.get(name, {"missing": "no tokenizer is named for it"})
    try:
        tokenizer = _loaded(given, kept / published.name)
        texts = {cell.text: published.texts(cell.text, kept) for cell in cells if _needs_texts(published.table)}
    except (BackendError, BackendUnavailable, NotHereError) as error:
        return [Judged(cell, "", "not_run", str(error)) for cell in cells]
    measure = _Measure(published.table, tokenizer, texts)
    judged = [measure.judged(cell, encoder(tokenizer)) for cell in cells]
    if not _needs_texts(published.table) or all(one.same for one in judged):
        return judged
    best, shown = max(_ENOUGH * len(cells), 1), judged
    words: list[str] = []
    for cause in causes(tokenizer):
        again = [measure.judged(cell, cause.encode) for cell in cells]
        if (number := sum(one.same for one in again)) >= best:
            words = [*words, cause.words] if number == best else [cause.words]
            best, shown = number, again
    pairs = zip(judged, shown, strict=True)
    why = " or ".join(words[:_CAUSES_SHOWN])
    return [replace(one, state="cause", why=why) if two.same and not one.same else one for one, two in pairs]


def _of_variants(published: Published, judged: list[Judged]) -> list[Judged]:
    """Give the open numbers of a text a cause if another text gives all of its numbers."""
    for text, variant in published.table.variants.items():
        cells = [one for one in judged if one.cell.text == text and one.state != "not_run"]
        texts = {text: listed(variant.texts)}
        loaded = ((one, _loaded(published.table.tokenizers[one.cell.tokenizer], Path())) for one in cells)
        if all(_Measure(published.table, t, texts).judged(one.cell, encoder(t)).same for one, t in loaded):
            judged = [
                replace(one, state="cause", why=variant.why) if one.cell.text == text and not one.same else one
                for one in judged
            ]
    return judged


def _loaded(given: str | dict[str, Any], folder: Path) -> Tokenizer:
    if isinstance(given, str):
        name, options = given, {}
    else:
        options = dict(given)
        if "missing" in options:
            raise NotHereError(options["missing"])
        name = options.pop("backend")
        if "file" in options:
            options["path"] = str(folder / options.pop("file"))
            if not Path(options["path"]).is_file():
                raise NotHereError(f"{options['path']} is missing; get it with --fetch")
    try:
        return tokbench.load(name, **options)
    except InputError as error:
        raise NotHereError(str(error)) from error


def _needs_texts(table: PublishedTable) -> bool:
    return table.metric != "utf8_fragments"


@dataclass(frozen=True)
class _Measure:
    """The metric of a table, for one tokenizer."""

    table: PublishedTable
    tokenizer: Tokenizer
    texts: Mapping[str, list[str]]

    def judged(self, cell: Printed, encode: Encode) -> Judged:
        """Compare a printed number with ours, at the digits that were printed; ids are compared as they are."""
        if not _needs_texts(self.table):
            ours = Decimal(_fragments(self.tokenizer))
        else:
            texts = self.texts[cell.text]
            ids = encode(texts)
            if self.table.metric == "ids":
                given = " ".join(map(str, ids[0]))
                return Judged(cell, given, "equal" if given == cell.value.strip() else "open")
            ours = _of_ids(self.table.metric, ids, texts)
        printed = Decimal(cell.value.replace(",", ""))
        unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
        rounded = ours.quantize(unit, ROUND_HALF_EVEN)
        away = abs(rounded - printed) / unit
        return Judged(cell, str(rounded), "equal" if not away else "rounding" if away <= self.table.within else "open")


def _of_ids(metric: str, ids: Ids, texts: Sequence[str]) -> Decimal:
    """Return a number from the ids of texts.

    >>> _of_ids("bytes_per_token", [[1, 2], [3]], ["né", "a"]), _of_ids("one_token_percent", [[1, 2], [3]], ["né", "a"])
    (Decimal('1.333333333333333333333333333'), Decimal('50'))
    """
    tokens = sum(map(len, ids))
    if metric == "tokens":
        return Decimal(tokens)
    if metric == "tokens_and_marks":
        return Decimal(tokens + len(texts))
    if metric == "bytes_per_token":
        return Decimal(sum(len(text.encode("utf-8")) for text in texts)) / tokens
    if metric == "tokens_per_text":
        return Decimal(tokens) / len(texts)
    return Decimal(100 * sum(len(one) == 1 for one in ids)) / len(texts)


def _fragments(tokenizer: Tokenizer) -> int:
    """Return how many tokens of more than one byte are not whole characters."""
    if not isinstance(tokenizer, HasTokenBytes):
        raise NotHereError("its tokens are not known as bytes")
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    tokens = (tokenizer.token_bytes(number) for number in range(tokenizer.vocab_size) if number not in special)
    return sum(len(token) > 1 and not _whole(token) for token in tokens if token is not None)


def _whole(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
