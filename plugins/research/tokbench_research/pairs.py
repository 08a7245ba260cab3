"""Numbers of every two groups or tokenizers: their means, their matrices, and the tables of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from tokbench.plugin.metrics import Measured, NotApplicable, PairMatrix

if TYPE_CHECKING:
    from tokbench.plugin.report import ReporterSpec, Results

T = TypeVar("T")
Numbers = Mapping[str, Measured | NotApplicable]

_TABLE: Final = ("metric", "corpus", "within", "one", "other", "value", "ci_low", "ci_high")


class PairPlace(NamedTuple):
    """Where pairs were compared."""

    corpus: str
    of: Literal["groups", "tokenizers"]
    within: str
    """The tokenizer under which groups are compared, or the group (``*``: all) in which tokenizers are."""


class Pairs(NamedTuple):
    """Some things, and by two of their names, in their order, the numbers of a pair by metric."""

    names: list[str]
    numbers: Mapping[tuple[str, str], Numbers]

    @classmethod
    def of(cls, things: Mapping[str, T], compare: Callable[[T, T], Numbers]) -> Pairs:
        return cls([*things], {(a, b): compare(things[a], things[b]) for a, b in combinations(things, 2)})

    def mean(self, metric: str, name: str = "") -> Measured | NotApplicable:
        """Return the mean over the pairs of a thing, or over all pairs.

        >>> pairs = Pairs.of({"a": 1, "b": 2, "c": 4}, lambda x, y: {"difference": Measured(y - x, 9)})
        >>> pairs.mean("difference").value, pairs.mean("difference", "a").value
        (2.0, 2.0)
        """
        found = [numbers[metric] for names, numbers in self.numbers.items() if not name or name in names]
        measured = [number for number in found if isinstance(number, Measured)]
        if measured:
            return Measured(sum(each.value for each in measured) / len(measured), min(each.n for each in measured))
        return found[0] if found else NotApplicable("no other tokenizer to compare with")

    def matrix(self, metric: str, place: PairPlace, own: Sequence[float | None]) -> Iterator[PairMatrix]:
        """Yield the matrix of a metric, if a pair is measured; ``own`` are the numbers of things with themselves."""
        rows = [[self.numbers[self.names[k], name][metric] for k in range(row)] for row, name in enumerate(self.names)]
        known = [[number if isinstance(number, Measured) else None for number in row] for row in rows]
        if not any(number for row in known for number in row):
            return
        ends = [[[getattr(number, end, None) for number in row] + [None] for row in known] for end in _TABLE[-2:]]
        low, high = ends if any(end is not None for row in ends[0] for end in row) else ([], [])
        values = [[*(number and number.value for number in row), end] for row, end in zip(known, own, strict=True)]
        likeness = 1.0 in own
        facts = {**place._asdict(), "metric": metric, "names": self.names, "likeness": likeness}
        yield PairMatrix(**facts, values=values, ci_low=low, ci_high=high)


def _rows(results: Results, of: str) -> Iterator[list[Any]]:
    for matrix in results.matrices:
        for row, name in enumerate(matrix.names) if matrix.of == of else ():
            for column, other in enumerate(matrix.names[: row + (of == "groups")]):
                ends = (end[row][column] if end else None for end in (matrix.ci_low, matrix.ci_high))
                yield [matrix.metric, matrix.corpus, matrix.within, other, name, matrix.values[row][column], *ends]


def table(results: Results, of: str) -> str:
    """Return a tidy table of every two ``groups`` (and each with itself) or ``tokenizers``."""
    from tokbench.plugin.report import csv_text

    return csv_text(_TABLE, _rows(results, of))


def late_specs() -> Iterator[ReporterSpec]:
    """Yield the tables of a run, whose module workers do not import."""
    from tokbench.plugin.report import ReporterSpec

    tables = {
        "overlap": ("groups", "numbers of every two groups under each tokenizer, in one tidy table"),
        "agreement": ("tokenizers", "numbers of every two tokenizers in each group, in one tidy table"),
    }
    for name, (of, summary) in tables.items():
        render = partial(table, of=of)
        yield ReporterSpec(name=name, summary=summary, filename=f"{name}.csv", render=render, needs=name)
