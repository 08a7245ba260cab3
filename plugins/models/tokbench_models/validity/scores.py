"""Scores from a table of the user, as targets of the study."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

import numpy as np

from tokbench.plugin import TextError, decode_utf8, did_you_mean, read_regular
from tokbench_models.validity.block import ExternalScore, ExternalScores
from tokbench_models.validity.options import SCORES
from tokbench_models.validity.rank_correlation import DRAWS, LEAST_TOKENIZERS
from tokbench_models.validity.targets import Target

UNNAMED: Final = "score"

_REQUIRED: Final = ("tokenizer", "score", "better")
_KNOWN: Final = (*_REQUIRED, "model", "source", "low", "high")
_BETTER: Final = ("higher", "lower")
_ERRORS_OF_INTERVAL: Final = 2 * 1.959963984540054
_SEED: Final = 30_000


class ScoreProblem(NamedTuple):
    """A mistake in a table of scores."""

    line: int
    message: str


@dataclass
class ReadScores:
    """A table of scores as read."""

    tables: list[ExternalScores] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _ScoreRow(NamedTuple):
    line: int
    tokenizer: str
    model: str
    better: Literal["higher", "lower"]
    source: str
    score: ExternalScore


def read_scores(path: Path, tokenizers: Collection[str], *, some: bool = False) -> ReadScores:
    """Read a table of scores, CSV in UTF-8 with a header, and check all of it.

    Unknown tokenizers are allowed without ``tokenizers`` or with ``some``: the run leaves others out.
    """
    try:
        lines = list(_numbered(path))
    except TextError as error:
        return ReadScores(problems=[f"{error.at(path.name)}; convert the table to UTF-8"])
    except (OSError, csv.Error) as error:
        return ReadScores(problems=[f"{path.name} cannot be read: {error}"])
    problems: list[ScoreProblem] = []
    rows = list(_rows(lines, problems))
    known = [row for row in rows if not tokenizers or row.tokenizer in tokenizers]
    if not some:
        problems += [
            ScoreProblem(row.line, f"unknown tokenizer {row.tokenizer!r}; {did_you_mean(row.tokenizer, tokenizers)}")
            for row in rows
            if tokenizers and row.tokenizer not in tokenizers
        ]
    by_model: dict[str, list[_ScoreRow]] = {}
    for row in known:
        by_model.setdefault(row.model, []).append(row)
    problems += [problem for of_model in by_model.values() for problem in _clashes(of_model)]
    messages = [f"{path.name}:{problem.line}: {problem.message}" for problem in sorted(problems)]
    if not messages:
        messages = [
            f"{path.name}: {model!r} has scores of {len(of_model)} tokenizers, and a correlation needs "
            f"{LEAST_TOKENIZERS}"
            for model, of_model in by_model.items()
            if len(of_model) < LEAST_TOKENIZERS and not some
        ]
    return ReadScores([] if messages else [_table(path, of_model) for of_model in by_model.values()], messages)


class _Line(NamedTuple):
    number: int
    cells: list[str]


def _numbered(path: Path) -> Iterator[_Line]:
    text = decode_utf8(read_regular(path)).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    for cells in reader:
        if cells:
            yield _Line(reader.line_num, [cell.strip() for cell in cells])


def _rows(lines: list[_Line], problems: list[ScoreProblem]) -> Iterator[_ScoreRow]:
    head = lines[0].cells if lines else []
    wrong = [f"no column {name!r}" for name in _REQUIRED if name not in head]
    wrong += [f"unknown column {name!r}; {did_you_mean(name, _KNOWN)}" for name in head if name not in _KNOWN]
    wrong += [f"two columns are called {name!r}" for name in dict.fromkeys(head) if head.count(name) > 1]
    problems += [ScoreProblem(1, message) for message in wrong]
    for line in lines[1:] if not wrong else []:
        if len(line.cells) != len(head):
            message = f"{len(line.cells)} cells, and the first line has {len(head)}"
            problems.append(ScoreProblem(line.number, message))
            continue
        cells = dict(zip(head, line.cells, strict=True))
        mistakes = list(_mistakes(cells))
        problems += [ScoreProblem(line.number, message) for message in mistakes]
        if not mistakes:
            yield _row(line.number, cells)
    if len(lines) == 1 and not wrong:
        problems.append(ScoreProblem(1, "no scores follow the names of the columns"))


def _mistakes(cells: Mapping[str, str]) -> Iterator[str]:
    if cells["better"] not in _BETTER:
        yield f"better is {cells['better']!r}, and may be 'higher' or 'lower'"
    given = [name for name in ("score", "low", "high") if name == "score" or cells.get(name)]
    unread = [name for name in given if not _is_number(cells[name])]
    yield from (f"{name} is {cells[name]!r}, which is not a number" for name in unread)
    if len(given) == 2:  # noqa: PLR2004 - the score, and one end
        yield "an interval has both ends: give low and high, or neither"
    elif len(given) > 1 and not unread:
        low, score, high = (float(cells[name]) for name in ("low", "score", "high"))
        if not low <= score <= high:
            yield f"the score {score:g} lies outside of its interval from {low:g} to {high:g}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _row(line: int, cells: Mapping[str, str]) -> _ScoreRow:
    low, high = (float(cells[name]) if cells.get(name) else None for name in ("low", "high"))
    score = ExternalScore(score=float(cells["score"]), low=low, high=high)
    better = cast("Literal['higher', 'lower']", cells["better"])
    model = cells.get("model") or UNNAMED
    return _ScoreRow(line, cells["tokenizer"], model, better, cells.get("source", ""), score)


def _clashes(of_model: list[_ScoreRow]) -> Iterator[ScoreProblem]:
    first = of_model[0]
    lines: dict[str, int] = {}
    for row in of_model:
        if row.better != first.better:
            message = f"better is {row.better!r}, and {first.better!r} in line {first.line} for the same model"
            yield ScoreProblem(row.line, message)
        if row.tokenizer in lines:
            where = f"line {lines[row.tokenizer]} has one for the same model"
            yield ScoreProblem(row.line, f"a second score of {row.tokenizer!r}; {where}")
        lines.setdefault(row.tokenizer, row.line)


def _table(path: Path, of_model: list[_ScoreRow]) -> ExternalScores:
    return ExternalScores(
        file=path.name,
        model=of_model[0].model,
        source="; ".join(dict.fromkeys(row.source for row in of_model if row.source)),
        better=of_model[0].better,
        scores={row.tokenizer: row.score for row in of_model},
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
