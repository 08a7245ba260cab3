"""The vocabulary of a BPE: the bytes of each id, and the merges that make one id of two.

In a vocabulary trained here ids 0 to 255 are the bytes, and the merge of rank ``r`` makes id ``256 + r``. Published
vocabularies shuffle the bytes, leave gaps, or come as bare ranks from which the merges are recovered.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

Pair = tuple[int, int]
"""Two neighbouring ids: (left, right)."""

Merge = tuple[int, int, int]
"""Two neighbouring ids, and the id that replaces them: (left, right, made)."""

FIRST_MERGE: Final = 256
"""The id that the first merge of a trained vocabulary makes."""


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a byte-level BPE and the merges that build them.

    >>> vocabulary = Vocabulary.trained([(104, 105), (256, 33)])
    >>> len(vocabulary.tokens), vocabulary.tokens[257], vocabulary.merges
    (258, b'hi!', ((104, 105, 256), (256, 33, 257)))
    """

    tokens: tuple[bytes, ...]
    """The bytes of each id; ``b""`` for an unused id."""

    byte_ids: tuple[int, ...]
    """The id of each of the 256 bytes."""

    merges: tuple[Merge, ...]
    """(left id, right id, made id) in order of rank."""

    whole_chunks: frozenset[int] = frozenset()
    """Ids that no merge builds, for chunks of exactly their bytes, before any merge. Trained vocabularies have none."""

    @classmethod
    def trained(cls, pairs: Iterable[Pair]) -> Vocabulary:
        """Make the vocabulary of trained merges: ids 0 to 255 are the bytes, merge ``r`` makes id ``256 + r``."""
        pairs = tuple(pairs)
        check_merges(pairs)
        merges = tuple((left, right, FIRST_MERGE + rank) for rank, (left, right) in enumerate(pairs))
        return cls(tuple(token_bytes_of(pairs)), tuple(range(FIRST_MERGE)), merges)

    @property
    def is_trained(self) -> bool:
        """True if ids follow ranks: bytes first, then one id per merge."""
        return self.byte_ids == tuple(range(FIRST_MERGE)) and all(
            made == FIRST_MERGE + rank for rank, (_, _, made) in enumerate(self.merges)
        )

    @property
    def empty_id(self) -> int | None:
        """The last id, if it is unused; files name it with an empty token."""
        return None if self.tokens[-1] else len(self.tokens) - 1

    @property
    def ranks(self) -> dict[bytes, int]:
        """The id of each token by its bytes, gaps left out; of two ids with the same bytes, the lower."""
        ranks: dict[bytes, int] = {}
        for token_id, token in enumerate(self.tokens):
            if token:
                ranks.setdefault(token, token_id)
        return ranks


def missing_byte(known: Container[bytes]) -> int | None:
    """Return the first byte without a token, or ``None`` for a whole byte-level vocabulary."""
    return next((byte for byte in range(FIRST_MERGE) if bytes([byte]) not in known), None)


def check_bytes(known: Container[bytes]) -> None:
    """Refuse a vocabulary in which a byte has no token.

    >>> check_bytes({b"a", b"b"})
    Traceback (most recent call last):
    ValueError: no token for the byte 0x00: not a whole byte-level vocabulary; get the file again
    """
    if (missing := missing_byte(known)) is not None:
        raise ValueError(
            f"no token for the byte 0x{missing:02x}: not a whole byte-level vocabulary; get the file again"
        )


def token_bytes_of(merges: Sequence[Pair]) -> list[bytes]:
    """Return the bytes of every id; entry ``i`` belongs to id ``i``.

    Two ids of a *trained* vocabulary never have the same bytes, because the same bytes are always merged the same way.

    >>> tokens = token_bytes_of([(104, 105), (256, 33)])
    >>> tokens[104], tokens[256], tokens[257]
    (b'h', b'hi', b'hi!')
    """
    tokens = [bytes([byte]) for byte in range(FIRST_MERGE)]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    return tokens


def check_merges(merges: Sequence[Pair]) -> None:
    """Refuse a list of merges that no trainer can have made.

    >>> check_merges([(104, 105), (256, 33)])
    >>> check_merges([(104, 105), (258, 33)])
    Traceback (most recent call last):
    ValueError: merge 1 makes id 257 from (258, 33), but only ids below 257 exist by then
    """
    seen: dict[Pair, int] = {}
    for rank, pair in enumerate(merges):
        made = FIRST_MERGE + rank
        if min(pair) < 0 or max(pair) >= made:
            raise ValueError(f"merge {rank} makes id {made} from {pair}, but only ids below {made} exist by then")
        if seen.setdefault(pair, rank) != rank:
            raise ValueError(f"merge {rank} repeats merge {seen[pair]}: {pair}")
