"""Raw states as they are read from a file."""

from tokbench.results.blocks import RawState
from tokbench.results.states import RawStates


def as_written(raw):
    """Return what ``states.bin`` gives back of the raw state of a metric: plain JSON data, with lists for arrays."""
    return RawStates([RawState(tokenizer="t", corpus="c", group="g", family="f", state=raw)])[0].state
