"""Mixtures compared: tokens over all text, and tokens of the language that fares worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench.report.escaping import cut
from tokbench.statistics.front import pareto_front
from tokbench_trainers.mixtures.block import MixtureRow, Mixtures

_LONGEST: Final = 20
"""Characters of a split that has no name."""


class MixtureStanding(NamedTuple):
    """A vocabulary among all of its size."""

    name: str
    """Of its mixture, with the split if there are several."""
    row: MixtureRow
    bytes_per_token: float
    """Over all text."""
    more: float
    """Tokens over all text beyond the fewest, as a share."""
    worst: str
    """The language that needs the most tokens beyond its own fewest."""
    worst_more: float
    """These tokens, as a share."""
    languages: dict[str, float]
    """By language, bytes per token."""
    on_front: bool
    """No other is better in one and at least as good in the other."""


def standings(block: Mixtures, size: int) -> list[MixtureStanding]:
    """Return the vocabularies of a size, the fewest tokens over all text first."""
    rows = [row for row in block.rows if row.vocab_size == size]
    several = len({row.pattern for row in block.rows}) > 1
    rates = [_tokens_per_byte(block, row) for row in rows]
    fewest = {name: min(rate[name] for rate in rates) for name in block.text}
    overall = [sum(share * rate[name] for name, share in block.text.items()) for rate in rates]
    behind = [{name: rate[name] / fewest[name] - 1 for name in rate} for rate in rates]
    worst = [max(more, key=lambda name: more[name]) for more in behind]
    points = [(all_text, more[name]) for all_text, more, name in zip(overall, behind, worst, strict=True)]
    ranking = [
        MixtureStanding(
            name=f"{row.mixture}, {cut(row.pattern, _LONGEST)}" if several else row.mixture,
            row=row,
            bytes_per_token=1 / overall[k],
            more=overall[k] / min(overall) - 1,
            worst=worst[k],
            worst_more=behind[k][worst[k]],
            languages={name: 1 / rate for name, rate in rates[k].items()},
            on_front=bool(on_front),
        )
        for k, (row, on_front) in enumerate(zip(rows, pareto_front(points, ["lower", "lower"]), strict=True))
    ]
    return sorted(ranking, key=lambda standing: (standing.more, standing.worst_more))


def sizes_of(block: Mixtures) -> Sequence[int]:
    """Return the sizes that were asked for."""
    return list(dict.fromkeys(row.vocab_size for row in block.rows))


def _tokens_per_byte(block: Mixtures, row: MixtureRow) -> dict[str, float]:
    return {name: tokens / block.bytes[row.pattern][name] for name, tokens in row.tokens.items()}
