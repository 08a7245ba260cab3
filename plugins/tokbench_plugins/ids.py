"""Ids that a vocabulary does not have are refused in the same words by every backend."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["check_id", "check_ids", "check_span"]


def check_id(token_id: int, vocab_size: int) -> None:
    """Refuse an id that is not in ``range(vocab_size)``.

    Raises:
        ValueError: it is not.

    >>> check_id(256, 256)
    Traceback (most recent call last):
    ValueError: id 256 is not in the vocabulary of 256 ids
    """
    if not 0 <= token_id < vocab_size:
        raise ValueError(f"id {token_id} is not in the vocabulary of {vocab_size} ids")


def check_span(lowest: int, highest: int, vocab_size: int) -> None:
    """The same of many ids, of which the lowest and the highest are known."""
    check_id(lowest, vocab_size)
    check_id(highest, vocab_size)


def check_ids(ids: Sequence[int], vocab_size: int) -> None:
    """The same of all ids of a document.

    >>> check_ids([0, 255], 256), check_ids([], 256)
    (None, None)
    """
    if len(ids):
        check_span(min(ids), max(ids), vocab_size)
