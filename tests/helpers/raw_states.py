"""States of metrics: as they are read from a file, and what they hold."""

import numpy as np

from tokbench.measuring.sums import Sums
from tokbench.measuring.token_counts import TokenCounts
from tokbench.metrics.vocabulary import Frequencies
from tokbench.results.blocks import RawState
from tokbench.results.states import RawStates


def as_written(raw):
    """Return what ``states.jsonl.gz`` gives back of the raw state of a metric: plain JSON data, with lists for arrays."""
    return RawStates([RawState(tokenizer="t", corpus="c", group="g", family="f", state=raw)])[0].state


def content(state):
    """Return what a state holds, whatever the order in which its shards were added."""
    if isinstance(state, Sums):
        return as_written(state.raw())
    if isinstance(state, TokenCounts | Frequencies):
        return [state.documents, *content(tuple(state.joined()))]
    if hasattr(state, "drawn"):
        return content((state.drawn().by_hash(), state.windows))
    if isinstance(state, dict):
        return sorted((str(key), content(value)) for key, value in state.items())
    if isinstance(state, tuple):
        return list(map(content, state))
    return (
        state.tolist()
        if isinstance(state, np.ndarray)
        else str(sorted(state) if isinstance(state, frozenset) else state)
    )
