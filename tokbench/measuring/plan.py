"""The plan of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from tokbench.config.model import Config
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.foundation.errors import Problem, did_you_mean
from tokbench.foundation.failures import Failure
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric, Role
from tokbench.results.blocks import TokenizerInfo
from tokbench.results.cells import TokenizerState
from tokbench.results.reporter import ReporterSpec
from tokbench.tokenizers.backend import BackendSpec, CountsFile
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.options import Options

if TYPE_CHECKING:
    from tokbench.measuring.study import StudySpec

DESIGNED: Final = "curated texts: no intervals"
"""The reason why numbers on a designed corpus have no intervals."""

VOCABULARY: Final = "vocabulary"
"""The key of a vocabulary's digest, among those of the files of its tokenizer."""


class CorpusDesign(NamedTuple):
    """The texts of a corpus, as far as it matters for what follows from them."""

    parallel: bool
    reference: str
    designed: bool


@dataclass(kw_only=True, eq=False)
class RunTokenizer:
    """A tokenizer of a run, from the plan to the results: every phase adds to ``info`` what it finds."""

    name: str
    entry: str
    """The entry of the configuration, which may make several tokenizers."""
    spec: BackendSpec
    options: Options
    location: str
    vocab_size: int
    """That is asked for; 0 if it is loaded."""
    auto: bool
    """Its size is as large as a study can use."""
    info: TokenizerInfo
    """Its block of ``results.json``."""
    failure: Failure | None = None
    """Why it cannot be used."""
    identity: str | None = None
    """See :attr:`TokenizerFacts.identity`."""
    pickled_sha256: str = ""
    """Of the tokenizer as it was trained."""
    has: frozenset[str] = frozenset()
    """See :attr:`TokenizerFacts.has`."""

    @property
    def train_on(self) -> tuple[str, ...]:
        """Corpora; empty if it is loaded."""
        return tuple(self.info.train.corpora) if self.info.train else ()

    @property
    def ready(self) -> bool:
        return self.info.vocab_size is not None

    @property
    def to_be_trained(self) -> bool:
        return bool(self.train_on) and not self.ready and not self.failure

    def take(self, outcome: TokenizerFacts | Failure) -> None:
        """Take the facts that a worker found, or the failure; a timeout has a state of its own unless it is loading."""
        if isinstance(outcome, Failure):
            training = self.train_on and not self.info.optional
            failed = TokenizerState.TIMEOUT if outcome.timed_out else TokenizerState.FAILED
            self.fail(outcome, failed if training else TokenizerState.UNAVAILABLE)
            return
        self.identity, self.has, info = outcome.identity, outcome.has, self.info
        needed = ", ".join(f"{name} {version}" for name, version in info.libraries.items())
        info.engine = outcome.engine or needed or info.distribution
        info.vocab_size, info.returns, info.load_s = outcome.vocab_size, outcome.returns, outcome.load_s
        info.lacks, info.notes = sorted(outcome.not_applicable), list(outcome.notes)

    def fail(self, failure: Failure, state: TokenizerState) -> None:
        self.failure, self.info.state, self.info.reason = failure, state, failure.reason


@dataclass
class Plan:
    """All that a run will do."""

    config: Config
    corpora: dict[str, Corpus] = field(default_factory=dict)
    """By name, in the order of the file."""
    surveys: dict[str, Survey] = field(default_factory=dict)
    """By name, what one pass over each corpus found."""
    measured: list[str] = field(default_factory=list)
    """The names of the corpora that are evaluated."""
    tokenizers: list[RunTokenizer] = field(default_factory=list)
    metrics: list[tuple[MetricFamily, Options]] = field(default_factory=list)
    """Families with their options; those that a run adds by itself come last."""
    studies: dict[str, Options] = field(default_factory=dict)
    """By name, the options of each study of the run, in the order in which they run."""
    study_specs: dict[str, StudySpec] = field(default_factory=dict)
    """By name, what each of them is."""
    restricted_to: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By family, the corpora that the configuration names for it; the others are measured on all."""
    only: dict[str, frozenset[str]] = field(default_factory=dict)
    """By family, the tokenizers that it measures, if not all."""
    reporters: list[ReporterSpec] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """All that is wrong; a run begins only if the list is empty."""

    def groups(self, corpus: str) -> Mapping[str, int]:
        """Return the evaluated documents of each group of a corpus."""
        return self.surveys[corpus].groups

    def counts(self, tokenizer: RunTokenizer) -> dict[str, CountsFile]:
        """Return the tables of counts that a tokenizer is trained on, by corpus."""
        tables = {name: self.corpora[name].counts for name in tokenizer.train_on}
        return {name: table for name, table in tables.items() if table}

    def design(self, corpus: str) -> CorpusDesign:
        entry = self.config.corpora[corpus]
        return CorpusDesign(entry.parallel, entry.reference, entry.designed)

    def cells_on(self, corpus: str, tokenizers: int, groups: int) -> int:
        return tokenizers * groups * sum(len(family.values) for family in self.families_on(corpus))

    def names_on(self, corpus: str) -> list[str]:
        return [tokenizer.name for tokenizer in self.tokenizers if corpus in (tokenizer.info.corpora or (corpus,))]

    def is_alone(self, family: MetricFamily) -> bool:
        """Tell whether a study measures it alone on the machine, so that its numbers hold for this machine."""
        return family.study in self.study_specs and self.study_specs[family.study].alone

    def has_own_texts(self, family: MetricFamily) -> bool:
        return family.study in self.study_specs and self.study_specs[family.study].own_texts

    def corpora_of(self, family: MetricFamily) -> list[str]:
        """Return the corpora on which a family is measured; one that is alone may name one that is not evaluated."""
        if self.has_own_texts(family):
            return []
        chosen = self.restricted_to.get(family.name)
        names = self.measured if chosen is None else [name for name in self.corpora if name in chosen]
        return [name for name in names if family.from_counts or not self.corpora[name].counts]

    def families_on(self, corpus: str) -> list[MetricFamily]:
        return [family for family, _ in self.metrics if family.text and corpus in self.corpora_of(family)]

    def corpora_with(self, roles: Iterable[Role]) -> list[str]:
        """Return the corpora on which every family is measured that has one of these roles, and can be."""
        families = [family for role in roles if (family := self.family(role))]

        def has(corpus: str, family: MetricFamily) -> bool:
            beyond = bool(self.corpora[corpus].counts) and not family.from_counts
            return beyond or corpus in self.corpora_of(family)

        return [corpus for corpus in self.measured if all(has(corpus, family) for family in families)]

    def family(self, role: Role) -> MetricFamily | None:
        return next((family for family, _ in self.metrics if family.has_role(role)), None)

    def metric(self, role: Role) -> Metric | None:
        metrics = (metric for family, _ in self.metrics for metric in family.values)
        return next((metric for metric in metrics if metric.role == role), None)

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
