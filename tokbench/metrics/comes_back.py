"""Which documents a tokenizer gives back: what is lost must not pass for cheap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.tokenizer import HasUnknown
from tokbench.metrics.encoded_shard import View

__all__ = ["comes_back"]


def comes_back(view: View) -> NDArray[np.bool_]:
    """bool[d], the documents that come back exactly and have no unknown token."""
    unk_id = view.tokenizer.unk_id if isinstance(view.tokenizer, HasUnknown) else None
    return view.exact if unk_id is None else view.exact & (view.count_ids(unk_id) == 0)
