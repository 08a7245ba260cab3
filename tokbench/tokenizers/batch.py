"""Encoding and decoding of many documents by the fastest path, with checks."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import ContractError, shortened, shown
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.plain_values import plain
from tokbench.tokenizers.contract import (
    CountsTokens,
    DecodesBatch,
    Encoded,
    EncodesBatch,
    EncodesWithOffsets,
    HasTokenBytes,
    Tokenizer,
)

_MOST_IDS: Final = 1 << 32

_SPARSEST: Final = 64
_SHOWN: Final = 60
_LISTS: Final = frozenset({list, tuple, np.ndarray})


def encode_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> Encoded:
    """Encode by the tokenizer's own batch call, else one by one.

    Raises:
        ContractError: ids that are not integers.

    >>> import tokbench
    >>> encode_batch(tokbench.load("utf8_bytes"), ["né", ""]).offsets.tolist()
    [0, 3, 3]
    """
    if isinstance(tokenizer, EncodesBatch):
        encoded = tokenizer.encode_batch(texts)
        if not isinstance(encoded, Encoded):
            raise ContractError(f"encode_batch must return Encoded, but returned {shown(encoded)}")
        return encoded
    documents = [tokenizer.encode(text) for text in texts]
    if not set(map(type, documents)) <= _LISTS:
        documents = [plain(ids, list[int], "encode") for ids in documents]
    return from_lists(documents)


def count_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> NDArray[np.int64]:
    """Count by the tokenizer's own call, else by encoding.

    Raises:
        ContractError: it does not return a count for each text.
    """
    if not isinstance(tokenizer, CountsTokens):
        return np.diff(encode_batch(tokenizer, texts).offsets)
    counts = plain(tokenizer.count_batch(texts), list[int], "count_batch")
    if len(counts) != len(texts) or min(counts, default=0) < 0:
        raise ContractError(f"count_batch must return a number of tokens for each text, but returned {shown(counts)}")
    return np.array(counts, dtype=np.int64)


def from_lists(documents: Sequence[Sequence[int]]) -> Encoded:
    """Join lists of ids.

    Raises:
        ContractError: an item is not an integer from 0 to 2**32 - 1.
    """
    listed = list(chain.from_iterable(documents))
    try:
        ids = np.array(array("I", listed), dtype=np.uint32)
    except (TypeError, OverflowError):
        ids = None
    if ids is None or any(isinstance(listed[at], bool | np.bool_) for at in np.flatnonzero(ids <= 1).tolist()):
        listed = plain(listed, list[int], "encode")
        if wrong := [token for token in listed if not 0 <= token < _MOST_IDS]:
            raise ContractError(f"encode returned id {shortened(f'{wrong[0]}', _SHOWN)}, which is not an id")
        ids = np.array(listed, dtype=np.uint32)
    return Encoded(ids, offsets_of(map(len, documents), len(documents)))


def vocab_size_of(tokenizer: Tokenizer) -> int:
    """Return the size, or raise ContractError if it is not an integer from 1 to 2**32."""
    size: int = plain(tokenizer.vocab_size, int, "vocab_size")
    if not 1 <= size <= _MOST_IDS:
        raise ContractError(f"vocab_size is {shown(size)}, but must be an integer from 1 to 2**32")
    return size


def decode_batch(tokenizer: Tokenizer, encoded: Encoded) -> list[str]:
    """Decode by the tokenizer's own batch call, on read-only arrays, else one by one.

    Raises:
        ContractError: it does not return text.
    """
    if isinstance(tokenizer, DecodesBatch):
        given = Encoded(_read_only(encoded.ids), _read_only(encoded.offsets))
        member, texts = "decode_batch", tokenizer.decode_batch(given)
    else:
        ids, spans = encoded.ids.tolist(), pairwise(encoded.offsets.tolist())
        member, texts = "decode", [tokenizer.decode(ids[a:b]) for a, b in spans]
    return plain(texts, list[str], member)  # type: ignore[no-any-return]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = array.view()
    array.flags.writeable = False
    return array


def bytes_of(tokenizer: HasTokenBytes, ids: Iterable[int]) -> list[bytes]:
    """Return the bytes of ids, or raise ContractError if they are not bytes."""
    ids = list(ids)
    parts = [tokenizer.token_bytes(token) for token in ids]  # a StopIteration would end a map, and be no error
    if not set(map(type, parts)) <= {bytes}:
        parts = [plain(part, bytes, f"token_bytes({token})") for token, part in zip(ids, parts, strict=True)]
    return parts


def ends_of(tokenizer: EncodesWithOffsets, text: str) -> NDArray[np.int64]:
    """Return where each token ends, in bytes, or raise ContractError."""
    answer = tokenizer.encode_with_offsets(text)
    if not isinstance(answer, tuple) or len(answer) != 2:  # noqa: PLR2004 - the fields of Offsets
        raise ContractError(f"encode_with_offsets must return Offsets, but returned {shown(answer)}")
    ends = np.array(plain(answer[1], list[int], "the ends of encode_with_offsets"), dtype=np.int64)
    length = len(text.encode("utf-8", "replace"))
    if len(ends) and (ends[0] < 0 or ends[-1] > length or (np.diff(ends) < 0).any()):
        raise ContractError(f"encode_with_offsets returned ends that do not rise within the {length} bytes of the text")
    return ends


def fresh_copies(tokenizer: Tokenizer) -> Iterator[Tokenizer]:
    """Yield copies with own caches; the tokenizer itself if it cannot be copied."""
    packed = attempt(lambda: pickle.dumps(tokenizer, pickle.HIGHEST_PROTOCOL))
    while True:
        copy = packed if isinstance(packed, Failure) else attempt(lambda: pickle.loads(packed))  # noqa: S301 - made above
        yield tokenizer if isinstance(copy, Failure) else copy


def check_encoded(encoded: Encoded, documents: int, vocab_size: int) -> Encoded:
    """Return arrays of uint32 and int64, checked against sentence 2 of the contract.

    Raises:
        ContractError: arrays that are not flat or not of integers, an id out of range, or wrong offsets.
    """
    ids, offsets = encoded
    for name, part in (("ids", ids), ("offsets", offsets)):
        if not isinstance(part, np.ndarray) or part.ndim != 1 or (part.dtype.kind not in "iu" and len(part)):
            kind = f"an array of {part.dtype}" if isinstance(part, np.ndarray) else type(part).__name__
            raise ContractError(f"encode_batch must return {name} as a flat array of integers, not {kind}")
    if (
        len(offsets) != documents + 1
        or offsets[0] != 0
        or offsets[-1] != len(ids)
        or (offsets[1:] < offsets[:-1]).any()
    ):
        raise ContractError(f"encode_batch returned offsets that do not cut {len(ids)} ids into {documents} documents")
    signed = ids.dtype.kind == "i"
    if len(ids) and (int(ids.max()) >= vocab_size or (signed and int(ids.min()) < 0)):
        at = int(np.argmax((ids >= vocab_size) | (ids < 0)))
        document = int(np.searchsorted(offsets, at, side="right")) - 1
        raise ContractError(f"encode returned id {int(ids[at])} in document {document}, but vocab_size is {vocab_size}")
    return Encoded(np.asarray(ids).astype(np.uint32, copy=False), np.asarray(offsets).astype(np.int64, copy=False))


def offsets_of(lengths: Iterable[int], documents: int) -> NDArray[np.int64]:
    """Return where each document begins, and where the last one ends.

    >>> offsets_of([2, 0, 3], 3).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(documents + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=documents), out=offsets[1:])
    return offsets


def from_buffers(buffers: Sequence[bytes]) -> Encoded:
    r"""Join an engine's buffers, 4 bytes an id, little-endian.

    >>> ids, offsets = from_buffers([b"\x07\0\0\0\x08\0\0\0", b"", b"\x09\0\0\0"])
    >>> ids.tolist(), offsets.tolist()
    ([7, 8, 9], [0, 2, 2, 3])
    """
    ids = np.frombuffer(b"".join(buffers), dtype="<u4")
    return Encoded(ids, offsets_of(map(len, buffers), len(buffers)) // 4)


def check_id(token_id: int, vocab_size: int) -> None:
    """Raise ValueError for an id that is not in ``range(vocab_size)``."""
    if not 0 <= token_id < vocab_size:
        raise ValueError(f"id {token_id} is not in the vocabulary of {vocab_size} tokens")


def check_span(lowest: int, highest: int, vocab_size: int) -> None:
    """Check many ids by their lowest and highest."""
    check_id(lowest, vocab_size)
    check_id(highest, vocab_size)


def check_ids(ids: Sequence[int], vocab_size: int) -> None:
    """Check each id as :func:`check_id` does."""
    if len(ids):
        check_span(min(ids), max(ids), vocab_size)


def check_highest(highest: int, tokens: int) -> None:
    """Raise ValueError for an id beyond 64 times the number of tokens: memory goes by the highest.

    >>> check_highest(1 << 32, 2)
    Traceback (most recent call last):
    ValueError: id 4,294,967,296 is beyond 64 times its 2 tokens; is the file damaged?
    """
    if highest >= _SPARSEST * tokens > 0:
        raise ValueError(f"id {highest:,} is beyond {_SPARSEST} times its {tokens:,} tokens; is the file damaged?")


def valid_unicode(text: str) -> str:
    r"""Replace lone surrogates by U+FFFD, as tiktoken does: the round trip is lossy.

    >>> valid_unicode("a\ud83d b") == "a\ufffd b"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
