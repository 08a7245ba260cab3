"""The plan of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tokbench.config.model import Config
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.corpus.recipe import CorpusRecipe
from tokbench.foundation.errors import Problem, did_you_mean
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.scope import CorpusDesign, Scope
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
class Plan(Scope):
    """All that a run will do."""

    config: Config
    """The configuration file."""
    corpora: dict[str, Corpus] = field(default_factory=dict)
    """By name, in the order of the file."""
    surveys: dict[str, Survey] = field(default_factory=dict)
    """By name, what one pass over each corpus found."""
    recipes: dict[str, CorpusRecipe] = field(default_factory=dict)
    """By name, how a worker reads a corpus whose text is in files."""
    measured: list[str] = field(default_factory=list)
    tokenizers: list[PlannedTokenizer] = field(default_factory=list)
    metrics: list[tuple[MetricFamily, Options]] = field(default_factory=list)
    studies: dict[str, Options] = field(default_factory=dict)
    """By name, the options of each study of the run, in the order in which they run."""
    trained_sizes: tuple[int, ...] = ()
    """The vocabulary sizes at which studies let vocabularies be trained that cannot be cut."""
    reads_again: bool = False
    """``True`` if the text of corpora is read again after text metrics have measured it."""
    bound: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reporters: list[ReporterSpec] = field(default_factory=list)
    """Report formats."""
    notes: list[str] = field(default_factory=list)
    """Sentences that a reader of the results must know of the plan."""
    problems: list[Problem] = field(default_factory=list)
    """All that is wrong; a run begins only if the list is empty."""

    def groups(self, corpus: str) -> Mapping[str, int]:
        """Return the evaluated documents of each group of a corpus."""
        return self.surveys[corpus].groups

    def design(self, corpus: str) -> CorpusDesign:
        """Return how the texts of a corpus were chosen."""
        entry = self.config.corpora[corpus]
        return CorpusDesign(entry.parallel, entry.reference, entry.designed)

    def cells_on(self, corpus: str, tokenizers: int, groups: int) -> int:
        """Return the number of cells of so many tokenizers and groups of a corpus."""
        return tokenizers * groups * sum(len(family.values) for family in self.families_on(corpus))

    @property
    def corpus_names(self) -> Iterable[str]:
        """The names of all corpora that could be read."""
        return self.corpora

    def corpus_problem(self, name: str) -> str:
        """Return why nothing can be measured on a corpus of that name; an empty string if it can."""
        if name not in self.config.named:
            return f"unknown corpus {name!r}; {did_you_mean(name, self.config.named)}"
        if name in self.config.corpora and not self.config.corpora[name].evaluate:
            advice = "remove that, or name another corpus"
            return f"nothing is measured on corpus {name!r}, which has 'evaluate: false'; {advice}"
        return ""


def reading_order(problems: list[Problem]) -> list[Problem]:
    """Return problems in the order of their places, each once."""

    def key(problem: Problem) -> tuple[str, list[int], str]:
        name, places = re.fullmatch(r"(.*?)((?::\d+)*)", problem.where, re.DOTALL).groups()  # type: ignore[union-attr]
        return name, [int(number) for number in places.split(":")[1:]], problem.message

    return sorted(set(problems), key=key)
