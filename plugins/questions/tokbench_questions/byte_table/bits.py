"""Bits per byte from the losses of single tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tokbench.plugin import InputError
from tokbench_questions.byte_table.table import ByteTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def bits_per_byte(
    loss_nats: ArrayLike, ids: ArrayLike, table: ByteTable | ArrayLike, *, documents: int | None = None
) -> float:
    """Return the bits per byte of predicted tokens: Σ loss / ln 2 / Σ bytes, both sums over the same tokens.

    A mean is refused, because a mean of batch means weighs tokens unequally. Special ids, such as the end of a
    document, have a loss and 0 bytes. A document's first token counts as predicted, after the beginning or the end of
    another document; without its loss leave its id out, too.

    Args:
        loss_nats: the loss of each predicted token (``reduction="none"``), in nats.
        ids: the predicted tokens, in the same shape; negative ids, such as -100, are left out with their losses.
        table: from :func:`byte_table`, or the array of its file.
        documents: how many documents begin among the ids; needed where the table has a ``prefix``.

    Raises:
        InputError: a mean instead of losses, other shapes, ids beyond the table, no bytes, or no ``documents``.

    "née" in bytes and an end with 0 bytes (id 256): four losses of 2, 3, 3 and 4 bits are 12 bits for 4 bytes, and the
    end's loss of 1 bit makes 13.

    >>> sizes = [1] * 256 + [0]
    >>> losses = [bits * math.log(2) for bits in (2, 3, 3, 4, 1)]
    >>> round(bits_per_byte(losses, [110, 195, 169, 101, 256], sizes), 9)
    3.25
    """
    losses, targets = np.asarray(loss_nats, dtype=np.float64), np.asarray(ids)
    if losses.shape != targets.shape:
        raise InputError(
            f"the losses have the shape {losses.shape}, the ids {targets.shape}; give the loss of each id, not a mean"
        )
    prefix = table.prefix if isinstance(table, ByteTable) else 0
    sizes = np.asarray(table.sizes if isinstance(table, ByteTable) else table)
    kept = targets >= 0
    if (highest := int(targets.max(initial=0))) >= len(sizes):
        raise InputError(f"id {highest} is not in the table of {len(sizes)} ids; make the table with --size")
    if not np.isfinite(losses[kept]).all():
        raise InputError("a loss is not a finite number; leave its id out with -100")
    if prefix and documents is None:
        raise InputError(f"each document's ids have {prefix} byte that its text does not; give documents=")
    n_bytes = int(sizes[targets[kept]].sum(dtype=np.int64)) - prefix * (documents or 0)
    if n_bytes <= 0:
        raise InputError("the ids have no bytes of text; give ids of ordinary text")
    return float(losses[kept].sum() / math.log(2) / n_bytes)
