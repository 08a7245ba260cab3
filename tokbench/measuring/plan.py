"""The plan of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tokbench.config.model import Config
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.corpus.recipe import CorpusRecipe
from tokbench.foundation.errors import Problem, did_you_mean
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric, Role
from tokbench.results.reporter import ReporterSpec
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.options import GivenOptions, Options


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
        corpora: the corpora on which it is measured; empty for all that are evaluated.
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
    corpora: tuple[str, ...] = ()


@dataclass
class Plan:
    """All that a run will do.

    Attributes:
        config: the configuration file.
        corpora, surveys: by name, with what one pass over each found.
        recipes: by name, how a worker reads a corpus whose text is in files.
        measured: names of the corpora that are evaluated.
        tokenizers: in the order of the file.
        metrics: families with their options; those that a run adds by itself come last.
        studies: by name, the options of each study of the run, in the order in which they run.
        trained_sizes: the vocabulary sizes at which studies let vocabularies be trained that cannot be cut.
        reads_again: ``True`` if the text of corpora is read again after text metrics have measured it.
        bound: by family, the corpora that the configuration names for it; the others are measured on all.
        reporters: report formats.
        notes: what a reader of the results must know of the plan.
        problems: all that is wrong; a run begins only if the list is empty.
    """

    config: Config
    corpora: dict[str, Corpus] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    recipes: dict[str, CorpusRecipe] = field(default_factory=dict)
    measured: list[str] = field(default_factory=list)
    tokenizers: list[PlannedTokenizer] = field(default_factory=list)
    metrics: list[tuple[MetricFamily, Options]] = field(default_factory=list)
    studies: dict[str, Options] = field(default_factory=dict)
    trained_sizes: tuple[int, ...] = ()
    reads_again: bool = False
    bound: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reporters: list[ReporterSpec] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def names_on(self, corpus: str) -> list[str]:
        """Return the names of the tokenizers that are measured on a corpus."""
        return [each.name for each in self.tokenizers if corpus in (each.corpora or (corpus,))]

    def corpora_of(self, family: MetricFamily) -> list[str]:
        """Return the corpora on which a family is measured; none for those with texts of their own.

        A timed family may be bound to a corpus that is not evaluated otherwise.
        """
        if family.without_corpus:
            return []
        chosen = self.bound.get(family.name)
        return self.measured if chosen is None else [name for name in self.corpora if name in chosen]

    def families_on(self, corpus: str) -> list[MetricFamily]:
        """Return the families of text metrics that are measured on a corpus."""
        return [family for family, _ in self.metrics if family.text and corpus in self.corpora_of(family)]

    def corpus_problem(self, name: str) -> str:
        """Return why nothing can be measured on a corpus of that name; an empty string if it can."""
        if name not in self.config.named:
            return f"unknown corpus {name!r}; {did_you_mean(name, self.config.named)}"
        if name in self.config.corpora and not self.config.corpora[name].evaluate:
            advice = "remove that, or name another corpus"
            return f"nothing is measured on corpus {name!r}, which has 'evaluate: false'; {advice}"
        return ""

    def corpora_with(self, roles: Iterable[Role]) -> list[str]:
        """Return the corpora on which every family is measured that has one of these roles."""
        families = [family for role in roles if (family := self.family(role))]
        return [corpus for corpus in self.measured if all(corpus in self.corpora_of(family) for family in families)]

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
