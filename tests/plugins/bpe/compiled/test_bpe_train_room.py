"""The compiled trainer at the edge of its arrays: it merges where all fits, and asks for more where one entry would not."""

import numpy as np
import pytest

from tokbench_plugins.bpe.compiled import train
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.pairs import ARENA, MADE, PAIRS, fill_table

CHUNKS = {"1ab2": 1, "3ab4": 1}
"""Five pairs at six positions; each neighbour of 'ab' is another one, so that the first merge makes four pairs."""
PAIRS_BEFORE, PAIRS_AFTER = 5, 9
POSITIONS, MOST_POSITIONS = 6, 6 + 4 + 4  # those of new pairs, and the neighbours that are noted behind them


def first_merge(**sizes):
    """Try the first merge with arrays of these sizes, and one more entry of each, which must stay as it is."""
    text = train._laid_out(Counts.of(CHUNKS), 257)
    train.index_pairs(text)
    assert (text.state[PAIRS], text.state[ARENA]) == (PAIRS_BEFORE, POSITIONS)
    whole = {name: np.full((size + 1, *getattr(text, name).shape[1:]), -7, np.int64) for name, size in sizes.items()}
    whole = {name: array.astype(getattr(text, name).dtype) for name, array in whole.items()}
    for name, array in whole.items():
        array[: sizes[name]] = getattr(text, name)[: sizes[name]]
    if "table" in whole:
        whole["table"][:-1] = -1
        fill_table(text.pairs, PAIRS_BEFORE, whole["table"][:-1])
    text = text._replace(**{name: array[:-1] for name, array in whole.items()})
    outcome = train.merge_up_to(text, 257, smallest=False)
    assert all((array[-1] == -7).all() for array in whole.values())
    return outcome, int(text.state[MADE]) - 256, int(text.state[PAIRS])


@pytest.mark.parametrize(
    ("sizes", "outcome"),
    [
        ({"pairs": PAIRS_AFTER}, train.DONE),
        ({"pairs": PAIRS_AFTER - 1}, train.PAIRS_FULL),
        ({"arena": MOST_POSITIONS}, train.DONE),
        ({"arena": MOST_POSITIONS - 1}, train.ARENA_FULL),
        ({"table": 32}, train.DONE),
        ({"table": 16}, train.TABLE_FULL),
    ],
)
def test_a_merge_needs_room_for_all_it_makes(sizes, outcome):
    done = outcome == train.DONE
    assert first_merge(**sizes) == (outcome, int(done), PAIRS_AFTER if done else PAIRS_BEFORE)
