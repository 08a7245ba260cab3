"""Documents as windows of one length.

A document is BOS w_1 ... w_n EOS. BOS is never predicted; each token and EOS is predicted once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Encoded
from tokbench_models.language_models.contract import EncodedPart

Ints = NDArray[np.int64]


class Windows(NamedTuple):
    """Text as windows: int32[n, w] each, -1 in ``targets`` where nothing is predicted, and in ``document`` for none."""

    inputs: NDArray[np.int32]
    targets: NDArray[np.int32]
    document: NDArray[np.int32]


def training_windows(text: Encoded, n_ids: int, window: int) -> Windows:
    """Cut consecutive documents into windows; ids are below ``n_ids``, which is EOS, and BOS is the next one.

    >>> text = Encoded(np.array([5, 6, 7], dtype=np.uint32), np.array([0, 2, 3]))
    >>> windows = training_windows(text, n_ids=10, window=4)  # 11 5 6 10, 11 7 10
    >>> windows.inputs.tolist(), windows.targets.tolist()
    ([[11, 5, 6, 10], [11, 7, 10, 11]], [[5, 6, 10, -1], [7, 10, -1, -1]])
    """
    stream, document = _stream(text, n_ids)
    inputs, targets = stream, np.append(stream[1:], n_ids + 1)
    targets = np.where(targets == n_ids + 1, -1, targets)
    fill = -len(stream) % window
    shape = (-1, window)
    return Windows(
        np.append(inputs, np.full(fill, n_ids + 1)).reshape(shape).astype(np.int32),
        np.append(targets, np.full(fill, -1)).reshape(shape).astype(np.int32),
        np.append(document, np.full(fill, -1)).reshape(shape).astype(np.int32),
    )


def scoring_windows(text: Encoded, n_ids: int, window: int) -> Windows:
    """Cut each document by itself into windows that overlap by half, so that a token has half a window before it.

    >>> text = Encoded(np.array([1, 2, 3, 4, 5], dtype=np.uint32), np.array([0, 5]))
    >>> windows = scoring_windows(text, n_ids=10, window=4)
    >>> windows.inputs.tolist(), windows.targets.tolist()
    ([[11, 1, 2, 3], [2, 3, 4, 5]], [[1, 2, 3, 4], [-1, -1, 5, 10]])
    """
    stream, document = _stream(text, n_ids)
    lengths = np.diff(text.offsets) + 1  # what is predicted: the tokens and EOS
    firsts = np.cumsum(lengths + 1) - (lengths + 1)
    stride = window - window // 2
    counts = 1 + np.maximum(0, -((window - lengths) // stride))  # after the first window, each adds a stride
    of_window = np.repeat(np.arange(len(lengths)), counts)
    place = np.arange(len(of_window)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = place * stride
    at = start[:, None] + np.arange(window)
    inside = at < lengths[of_window][:, None]
    absolute = np.where(inside, firsts[of_window][:, None] + at, 0)
    new = inside & ((place == 0)[:, None] | (np.arange(window) >= window - stride)[None, :])
    return Windows(
        np.where(inside, stream[absolute], n_ids + 1).astype(np.int32),
        np.where(new, stream[np.minimum(absolute + 1, len(stream) - 1)], -1).astype(np.int32),
        np.where(inside, document[absolute], -1).astype(np.int32),
    )


def _stream(text: Encoded, n_ids: int) -> tuple[Ints, Ints]:
    lengths = np.diff(text.offsets).astype(np.int64) + 2
    ends = np.cumsum(lengths)
    stream = np.full(int(ends[-1]), n_ids + 1, dtype=np.int64)
    stream[ends - 1] = n_ids
    inside = np.ones(len(stream), dtype=np.bool_)
    inside[ends - 1] = inside[ends - lengths] = False
    stream[inside] = text.ids
    return stream, np.repeat(np.arange(len(lengths)), lengths)


def batches(windows: Windows, batch: int) -> list[Windows]:
    """Return windows in batches, filled up with windows that predict nothing.

    >>> text = Encoded(np.array([5, 6, 7], dtype=np.uint32), np.array([0, 2, 3]))
    >>> [some.targets.tolist() for some in batches(training_windows(text, n_ids=10, window=8), 2)]
    [[[5, 6, 10, -1, 7, 10, -1, -1], [-1, -1, -1, -1, -1, -1, -1, -1]]]
    """
    some = ((0, -len(windows.inputs) % batch), (0, 0))
    fills = (0, -1, -1)
    whole = [np.pad(array, some, constant_values=fill) for array, fill in zip(windows, fills, strict=True)]
    return [Windows(*(array[start : start + batch] for array in whole)) for start in range(0, len(whole[0]), batch)]


def documents(part: EncodedPart, chosen: Ints) -> EncodedPart:
    """Return some documents, by their numbers.

    >>> encoded = Encoded(np.array([5, 6, 7], dtype=np.uint32), np.array([0, 2, 3]))
    >>> some = documents(EncodedPart(encoded, np.array([20, 10])), np.array([1]))
    >>> some.encoded.ids.tolist(), some.encoded.offsets.tolist(), some.n_bytes.tolist()
    ([7], [0, 1], [10])
    """
    ids, offsets = part.encoded
    spans = [ids[offsets[k] : offsets[k + 1]] for k in chosen]
    lengths = [len(span) for span in spans]
    return EncodedPart(Encoded(np.concatenate(spans), np.concatenate([[0], np.cumsum(lengths)])), part.n_bytes[chosen])


def renumbered(*parts: EncodedPart) -> list[EncodedPart]:
    """Number the ids of some texts from 0 on, in their order, without gaps.

    >>> texts = [Encoded(np.array(ids, dtype=np.uint32), np.array([0, 2])) for ids in ([7, 3], [9, 7])]
    >>> one, two = (EncodedPart(text, np.array([2])) for text in texts)
    >>> [part.encoded.ids.tolist() for part in renumbered(one, two)]
    [[1, 0], [2, 1]]
    """
    seen = np.unique(np.concatenate([part.encoded.ids for part in parts]))
    return [
        EncodedPart(Encoded(np.searchsorted(seen, ids).astype(np.uint32), offsets), n_bytes)
        for (ids, offsets), n_bytes in parts
    ]
