"""Targets of the study of validity, which the metrics predict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from tokbench_models.language_models.block import BitsPerByte, TrainedIds
from tokbench_models.language_models.scored_bits import ScoredBits
from tokbench_models.validity.block import ExternalScores
from tokbench_models.validity.rank_correlation import Numbers, draw_bits


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """Numbers of some models for each tokenizer; less is better."""

    corpus: str
    family: str
    """The family of metrics that trains the models, or ``scores``."""
    models: list[str]
    deciding: list[str]
    names: list[str]
    draws: Numbers
    """float64[draws, k, n], by draw, model and tokenizer; the first draw is the data themselves."""
    trained: bool
    kinds: Mapping[str, set[str]]
    """Comparable tokenizers by training text."""
    trained_ids: Mapping[str, TrainedIds]
    scores: ExternalScores | None = None

    def undertrained(self, least: float) -> list[str]:
        return [
            name for name in self.names if name in self.trained_ids and self.trained_ids[name].tokens_per_id < least
        ]


def bits_target(bits_per_byte: BitsPerByte, scored: Mapping[str, ScoredBits]) -> Target:
    """Return bits per byte as a target."""
    names = list(scored)
    return Target(
        corpus=bits_per_byte.corpus,
        family=bits_per_byte.family,
        models=bits_per_byte.metrics,
        deciding=bits_per_byte.deciding,
        names=names,
        draws=draw_bits([scored[name] for name in names]),
        trained=min(len(state.parts) for state in scored.values()) > 1,
        kinds=_kinds(bits_per_byte, names),
        trained_ids=bits_per_byte.trained_ids,
    )


def _kinds(bits_per_byte: BitsPerByte, names: list[str]) -> dict[str, set[str]]:
    pairs = {frozenset((comparison.tokenizer, comparison.other)) for comparison in bits_per_byte.comparisons}
    kinds: dict[str, set[str]] = {}
    for block in dict.fromkeys(bits_per_byte.blocks.values()):
        own = {name for name in names if bits_per_byte.blocks.get(name) == block}
        if all(frozenset(pair) in pairs for pair in combinations(own, 2)):
            others = {name for name in names if all(frozenset((name, member)) in pairs for member in own)}
            sound = others - own if all(frozenset(p) in pairs for p in combinations(others - own, 2)) else set()
            if len(own | sound) > 1:
                kinds[block] = own | sound
    return kinds
