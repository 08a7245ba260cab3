"""The plan of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tokbench.config.model import Config
from tokbench.contracts.backend import BackendSpec
from tokbench.contracts.metric import Metric, MetricFamily, Role
from tokbench.contracts.options import GivenOptions, Options
from tokbench.contracts.reporter import ReporterSpec
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.errors import Problem


@dataclass(frozen=True)
class PlannedTokenizer:
    """A tokenizer that will be loaded or trained.

    Attributes:
        name: its name in the run.
        entry: the name of its entry, which may make several tokenizers.
        spec: its backend.
        options: the backend's options, validated.
        given: the options as they were written.
        train_on: names of the corpora to train on; empty if it is loaded.
        vocab_size: the size to train at.
        optional: whether the run goes on without it.
        same_as: the tokenizer whose ids it must give; empty if there is none.
        where: its place in the configuration.
        absent: the reason why the backend cannot be used here; empty if it can.
    """

    name: str
    entry: str
    spec: BackendSpec
    options: Options
    given: GivenOptions
    train_on: tuple[str, ...]
    vocab_size: int
    optional: bool
    same_as: str
    where: str
    absent: str


@dataclass
class Plan:
    """All that a run will do.

    Attributes:
        config: the configuration file.
        corpora, surveys: by name, with what one pass over each found.
        measured: names of the corpora that are evaluated.
        tokenizers: in the order of the file.
        metrics: families with their options; those that a run adds by itself come last.
        reporters: report formats.
        problems: all that is wrong; a run begins only if the list is empty.
    """

    config: Config
    corpora: dict[str, Corpus] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    measured: list[str] = field(default_factory=list)
    tokenizers: list[PlannedTokenizer] = field(default_factory=list)
    metrics: list[tuple[MetricFamily, Options]] = field(default_factory=list)
    reporters: list[ReporterSpec] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def family(self, role: Role) -> MetricFamily | None:
        """Return the first family of the run that has a role, or ``None``."""
        return next((family for family, _ in self.metrics if family.has_role(role)), None)

    def metric(self, role: Role) -> Metric | None:
        """Return the first metric of the run that has a role, or ``None``."""
        metrics = (metric for family, _ in self.metrics for metric in family.values)
        return next((metric for metric in metrics if metric.role == role), None)


def reading_order(problems: list[Problem]) -> list[Problem]:
    """Return problems in the order of their places, each once."""

    def key(problem: Problem) -> tuple[str, list[int], str]:
        name, places = re.fullmatch(r"(.*?)((?::\d+)*)", problem.where, re.DOTALL).groups()  # type: ignore[union-attr]
        return name, [int(number) for number in places.split(":")[1:]], problem.message

    return sorted(set(problems), key=key)
