"""Ids to text: the bytes of each id, joined and read as UTF-8."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tokbench.foundation.jit import compiles, has_numba
from tokbench.tokenizers.contract import Encoded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORTH_COMPILED: Final = 1 << 23  # ids in all; below, numba takes longer to get ready


class Decoder:
    r"""Decodes ids one document at a time or in bulk."""

    def __init__(self, tokens: Sequence[bytes], *, compiled: bool = True) -> None:
        # A dict, not a list: the lookup fails for every id that does not exist, negative ones too.
        self._bytes_of = dict(enumerate(tokens))
        self._compiled = compiled
        self._decoded = 0

    def __call__(self, ids: Sequence[int]) -> str:
        return self.join(ids).decode("utf-8", errors="replace")

    def join(self, ids: Sequence[int]) -> bytes:
        try:
            return b"".join(map(self._bytes_of.__getitem__, ids))
        except KeyError as error:
            raise ValueError(f"id {error} is not in the vocabulary of {len(self._bytes_of)} tokens") from None

    def token_bytes(self, token_id: int) -> bytes:
        return self.join([token_id])

    def decode_batch(self, encoded: Encoded) -> list[str]:
        self._decoded += len(encoded.ids)
        worth = self._decoded >= _WORTH_COMPILED or compiles()
        if not (self._compiled and worth and has_numba()):
            ids: list[int] = encoded.ids.tolist()
            return [self(ids[start:end]) for start, end in pairwise(encoded.offsets.tolist())]
        data, ends = self._join_compiled(encoded.ids, encoded.offsets)
        return [str(data[start:end], "utf-8", "replace") for start, end in pairwise(ends)]

    def _join_compiled(self, ids: NDArray[np.uint32], offsets: NDArray[np.int64]) -> tuple[memoryview, list[int]]:
        import numpy as np

        from tokbench_plugins.bpe.compiled.decode import join_tokens

        if len(ids) and (highest := int(ids.max())) >= len(self._bytes_of):
            self.join([highest])  # raises
        ids = np.ascontiguousarray(ids).view()
        ids.flags.writeable = False  # as a run hands them over: arrays of another sort are compiled for once more
        out, ends = join_tokens(ids, np.array(offsets), self._flat, self._starts)
        return memoryview(out), ends.tolist()

    @cached_property
    def _starts(self) -> NDArray[np.uint64]:
        import numpy as np

        return np.cumsum([0, *map(len, self._bytes_of.values())], dtype=np.uint64)

    @cached_property
    def _flat(self) -> NDArray[np.uint8]:
        import numpy as np

        return np.frombuffer(bytearray().join([*self._bytes_of.values(), bytes(8)]), np.uint8)
