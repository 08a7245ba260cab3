"""Ids to text: the bytes of each id, joined and read as UTF-8."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from tokbench.tokenizers.contract import Encoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AT_ONCE: Final = 1 << 20
"""Ids looked up together: a reference to its bytes takes more memory than an id."""


class Decoder:
    r"""Decodes ids one document at a time or in bulk."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        # A dict, not a list: the lookup fails for every id that does not exist, negative ones too.
        self._bytes_of = dict(enumerate(tokens))

    def __call__(self, ids: Sequence[int]) -> str:
        return self.join(ids).decode("utf-8", errors="replace")

    def join(self, ids: Sequence[int]) -> bytes:
        try:
            return b"".join(map(self._bytes_of.__getitem__, ids))
        except KeyError as error:
            raise ValueError(f"id {error} is not in the vocabulary of {len(self._bytes_of)} tokens") from None

    def token_bytes(self, token_id: int) -> bytes:
        return self._bytes_of[token_id] if token_id in self._bytes_of else self.join([token_id])

    def decode_batch(self, encoded: Encoded) -> list[str]:
        self.join([int(encoded.ids.max(initial=0))])  # raises for an id that does not exist
        if len(encoded.ids) > _AT_ONCE:
            documents = (self._join_pieces(encoded.ids[start:end]) for start, end in pairwise(encoded.offsets.tolist()))
        else:
            tokens = self._table[encoded.ids].tolist()  # joined twice as fast as an array of objects
            documents = (b"".join(tokens[start:end]) for start, end in pairwise(encoded.offsets.tolist()))
        return [document.decode("utf-8", errors="replace") for document in documents]

    def _join_pieces(self, ids: NDArray[Any]) -> bytes:
        return b"".join(b"".join(self._table[ids[at : at + _AT_ONCE]].tolist()) for at in range(0, len(ids), _AT_ONCE))

    @cached_property
    def _table(self) -> NDArray[Any]:
        import numpy as np

        return np.array([*self._bytes_of.values()], dtype=object)
