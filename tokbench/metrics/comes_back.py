"""Which documents a tokenizer gives back: what is lost must not pass for cheap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.tokenizer import HasUnknown
from tokbench.metrics.encoded_shard import EncodedShard

__all__ = ["comes_back"]


def comes_back(encoded: EncodedShard) -> NDArray[np.bool_]:
    """Return bool[d], the documents that come back exactly and have no unknown token."""
    unk_id = encoded.tokenizer.unk_id if isinstance(encoded.tokenizer, HasUnknown) else None
    return encoded.exact if unk_id is None else encoded.exact & (encoded.count_ids(unk_id) == 0)
