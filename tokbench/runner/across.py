"""What across metrics make of a corpus, once all its shards have been looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokbench.contracts.metric import CorpusMetric, CorpusOutcome, CorpusStates, Measured, NotApplicable
from tokbench.failures import Failure, attempt
from tokbench.runner.evaluate import Evaluation
from tokbench.runner.plan import Plan

__all__ = ["CorpusMetrics"]


class CorpusMetrics:
    """Asks each across metric once a corpus.

    Attributes:
        pairs: what they found of pairs of tokenizers.
    """

    def __init__(self, plan: Plan, evaluation: Evaluation) -> None:
        self._plan = plan
        self._evaluation = evaluation
        self._found: dict[tuple[str, str], CorpusOutcome | Failure] = {}
        self.pairs: list[dict[str, Any]] = []

    def outcome(self, corpus: str, family: str, metric: CorpusMetric) -> CorpusOutcome | Failure:
        """What a metric makes of a corpus."""
        key = corpus, family
        if key not in self._found:
            states = self._states(corpus, family)
            outcome = attempt(lambda: metric.finish_corpus(states), f"finishing {family}")
            self._found[key] = outcome
            if not isinstance(outcome, Failure):
                self.pairs += [dict(pair) for pair in outcome.pairs]
        return self._found[key]

    def known(self, corpus: str, family: str) -> Mapping[tuple[str, str], Mapping[str, Measured | NotApplicable]]:
        """The values that are there already, by tokenizer and group."""
        outcome = self._found.get((corpus, family))
        return outcome.values if isinstance(outcome, CorpusOutcome) else {}

    def _states(self, corpus: str, family: str) -> CorpusStates:
        groups, entry = self._plan.surveys[corpus].groups, self._plan.config.corpora[corpus]
        names = [each.name for each in self._plan.tokenizers]
        every = {
            (name, group): self._evaluation.state((name, corpus, group, family), documents)
            for name in names
            for group, documents in groups.items()
        }
        known = {place: state for place, state in every.items() if not isinstance(state, Failure)}
        measured = [name for name in names if any((name, group) in known for group in groups)]
        return CorpusStates(corpus, entry.parallel, entry.reference, groups, measured, known)
