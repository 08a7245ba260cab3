"""The share of the evaluated documents that a tokenizer was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tokbench.measuring.plan import Plan
from tokbench.measuring.prepared import PreparedTokenizer


class TrainedShares:
    """Finds the documents of corpora that tokenizers were trained on, once for each pair of texts."""

    def __init__(self, plan: Plan, prepared: Sequence[PreparedTokenizer]) -> None:
        self._plan = plan
        self._train_on = {tokenizer.name: tokenizer.planned.train_on for tokenizer in prepared}
        self._counts: dict[tuple[tuple[str, ...], str], dict[str, int]] = {}

    def share(self, name: str, corpus: str, groups: Iterable[str]) -> float | None:
        """Return the share of the documents of groups; ``None`` if that is unknown."""
        names = self._train_on[name]
        if not names:
            return None
        if (names, corpus) not in self._counts:
            self._counts[names, corpus] = self._count(names, corpus)
        counts, documents = self._counts[names, corpus], self._plan.surveys[corpus].groups
        chosen = list(groups)
        return sum(counts[group] for group in chosen) / sum(documents[group] for group in chosen)

    def _count(self, names: Sequence[str], corpus: str) -> dict[str, int]:
        evaluated = self._plan.surveys[corpus].evaluated
        trained = np.unique(np.concatenate([self._plan.surveys[name].trained for name in names]))
        seen = np.isin(np.concatenate(list(evaluated.values())), trained)
        ends = np.cumsum([len(marks) for marks in evaluated.values()])
        return {group: int(part.sum()) for group, part in zip(evaluated, np.split(seen, ends[:-1]), strict=True)}
