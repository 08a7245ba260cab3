"""A trained BPE as tokbench's :class:`~tokbench.Tokenizer`, with every capability it can honestly have."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from tokbench import Encoded
from tokbench_plugins.bpe.artefact import FILE_SUFFIX, write_artefact
from tokbench_plugins.bpe.encode import Encoder
from tokbench_plugins.bpe.vocabulary import Pair, check_merges, token_bytes_of

__all__ = ["BPETokenizer"]


class BPETokenizer:
    r"""Byte-level BPE: every text can be encoded, and decodes to itself.

    Capabilities: batches both ways, bytes of an id, saving. Lone surrogates, which are no Unicode
    text, are encoded as U+FFFD.

    Args:
        merges: the merges in order of rank.
        pattern: the pre-tokenization split, a name or a regular expression; ``None`` for naive BPE.

    Raises:
        ValueError: the merges contradict each other, or ``pattern`` is invalid.

    >>> tokenizer = BPETokenizer([(104, 105), (256, 33)], pattern=None)
    >>> tokenizer.encode("hi! é")
    [257, 32, 195, 169]
    >>> tokenizer.decode([257, 32, 195])
    'hi! \ufffd'
    >>> tokenizer.vocab_size
    258
    """

    def __init__(self, merges: Iterable[Pair], pattern: str | None = None) -> None:
        self._merges = tuple(merges)
        check_merges(self._merges)
        self._encoder = Encoder(self._merges, pattern)
        # A dict, not a list: ids that do not exist, negative ones too, are found out by the lookup.
        self._bytes_of = dict(enumerate(token_bytes_of(self._merges)))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: what it was made from; the caches stay behind."""
        return BPETokenizer, (self._merges, self.pattern)

    @property
    def vocab_size(self) -> int:
        """Number of ids that exist: 256 bytes and the merges; less than asked for if training ran dry."""
        return len(self._bytes_of)

    @property
    def merges(self) -> tuple[Pair, ...]:
        """Pairs (left id, right id) in order of rank; entry ``r`` makes id ``256 + r``.

        The first ``v - 256`` of them are exactly what training to ``v`` ids gives.
        """
        return self._merges

    @property
    def pattern(self) -> str | None:
        """The regular expression of the split, ``None`` for naive BPE."""
        return self._encoder.split.pattern

    @property
    def file_suffix(self) -> str:
        """What the name of a saved file ends in."""
        return FILE_SUFFIX

    def encode(self, text: str, /) -> list[int]:
        """The ids of ordinary text; there are no special tokens."""
        return self._encoder(text)

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        """The ids of all texts in two arrays.

        >>> ids, offsets = BPETokenizer([(104, 105)]).encode_batch(["hi!", "", "ohi"])
        >>> ids.tolist(), offsets.tolist()
        ([256, 33, 111, 256], [0, 2, 2, 4])
        """
        import numpy as np

        ids = array("I")
        lengths = []
        for text in texts:
            encoded = self._encoder(text)
            ids.extend(encoded)
            lengths.append(len(encoded))
        offsets = np.array(list(accumulate(lengths, initial=0)), dtype=np.int64)
        return Encoded(np.array(ids, dtype=np.uint32), offsets)

    def token_bytes(self, token_id: int, /) -> bytes:
        """The bytes of one id.

        Raises:
            ValueError: there is no such id.
        """
        return self._join([token_id])

    def decode(self, ids: Sequence[int], /) -> str:
        """The text of ids; bytes that are not UTF-8 become U+FFFD.

        Raises:
            ValueError: one of the ids does not exist.
        """
        return self._join(ids).decode("utf-8", errors="replace")

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        """The texts of all documents.

        Raises:
            ValueError: one of the ids does not exist.

        >>> tokenizer = BPETokenizer([(104, 105)])
        >>> tokenizer.decode_batch(tokenizer.encode_batch(["hi!", "", "ohi"]))
        ['hi!', '', 'ohi']
        """
        ids = encoded.ids.tolist()
        ends = encoded.offsets.tolist()
        return [self.decode(ids[start:end]) for start, end in pairwise(ends)]

    def save(self, path: Path, /) -> None:
        """Write the artefact; see :func:`tokbench_plugins.bpe.artefact.write_artefact`."""
        write_artefact(path, self._merges, self.pattern)

    def _join(self, ids: Sequence[int]) -> bytes:
        try:
            return b"".join(map(self._bytes_of.__getitem__, ids))
        except KeyError as error:
            raise ValueError(f"id {error} is not in the vocabulary of {self.vocab_size} ids") from None
