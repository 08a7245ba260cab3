"""Trainings of a transformer with several seeds, at the best learning rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import jax
import numpy as np

from tokbench.plugin import InputError, Progress, silent
from tokbench_models.language_models.body import LEARNING_RATES, Point, TransformerShape
from tokbench_models.language_models.contract import ModelTask
from tokbench_models.language_models.transformer_model import train_curve
from tokbench_models.language_models.windows import documents

_SWEEP_SHARE: Final = 10

_BEYOND: Final = 3


class SeedCurves(NamedTuple):
    """The curve of each seed; ``tried`` are bits per byte by rising learning rate on a tenth of the text."""

    learning_rate: float
    tried: dict[float, float]
    curves: list[list[Point]]


def train_seeds(
    task: ModelTask, body: TransformerShape, *, seeds: Sequence[int], rates: Sequence[float], progress: Progress
) -> SeedCurves:
    """Find the learning rate with seed 0, and train with each seed."""

    def shown(step: str) -> Progress:
        return lambda _, done, total: progress(step, done, total)

    tried: dict[float, float] = {}
    if len(rates) > 1:
        search = shown("trying learning rates")
        tried = sweep(task, body, seed=0, rates=rates, progress=search)
    rate = min(tried, key=lambda candidate: tried[candidate]) if tried else rates[0]
    curves = [
        train_curve(
            task,
            body,
            learning_rate=rate,
            seed=seed,
            progress=shown(f"training transformers, seed {number} of {len(seeds)}"),
        )
        for number, seed in enumerate(seeds, 1)
    ]
    jax.clear_caches()
    return SeedCurves(rate, tried, curves)


def sweep(
    task: ModelTask,
    body: TransformerShape,
    *,
    seed: int,
    rates: Sequence[float] = LEARNING_RATES,
    progress: Progress = silent,
) -> dict[float, float]:
    """Return bits per byte by two or more learning rates, lowest first, from a tenth of the documents each.

    While the best rate is at an end, the next one beyond it is tried, too, at most three.

    Raises:
        InputError: there are fewer than two training documents.
    """
    training = task.training
    if len(training.n_bytes) < 2:  # noqa: PLR2004 - one trains, one is scored
        raise InputError("a search for the learning rate needs two training documents or more; give one learning rate")
    drawn = np.random.default_rng(seed).permutation(len(training.n_bytes))
    share = max(1, len(drawn) // _SWEEP_SHARE)
    some, others = (documents(training, np.sort(numbers)) for numbers in (drawn[:share], drawn[share : 2 * share]))

    def tried(rate: float) -> float:
        name = f"sweep {rate:g} seed {seed}"
        bits: float | None = task.saved.get(name)
        if bits is None:
            part = task._replace(training=some, scored=others, saved={})
            [point] = train_curve(part, body, learning_rate=rate, seed=seed, shares=[1.0], progress=progress)
            task.saved[name] = bits = float(point.bits.sum() / others.n_bytes.sum())
        return bits

    by_rate = {rate: tried(rate) for rate in sorted(rates)}
    for _ in range(_BEYOND):
        beyond = _beyond(by_rate)
        if beyond is None:
            break
        by_rate[beyond] = tried(beyond)
    return dict(sorted(by_rate.items()))


def _beyond(by_rate: Mapping[float, float]) -> float | None:
    """Return the next learning rate up to 1 if the best one is at an end.

    >>> _beyond({0.01: 3.0, 0.02: 2.5}), _beyond({0.01: 2.5, 0.02: 3.0}), _beyond({0.01: 3.0, 0.02: 2.5, 0.04: 2.6})
    (0.04, 0.005, None)
    """
    rates = sorted(by_rate)
    best = min(rates, key=lambda rate: by_rate[rate])
    if best not in (rates[0], rates[-1]):
        return None
    neighbour = rates[1] if best == rates[0] else rates[-2]
    further = float(f"{best * best / neighbour:.3g}")
    return further if further <= 1 else None
