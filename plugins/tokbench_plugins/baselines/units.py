"""The three encodings of Unicode as tokenizers: every code unit is a token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tokbench.tokenizers.batch import check_id, offsets_of
from tokbench.tokenizers.contract import Encoded, Offsets

_TWO_BYTES, _THREE_BYTES = 0x80, 0x800  # the first characters that have two and three bytes in UTF-8
_SURROGATES, _SURROGATES_END = 0xD800, 0xE000  # halves of a character beyond U+FFFF


class _Units:
    """One token per code unit of ``codec``; numpy reads one as ``dtype``."""

    codec: ClassVar[str]
    dtype: ClassVar[str]
    vocab_size: ClassVar[int]
    special_ids: ClassVar[Mapping[str, int]] = MappingProxyType({})
    lossless: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True

    def encode(self, text: str, /) -> list[int]:
        ids: list[int] = np.frombuffer(text.encode(self.codec), dtype=self.dtype).tolist()
        return ids

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        buffers = [text.encode(self.codec) for text in texts]
        ids = np.frombuffer(b"".join(buffers), dtype=self.dtype).astype(np.uint32)
        return Encoded(ids, offsets_of(map(len, buffers), len(buffers)) // np.dtype(self.dtype).itemsize)

    def decode(self, ids: Sequence[int], /) -> str:
        return str(self._units(np.asarray(ids)), self.codec, "replace")

    def _units(self, ids: NDArray[Any]) -> memoryview:
        if ids.size and (ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= self.vocab_size):
            wrong = next(i for i in ids.flat if not isinstance(i, int | np.integer) or not 0 <= i < self.vocab_size)
            raise ValueError(f"id {wrong!r} is not in the vocabulary of {self.vocab_size} tokens")
        return ids.astype(self.dtype).data.cast("B")

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        data = self._units(encoded.ids)
        ends = (encoded.offsets * np.dtype(self.dtype).itemsize).tolist()
        return [str(data[start:end], self.codec, "replace") for start, end in pairwise(ends)]


class Utf8Bytes(_Units):
    """256 ids.

    >>> Utf8Bytes().encode("né")
    [110, 195, 169]
    """

    codec = "utf-8"
    dtype = "u1"
    vocab_size = 256

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        return bytes([token_id])


class Utf16Units(_Units):
    """65,536 ids, as Java, JavaScript and Windows count the length of a text.

    Characters beyond U+FFFF are two units without UTF-8 bytes: there are offsets, but no ``token_bytes``.

    >>> Utf16Units().encode("a😀")
    [97, 55357, 56832]
    """

    codec = "utf-16-le"
    dtype = "<u2"
    vocab_size = 1 << 16

    def encode_with_offsets(self, text: str, /) -> Offsets:
        """Encode a text, and say where each unit ends; half a character is 2 of its 4 bytes.

        >>> Utf16Units().encode_with_offsets("a😀")
        Offsets(ids=[97, 55357, 56832], ends=[1, 3, 5])
        """
        units = np.array(self.encode(text), dtype=np.int64)
        half = (units >= _SURROGATES) & (units < _SURROGATES_END)
        lengths = 1 + (units >= _TWO_BYTES) + ((units >= _THREE_BYTES) & ~half)
        return Offsets(units.tolist(), np.cumsum(lengths).tolist())


class Utf32Units(_Units):
    """1,114,112 ids, one for every code point.

    >>> Utf32Units().encode("a😀")
    [97, 128512]
    """

    codec = "utf-32-le"
    dtype = "<u4"
    vocab_size = 0x110000

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        return chr(token_id).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
