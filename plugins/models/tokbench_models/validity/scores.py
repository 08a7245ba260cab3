"""Scores from a table of the user, as targets of the study."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import BaseModel, FiniteFloat, ValidationError, model_validator

from tokbench.plugin import TextError, decode_utf8, did_you_mean, read_regular
from tokbench_models.validity.block import ExternalScore, ExternalScores
from tokbench_models.validity.options import SCORES
from tokbench_models.validity.rank_correlation import DRAWS, LEAST_TOKENIZERS
from tokbench_models.validity.targets import Target

_REQUIRED: Final = ("tokenizer", "score", "better")
_ERRORS_OF_INTERVAL: Final = 2 * 1.959963984540054
_SEED: Final = 30_000


class _ScoreRow(BaseModel):
    tokenizer: str
    score: FiniteFloat
    better: Literal["higher", "lower"]
    model: str = "score"
    source: str = ""
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None

    @model_validator(mode="after")
    def _interval(self) -> _ScoreRow:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has both ends: give low and high, or neither")
        if self.low is not None and self.high is not None and not self.low <= self.score <= self.high:
            raise ValueError(
                f"the score {self.score:g} lies outside of its interval from {self.low:g} to {self.high:g}"
            )
        return self


@dataclass
class ReadScores:
    """A table of scores as read."""

    tables: list[ExternalScores] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_scores(path: Path, tokenizers: Collection[str], *, some: bool = False) -> ReadScores:
    """Read a table of scores, CSV in UTF-8 with a header, and check all of it.

    Unknown tokenizers are allowed without ``tokenizers`` or with ``some``: the run leaves others out.
    """
    by_model: dict[str, dict[str, _ScoreRow]] = {}
    try:
        text = decode_utf8(read_regular(path)).removeprefix("\ufeff")
        problems = list(_read(text, by_model, tokenizers, some=some))
    except TextError as error:
        return ReadScores(problems=[f"{error.at(path.name)}; convert the table to UTF-8"])
    except (OSError, csv.Error) as error:
        return ReadScores(problems=[f"{path.name} cannot be read: {error}"])
    if not problems and not some:
        problems = [
            f" {model!r} has scores of {len(rows)} tokenizers, and a correlation needs {LEAST_TOKENIZERS}"
            for model, rows in by_model.items()
            if len(rows) < LEAST_TOKENIZERS
        ]
    tables = [] if problems else [_table(path, rows) for rows in by_model.values()]
    return ReadScores(tables, [f"{path.name}:{problem}" for problem in problems])


def _read(
    text: str, by_model: dict[str, dict[str, _ScoreRow]], tokenizers: Collection[str], *, some: bool
) -> Iterator[str]:
    """Fill ``by_model``, by model and tokenizer, and yield what is wrong with the line."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    columns, known = list(reader.fieldnames or ()), list(_ScoreRow.model_fields)
    wrong = [f"1: no column {name!r}" for name in _REQUIRED if name not in columns]
    wrong += [f"1: unknown column {name!r}; {did_you_mean(name, known)}" for name in columns if name not in known]
    yield from wrong
    if wrong:
        return
    empty = True
    for cells in reader:
        empty = False
        row = _row(cells, len(columns))
        if isinstance(row, str):
            yield f"{reader.line_num}: {row}"
        elif not tokenizers or row.tokenizer in tokenizers:
            rows = by_model.setdefault(row.model, {})
            first = next(iter(rows.values()), row)
            if row.better != first.better:
                yield f"{reader.line_num}: better is {row.better!r}, and before {first.better!r} for the same model"
            if row.tokenizer in rows:
                yield f"{reader.line_num}: a second score of {row.tokenizer!r} for the same model"
            rows[row.tokenizer] = row
        elif not some:
            yield f"{reader.line_num}: unknown tokenizer {row.tokenizer!r}; {did_you_mean(row.tokenizer, tokenizers)}"
    if empty:
        yield "1: no scores follow the names of the columns"


def _row(cells: Mapping[Any, Any], columns: int) -> _ScoreRow | str:
    if None in cells or None in cells.values():
        return f"more or fewer fields than the {columns} of the first line"
    try:
        return _ScoreRow.model_validate({name: cell.strip() for name, cell in cells.items() if cell.strip()})
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        return f"{first['loc'][0]} is {first['input']!r}: {message}" if first["loc"] else message


def _table(path: Path, rows: Mapping[str, _ScoreRow]) -> ExternalScores:
    first = next(iter(rows.values()))
    return ExternalScores(
        file=path.name,
        model=first.model,
        source="; ".join(dict.fromkeys(row.source for row in rows.values() if row.source)),
        better=first.better,
        scores={name: ExternalScore(score=row.score, low=row.low, high=row.high) for name, row in rows.items()},
    )


def scores_target(table: ExternalScores, corpus: str) -> Target:
    """Return the scores of one model as a target; draws use the intervals of scores.

    >>> score = ExternalScore(score=2.0)
    >>> table = ExternalScores(file="s.csv", model="m", source="", better="higher", scores={"a": score})
    >>> scores_target(table, "c").draws[:2].tolist()
    [[[-2.0]], [[-2.0]]]
    """
    names = list(table.scores)
    sign = -1.0 if table.better == "higher" else 1.0
    values = np.array([table.scores[name].score for name in names])
    errors = np.array([_error(table.scores[name]) for name in names])
    moved = np.random.default_rng(_SEED).normal(size=(DRAWS, len(names))) * errors
    moved[0] = 0
    return Target(
        corpus=corpus,
        family=SCORES,
        models=[table.model],
        deciding=[table.model],
        names=names,
        draws=(sign * (values + moved))[:, None, :],
        trained=False,
        kinds={"": set(names)},
        trained_ids={},
        scores=table,
    )


def _error(score: ExternalScore) -> float:
    return 0.0 if score.low is None or score.high is None else (score.high - score.low) / _ERRORS_OF_INTERVAL
