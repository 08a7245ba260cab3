"""The scope of numbers: which tokenizers are measured on which corpora by which metric families."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from tokbench.foundation.failures import Failure
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric, Role
from tokbench.results.cells import TokenizerState
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.options import Options


class ScopedTokenizer(Protocol):
    """A tokenizer, as far as it matters where it is measured."""

    @property
    def name(self) -> str:
        """Its name in the run."""

    @property
    def same_as(self) -> str:
        """The tokenizer whose ids it must give; empty if there is none."""

    @property
    def corpora(self) -> tuple[str, ...]:
        """The corpora on which it is measured; empty for all that are evaluated."""


class MeasuredTokenizer(Protocol):
    """A tokenizer that has numbers, or the reason why it has none."""

    @property
    def name(self) -> str:
        """Its name in the run."""

    @property
    def backend(self) -> str:
        """The name of its backend."""

    @property
    def same_as(self) -> str:
        """The tokenizer whose ids it must give; empty if there is none."""

    @property
    def facts(self) -> TokenizerFacts | None:
        """Present if it is ready."""

    @property
    def state(self) -> TokenizerState:
        """Its state: ready, or what it is otherwise."""

    @property
    def failure(self) -> Failure | None:
        """Present if it is not ready."""

    @property
    def reason(self) -> str:
        """The reason why it is not ready; an empty string if it is."""


DESIGNED: Final = "the texts were chosen and not drawn, so that nothing is inferred from them"
"""The reason why numbers on a designed corpus have no intervals."""


class CorpusDesign(NamedTuple):
    """The texts of a corpus, as far as it matters for what follows from them."""

    parallel: bool
    """``True`` if its groups are translations of one another."""
    reference: str
    """The group that the others are compared with; empty for none."""
    designed: bool
    """``True`` if the texts were chosen and not drawn, so that nothing is inferred from them."""


class Scope(ABC):
    """The tokenizers, corpora and families of a run, and which go together: all that cells are made from."""

    measured: list[str]
    """The names of the corpora that are evaluated."""
    tokenizers: Sequence[ScopedTokenizer]
    """In the order of the configuration."""
    metrics: list[tuple[MetricFamily, Options]]
    """Families with their options; those that a run adds by itself come last."""
    bound: dict[str, tuple[str, ...]]
    """By family, the corpora that the configuration names for it; the others are measured on all."""

    @abstractmethod
    def groups(self, corpus: str) -> Mapping[str, int]:
        """Return the evaluated documents of each group of a corpus."""

    @abstractmethod
    def design(self, corpus: str) -> CorpusDesign:
        """Return how the texts of a corpus were chosen."""

    @property
    @abstractmethod
    def corpus_names(self) -> Iterable[str]:
        """The names of all corpora, those that are not evaluated among them."""

    def names_on(self, corpus: str) -> list[str]:
        """Return the names of the tokenizers that are measured on a corpus."""
        return [tokenizer.name for tokenizer in self.tokenizers if corpus in (tokenizer.corpora or (corpus,))]

    def corpora_of(self, family: MetricFamily) -> list[str]:
        """Return the corpora on which a family is measured; none for those with texts of their own.

        A timed family may be bound to a corpus that is not evaluated otherwise.
        """
        if family.without_corpus:
            return []
        chosen = self.bound.get(family.name)
        return self.measured if chosen is None else [name for name in self.corpus_names if name in chosen]

    def families_on(self, corpus: str) -> list[MetricFamily]:
        """Return the families of text metrics that are measured on a corpus."""
        return [family for family, _ in self.metrics if family.text and corpus in self.corpora_of(family)]

    def corpora_with(self, roles: Iterable[Role]) -> list[str]:
        """Return the corpora on which every family is measured that has one of these roles."""
        families = [family for role in roles if (family := self.family(role))]
        return [corpus for corpus in self.measured if all(corpus in self.corpora_of(family) for family in families)]

    def family(self, role: Role) -> MetricFamily | None:
        """Return the first family that has a role, or ``None``."""
        return next((family for family, _ in self.metrics if family.has_role(role)), None)

    def metric(self, role: Role) -> Metric | None:
        """Return the first metric that has a role, or ``None``."""
        metrics = (metric for family, _ in self.metrics for metric in family.values)
        return next((metric for metric in metrics if metric.role == role), None)
