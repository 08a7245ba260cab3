"""What the ids of a BPE vocabulary stand for, and how they are made of each other.

In a vocabulary trained here ids 0 to 255 are the bytes themselves, and the merge of rank ``r`` makes
id ``256 + r``: the merges, in order, are all there is to know, and :func:`token_bytes_of` spells every id
out. Other people's vocabularies shuffle the bytes, leave gaps, or come as bare ranks from which the merges
have to be recovered. :class:`Vocabulary` holds either kind; encoders know nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

__all__ = ["FIRST_MERGE", "Merge", "Pair", "Vocabulary", "check_merges", "token_bytes_of"]

Pair = tuple[int, int]
"""Two ids that stand side by side: (left, right)."""

Merge = tuple[int, int, int]
"""Two ids that stand side by side, and the id that replaces them: (left, right, made)."""

FIRST_MERGE: Final = 256
"""The id that the first merge of a trained vocabulary makes: as many as there are bytes."""

_HIGHEST: Final = (1 << 24) - 1  # gaps take memory, and a damaged file may say anything


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a byte-level BPE and the merges that build them.

    Attributes:
        tokens: the bytes of each id; ``b""`` for an id that is not used.
        byte_ids: for each of the 256 bytes, the id that stands for it alone.
        merges: (left id, right id, made id) in order of rank: the first is preferred to all others.
        whole_chunks: ids that no merge builds; they are given to a chunk of exactly their bytes, before
            any merge is tried. Empty for every vocabulary that was trained by merging.

    Raises:
        ValueError: a byte has no id of its own, a merge does not make the bytes of its two halves, or
            a pair is merged twice.

    >>> vocabulary = Vocabulary.trained([(104, 105), (256, 33)])
    >>> len(vocabulary.tokens), vocabulary.tokens[257], vocabulary.merges
    (258, b'hi!', ((104, 105, 256), (256, 33, 257)))
    """

    tokens: tuple[bytes, ...]
    byte_ids: tuple[int, ...]
    merges: tuple[Merge, ...]
    whole_chunks: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        size = len(self.tokens)
        for byte, token_id in enumerate(self.byte_ids):
            if not 0 <= token_id < size or self.tokens[token_id] != bytes([byte]):
                raise ValueError(f"byte 0x{byte:02x} has id {token_id}, which does not stand for it")
        if len(self.byte_ids) != FIRST_MERGE:
            raise ValueError(f"{len(self.byte_ids)} byte ids instead of {FIRST_MERGE}")
        ranks: dict[Pair, int] = {}
        for rank, (left, right, made) in enumerate(self.merges):
            if min(left, right, made) < 0 or max(left, right, made) >= size:
                raise ValueError(f"merge {rank} makes id {made} from {(left, right)}, but there are {size} ids")
            if not self.tokens[left] or not self.tokens[right]:
                raise ValueError(f"merge {rank} makes id {made} from {(left, right)}, one of which is not used")
            if self.tokens[left] + self.tokens[right] != self.tokens[made]:
                raise ValueError(f"merge {rank} of {(left, right)} does not give the bytes of id {made}")
            if ranks.setdefault((left, right), rank) != rank:
                raise ValueError(f"merge {rank} repeats merge {ranks[left, right]}: {(left, right)}")
        if not all(0 <= token_id < size and self.tokens[token_id] for token_id in self.whole_chunks):
            raise ValueError("a whole chunk has an id that is not used")

    @classmethod
    def trained(cls, pairs: Iterable[Pair]) -> Vocabulary:
        """The vocabulary of trained merges: ids 0 to 255 are the bytes, merge ``r`` makes id ``256 + r``.

        Args:
            pairs: (left id, right id) in order of rank.

        Raises:
            ValueError: the merges contradict each other; see :func:`check_merges`.
        """
        pairs = tuple(pairs)
        check_merges(pairs)
        merges = tuple((left, right, FIRST_MERGE + rank) for rank, (left, right) in enumerate(pairs))
        return cls(tuple(token_bytes_of(pairs)), tuple(range(FIRST_MERGE)), merges)

    @classmethod
    def from_ranks(cls, ranks: Mapping[bytes, int]) -> Vocabulary:
        """The vocabulary of bare ranks, tiktoken's format: the merges are recovered.

        Args:
            ranks: the id of each token, by its bytes; a smaller id is merged first. Ids may leave gaps.

        Raises:
            ValueError: a single byte is missing, an id is negative, enormous or there twice, or a token is empty.

        >>> ranks = {bytes([255 - i]): i for i in range(256)} | {b"hi": 300, b"hi!": 301}
        >>> vocabulary = Vocabulary.from_ranks(ranks)
        >>> vocabulary.merges, vocabulary.tokens[151], vocabulary.tokens[299]
        (((151, 150, 300), (300, 222, 301)), b'h', b'')
        """
        from tokbench_plugins.bpe.recovery.recover import recover

        if (highest := max(ranks.values(), default=0)) > _HIGHEST:
            raise ValueError(f"id {highest} is above {_HIGHEST}, the highest that is supported")
        merges, whole_chunks = recover(ranks)
        tokens = [b""] * (highest + 1)
        for token, token_id in ranks.items():
            tokens[token_id] = token
        byte_ids = tuple(ranks[bytes([byte])] for byte in range(FIRST_MERGE))
        return cls(tuple(tokens), byte_ids, tuple(merges), frozenset(chunk.made for chunk in whole_chunks))

    @property
    def is_trained(self) -> bool:
        """Whether ids follow ranks as training gives them: bytes first, then one id per merge."""
        return self.byte_ids == tuple(range(FIRST_MERGE)) and all(
            made == FIRST_MERGE + rank for rank, (_, _, made) in enumerate(self.merges)
        )

    @cached_property
    def is_canonical(self) -> bool:
        """Whether bare ranks say all there is to know.

        Each token of more than one byte is made by one merge, in the order of the ids, and encoded as
        itself. Trained vocabularies and OpenAI's are such; tiktoken and its like take no others.

        >>> Vocabulary.trained([(97, 97), (256, 97), (257, 98)]).is_canonical
        True
        >>> Vocabulary.trained([(97, 98), (98, 99), (97, 257)]).is_canonical  # 'abc' becomes 'ab', 'c'
        False
        """
        from tokbench_plugins.bpe.fast.encode import merge_ids

        made = [made for _, _, made in self.merges]
        if any(first >= second for first, second in pairwise(made)):
            return False
        if len(made) + FIRST_MERGE + len(self.whole_chunks) != len(self.ranks):
            return False
        rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(self.merges)}
        bytes_of_made = map(self.tokens.__getitem__, made)
        return all(
            merge_ids([self.byte_ids[byte] for byte in token], rank_of, made) == [token_id]
            for token, token_id in zip(bytes_of_made, made, strict=True)
        )

    @property
    def ranks(self) -> dict[bytes, int]:
        """The id of each token by its bytes, gaps left out; of two ids with the same bytes, the lower.

        >>> Vocabulary.trained([(104, 105)]).ranks[b"hi"]
        256
        """
        ranks: dict[bytes, int] = {}
        for token_id, token in enumerate(self.tokens):
            if token:
                ranks.setdefault(token, token_id)
        return ranks


def token_bytes_of(merges: Sequence[Pair]) -> list[bytes]:
    """The bytes of every id.

    Two ids of a *trained* vocabulary never have the same bytes: a string of bytes on its own is always
    merged the same way. So ``{token: id}`` may be turned around, and is what tiktoken calls the
    mergeable ranks. Merges made by hand can break this.

    Args:
        merges: the merges in order of rank.

    Returns:
        A list of ``256 + len(merges)`` byte strings; entry ``i`` belongs to id ``i``.

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

    Args:
        merges: the merges in order of rank.

    Raises:
        ValueError: a merge uses an id that does not exist yet, or repeats an earlier merge.

    >>> check_merges([(104, 105), (256, 33)])
    >>> check_merges([(104, 105), (258, 33)])
    Traceback (most recent call last):
    ValueError: merge 1 makes id 257 from (258, 33), but only ids below 257 exist by then
    """
    seen: dict[Pair, int] = {}
    for rank, pair in enumerate(merges):
        made = FIRST_MERGE + rank
        if min(pair) < 0 or max(pair) >= made:
            msg = f"merge {rank} makes id {made} from {pair}, but only ids below {made} exist by then"
            raise ValueError(msg)
        if pair in seen:
            msg = f"merge {rank} repeats merge {seen[pair]}: {pair}"
            raise ValueError(msg)
        seen[pair] = rank
