"""One ranking of published vocabularies at their sizes and of those that were trained here, by the cost of a byte."""

from __future__ import annotations

from collections.abc import Mapping

from tokbench.studies.vocabulary_size.advise import Candidates
from tokbench.studies.vocabulary_size.block import RankedSize, SizeRange, SizeRecommendation
from tokbench.studies.vocabulary_size.compute import flops_per_byte
from tokbench.studies.vocabulary_size.mixture import MixedLine
from tokbench.studies.vocabulary_size.options import Model


def ranked(candidates: Candidates, model: Model | None, advice: SizeRecommendation) -> list[RankedSize]:
    """Return sizes of every line over all corpora together, the cheapest first; without a model by bytes per token.

    A published vocabulary has the size as it was made. One that this run trained has the ends of its range and the size
    that costs least. The size that is taken is always there.

    Args:
        candidates: the lines.
        model: the model; ``None`` if nothing is known of costs.
        advice: the sizes to take.
    """
    ranges = {sizes.line: sizes for sizes in advice.ranges}
    sizes = [
        _ranked_size(name, line, size, kinds, model)
        for name, line in candidates.lines.items()
        for size, kinds in _sizes(
            line, ranges.get(name) if name in candidates.trained_bytes else None, _taken(advice, name)
        ).items()
    ]
    return sorted(sizes, key=lambda size: (size.flops_per_byte or 0.0, -size.compression_ratio, size.vocab_size))


def _taken(advice: SizeRecommendation, line: str) -> int | None:
    return advice.take[1] if advice.take and advice.take[0] == line else None


def _sizes(line: MixedLine, trained: SizeRange | None, taken: int | None) -> Mapping[int, list[str]]:
    """Return by size what it is.

    Args:
        line: the line.
        trained: the sizes of a line of this run that cost nearly least; ``None`` for the size as it was made.
        taken: the size that is taken; ``None`` if it is of another line.
    """
    sizes: dict[int, list[str]] = {}
    if taken is not None:
        sizes.setdefault(taken, []).append("recommended")
    if trained is None:
        sizes.setdefault(int(line.every[-1]), []).append("as made")
    else:
        sizes.setdefault(trained.best, []).append("least cost")
        sizes.setdefault(trained.smallest, []).append("smallest to take")
        sizes.setdefault(trained.largest, []).append("largest to take")
    return sizes


def _ranked_size(name: str, line: MixedLine, size: int, kinds: list[str], model: Model | None) -> RankedSize:
    ratio = float(1 / line.mixed[int(line.every.searchsorted(size))])
    cost = None if model is None else float(flops_per_byte(model, size, ratio))
    return RankedSize(line=name, vocab_size=size, kinds=kinds, compression_ratio=ratio, flops_per_byte=cost)
