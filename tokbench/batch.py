"""Many documents through one tokenizer, by its fastest path, with its answer checked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.tokenizer import DecodesBatch, Encoded, EncodesBatch, Tokenizer
from tokbench.errors import ContractError

__all__ = ["check_encoded", "decode_batch", "encode_batch", "flat"]


def encode_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> Encoded:
    """The ids of all texts: by the tokenizer's own batch call, else one by one.

    Raises:
        ContractError: ids that are not integers.

    >>> import tokbench
    >>> encode_batch(tokbench.load("utf8_bytes"), ["né", ""]).offsets.tolist()
    [0, 3, 3]
    """
    if isinstance(tokenizer, EncodesBatch):
        return tokenizer.encode_batch(texts)
    return flat([tokenizer.encode(text) for text in texts])


def flat(documents: Sequence[Sequence[int]]) -> Encoded:
    """Lists of ids as two flat arrays.

    Raises:
        ContractError: something in the lists is not an integer from 0 to 2**32 - 1.
    """
    offsets = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum([len(ids) for ids in documents], out=offsets[1:])
    try:
        ids = np.array([i for ids in documents for i in ids])
    except (ValueError, TypeError, OverflowError) as error:
        msg = f"encode must return integers: {error}"
        raise ContractError(msg) from error
    if not len(ids):
        return Encoded(np.empty(0, dtype=np.uint32), offsets)
    if ids.dtype.kind not in "iu":
        bad = next(i for ids in documents for i in ids if not isinstance(i, int | np.integer))
        msg = f"encode must return integers, but returned {bad!r}"
        raise ContractError(msg)
    if ids.min() < 0 or ids.max() >= 1 << 32:
        msg = f"encode returned id {ids.min() if ids.min() < 0 else ids.max()}, which is no id"
        raise ContractError(msg)
    return Encoded(ids.astype(np.uint32), offsets)


def decode_batch(tokenizer: Tokenizer, encoded: Encoded) -> list[str]:
    """The texts of all documents: by the tokenizer's own batch call, else one by one."""
    if isinstance(tokenizer, DecodesBatch):
        return tokenizer.decode_batch(encoded)
    ids = encoded.ids.tolist()
    ends = encoded.offsets.tolist()
    return [tokenizer.decode(ids[start:end]) for start, end in pairwise(ends)]


def check_encoded(encoded: Encoded, documents: int, vocab_size: int) -> None:
    """Refuse an answer that breaks sentence 2 of the contract, or whose arrays do not fit.

    Raises:
        ContractError: an id out of range, or offsets that do not cut ``ids`` into ``documents`` parts.
    """
    ids, offsets = encoded
    if len(offsets) != documents + 1 or offsets[0] != 0 or offsets[-1] != len(ids) or _falls(offsets):
        msg = f"encode_batch returned offsets that do not cut {len(ids)} ids into {documents} documents"
        raise ContractError(msg)
    if len(ids) and int(ids.max()) >= vocab_size:
        at = int(np.argmax(ids >= vocab_size))
        document = int(np.searchsorted(offsets, at, side="right")) - 1
        msg = f"encode returned id {int(ids[at])} in document {document}, but vocab_size is {vocab_size}"
        raise ContractError(msg)


def _falls(offsets: NDArray[np.int64]) -> bool:
    return bool(np.any(offsets[1:] < offsets[:-1]))
