"""Shards x tokenizers -> states: everything is encoded once, and looked at by every text metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tokbench.batch import check_encoded, encode_batch
from tokbench.corpus.shards import Shard
from tokbench.guard import Failure, attempt
from tokbench.metrics.contract import TextMetric
from tokbench.metrics.view import Subject, View
from tokbench.progress import Progress
from tokbench.protocol import Encoded
from tokbench.runner.plan import Plan

__all__ = ["Evaluation", "Key", "evaluate"]

Key = tuple[str, str, str, str]
"""Tokenizer, corpus, group, metric family."""


@dataclass
class Evaluation:
    """What the text metrics know so far.

    Attributes:
        metrics: the text metrics by family.
        states: by key, the merged state of the shards so far, or why there is none. A failure stays:
            sums over a part of a group would pass for the whole.
        interrupted: whether the run was stopped before all shards were seen.
    """

    metrics: dict[str, TextMetric]
    states: dict[Key, Any | Failure] = field(default_factory=dict)
    interrupted: bool = False

    def add(self, key: Key, state: Any | Failure) -> None:
        """Merge a shard's state into that of its group."""
        known = self.states.get(key)
        if isinstance(known, Failure):
            return
        if known is None or isinstance(state, Failure):
            self.states[key] = state
        else:
            metric = self.metrics[key[3]]
            self.states[key] = attempt(lambda: metric.merge(known, state), "merging states")


def evaluate(plan: Plan, subjects: list[Subject], progress: Progress) -> Evaluation:
    """Every tokenizer on every corpus. Ctrl-C ends it early, and what was measured is kept."""
    evaluation = Evaluation({spec.name: spec.text(options) for spec, options in plan.metrics if spec.text})
    try:
        for name in plan.measured:
            total = sum(plan.surveys[name].groups.values()) * len(subjects)
            done = 0
            for shard in plan.corpora[name].shards():
                for subject in subjects:
                    _look(evaluation, subject, shard)
                    done += len(shard)
                    progress(f"measuring {name}", done, total)
    except KeyboardInterrupt:
        evaluation.interrupted = True
    return evaluation


def _look(evaluation: Evaluation, subject: Subject, shard: Shard) -> None:
    """One tokenizer on one shard."""
    keys = {family: (subject.name, shard.corpus, shard.group, family) for family in evaluation.metrics}
    if all(isinstance(evaluation.states.get(key), Failure) for key in keys.values()):
        return
    encoded = _encode(subject, shard)
    if isinstance(encoded, Failure):
        for key in keys.values():
            evaluation.add(key, encoded)
        return
    view = View(subject, shard, encoded)
    for family, metric in evaluation.metrics.items():
        state = attempt(_mapped(metric, view))
        if isinstance(state, Failure):
            state = Failure(f"{state.reason} ({family} of corpus {shard.corpus}, group {shard.group})")
        evaluation.add(keys[family], state)


def _mapped(metric: TextMetric, view: View) -> Callable[[], Any]:
    return lambda: metric.map(view)


def _encode(subject: Subject, shard: Shard) -> Encoded | Failure:
    """The checked ids of a shard; a failure names the first document that fails by itself."""
    tokenizer = subject.tokenizer

    def encoded(texts: list[str]) -> Encoded:
        answer = encode_batch(tokenizer, texts)
        check_encoded(answer, len(texts), tokenizer.vocab_size)
        return answer

    outcome = attempt(lambda: encoded(shard.texts))
    if not isinstance(outcome, Failure):
        return outcome
    place = f"corpus {shard.corpus}, group {shard.group}"
    for text, origin in zip(shard.texts, shard.origins, strict=True):
        alone = attempt(lambda text=text: encoded([text]))  # type: ignore[misc]
        if isinstance(alone, Failure):
            return Failure(f"encode: {alone.reason} ({place}, document {origin})")
    return Failure(f"encode_batch: {outcome.reason} ({place}; each document by itself can be encoded)")
