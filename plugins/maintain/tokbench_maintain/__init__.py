"""Pins and the leaderboard: for those who keep tokenizers and publish results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench_maintain.leaderboards.places import Leaderboard


def leaderboard(runs: Sequence[str | Path], metrics: Sequence[str] = ()) -> Leaderboard:
    """Return the leaderboard of some runs; ``leaderboard(paths).frame`` is a table with a row for each number.

    Args:
        runs: folders of runs, or their ``results.json``.
        metrics: ids of metrics; empty for all of which a direction is better.

    Raises:
        ResultsError: a run has no results, or they are damaged.
        InputError: no run has such a metric.
    """
    from tokbench.results.model import NamedRun
    from tokbench_maintain.leaderboards.places import leaderboard as board_of

    return board_of([NamedRun.read(path) for path in runs], metrics)
