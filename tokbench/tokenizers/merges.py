"""The merges of a vocabulary in order of rank, checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import ContractError, TokbenchError
from tokbench.tokenizers.batch import vocab_size_of
from tokbench.tokenizers.contract import HasMerges, HasSpecialTokens, HasTokenBytes, Tokenizer


class MergeOrder:
    """Merges in order of rank: each makes an id of its own from earlier ids.

    Args:
        vocab_size: every id is smaller.
        merges: the ids of the parts, then the id made. More than two parts only for a token that is found by looking
            up a whole chunk. Other ids are units, such as bytes.
        base: the units that are ordinary tokens; default: all. ``k`` merges make ``base + k`` ids.

    Raises:
        ContractError: an id is made twice, of a later id, or out of range.

    >>> order = MergeOrder(258, [(97, 97, 256), (256, 98, 257)])
    >>> len(order), order.base, order.depth.tolist()
    (2, 256, [1, 2])
    >>> MergeOrder(258, [(97, 256, 257), (97, 97, 256)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tokbench.foundation.errors.ContractError: merge 0 makes id 257 of (97, 256), but 256 is made by merge 1: ...
    """

    def __init__(self, vocab_size: int, merges: Sequence[tuple[int, ...]], base: int | None = None) -> None:
        lengths = np.fromiter(map(len, merges), dtype=np.int64, count=len(merges))
        short = np.flatnonzero(lengths < 3)  # noqa: PLR2004 - two parts, one made
        if len(short):
            raise ContractError(f"merge {short[0]} has fewer than two parts")
        flat = np.fromiter(chain.from_iterable(merges), dtype=np.int64, count=int(lengths.sum()))
        ends = np.cumsum(lengths)
        self.vocab_size = vocab_size
        self.made = flat[ends - 1]
        """int64[m], ids."""
        self.parts = np.delete(flat, ends - 1)
        """int64[p], the parts of all merges."""
        self.offsets = np.concatenate([[0], np.cumsum(lengths - 1)])
        """int64[m + 1]; merge ``r`` has ``parts[offsets[r]:offsets[r + 1]]``."""
        self.base = vocab_size - len(self.made) if base is None else base
        self._check(flat)

    def _check(self, ids: NDArray[np.int64]) -> None:
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.vocab_size:
            wrong = ids.min() if ids.min() < 0 else ids.max()
            raise ContractError(f"a merge names id {wrong}, but vocab_size is {self.vocab_size}")
        ranks = np.arange(len(self.made))
        again = np.flatnonzero(self.rank_of[self.made] != ranks)
        if len(again):
            other = int(self.rank_of[self.made[again[0]]])
            raise ContractError(f"merges {again[0]} and {other} both make id {self.made[again[0]]}")
        late = np.flatnonzero(self.rank_of[self.parts] >= self.rank_of_part)
        if len(late):
            part = int(self.parts[late[0]])
            rank = int(self.rank_of_part[late[0]])
            raise ContractError(
                f"merge {rank} makes id {self.made[rank]} of {self.parts_of(rank)}, but {part} is made by "
                f"merge {self.rank_of[part]}: out of rank order"
            )

    def __len__(self) -> int:
        return len(self.made)

    def parts_of(self, rank: int) -> tuple[int, ...]:
        return tuple(self.parts[self.offsets[rank] : self.offsets[rank + 1]].tolist())

    @cached_property
    def rank_of(self) -> NDArray[np.int64]:
        """int64[vocab_size], the rank of each id's merge, -1 for a unit."""
        ranks = np.full(self.vocab_size, -1, dtype=np.int64)
        ranks[self.made] = np.arange(len(self.made))
        return ranks

    @cached_property
    def rank_of_part(self) -> NDArray[np.int64]:
        """int64[p], the rank of each part's merge."""
        return np.repeat(np.arange(len(self.made)), np.diff(self.offsets))

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """int64[m], the longest chain of merges, 1 for units alone."""
        depth = np.zeros(self.vocab_size, dtype=np.int64)
        # Each pass is right for one merge more of every chain, and chains are short.
        while len(self.made):
            deeper = 1 + np.maximum.reduceat(depth[self.parts], self.offsets[:-1])
            if np.array_equal(deeper, depth[self.made]):
                break
            depth[self.made] = deeper
        return depth[self.made]

    @cached_property
    def levels(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """By depth from 1 on: the ids made; for their parts, sorted by id, the made id and the part."""
        by_depth = np.argsort(self.depth, kind="stable")
        borders = np.flatnonzero(np.diff(self.depth[by_depth])) + 1
        levels = []
        for ranks in np.split(by_depth, borders):
            if len(ranks):
                starts, lengths = self.offsets[ranks], np.diff(self.offsets)[ranks]
                before = np.cumsum(lengths) - lengths
                which = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
                levels.append((self.made[ranks], np.repeat(self.made[ranks], lengths), self.parts[which]))
        return levels


def ordinary_tokens(tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes of each id, empty for special tokens; an unknown one raises ContractError."""
    if not isinstance(tokenizer, HasTokenBytes):
        raise ContractError("it does not list the bytes of its ids")
    special = frozenset(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else frozenset()
    return [b"" if i in special else tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]


def merge_order(tokenizer: Tokenizer, tokens: Sequence[bytes] | None = None) -> MergeOrder:
    """Return the merges that a tokenizer lists, with the ids that they make; ``tokens`` are its ordinary tokens.

    Raises:
        ContractError: no merges, not in order, or one makes bytes that no id has.
    """
    try:
        merges = cast("HasMerges", tokenizer).merges
    except AttributeError as error:
        has_merges = isinstance(error, TokbenchError)  # they are not in order
        raise ContractError(
            str(error) if has_merges else "its vocabulary is not built by merges in order of rank"
        ) from error
    data = ordinary_tokens(tokenizer) if tokens is None else tokens
    # Of ids with the same bytes the lowest: the others are added tokens, which no merge makes.
    ids = {token: i for i, token in reversed(list(enumerate(data))) if token}
    rows: list[tuple[int, ...]] = []
    for rank, parts in enumerate(merges):
        token = b"".join([data[part] for part in parts])
        if token not in ids:
            raise ContractError(f"merge {rank} of {tuple(parts)} makes {token!r}, which is not a token")
        rows.append((*parts, ids[token]))
    made = {row[-1] for row in rows}
    base = sum(1 for i, token in enumerate(data) if token and i not in made)
    return MergeOrder(vocab_size_of(tokenizer), rows, base)
