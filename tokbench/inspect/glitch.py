"""Lists candidates for glitch tokens: whole tokens that some texts never make.

A model hardly trains a token that its training text never has (Rumbelow and Watkins 2023, "SolidGoldMagikarp"; Land and
Bartolo 2024, "Fishing for Magikarp"). Weights show them best. Without weights, candidates are ordered by surprise: the
merge came shortly after the merge of a part, or before the merge of a token that contains it, as for strings in
boilerplate. In language a part is far more frequent than each word with it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.inspect.examine import InspectedToken
from tokbench.inspect.tokens import TokenKind, TokenListing
from tokbench.tokenizers.merges import MergeOrder

_NO_TEXT: Final = frozenset({TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.GAP})


class Never(StrEnum):
    """Kinds of unseen ids; the first that matches."""

    SPECIAL = "special or unused"
    """Also the unknown token."""
    UNREACHABLE = "unreachable"
    SINGLE_BYTE = "single byte"
    FRAGMENT = "fragment"
    """Bytes that are not UTF-8."""
    CANDIDATE = "candidate"


def sort_unseen(
    listing: TokenListing, unseen: NDArray[np.int64], unreachable: Collection[int]
) -> dict[Never, list[int]]:
    """Sort unseen ids by kind; no text gives ``unreachable`` ones.

    >>> import tokbench
    >>> from tokbench.inspect.tokens import list_tokens
    >>> listing = list_tokens(tokbench.load("utf8_bytes"))
    >>> {kind.value: ids for kind, ids in sort_unseen(listing, np.array([65, 66, 255]), {66}).items() if ids}
    {'unreachable': [66], 'single byte': [65, 255]}
    """
    kinds: dict[Never, list[int]] = {kind: [] for kind in Never}
    for i in unseen.tolist():
        if listing.kinds[i] in _NO_TEXT:
            kind = Never.SPECIAL
        elif i in unreachable:
            kind = Never.UNREACHABLE
        elif len(listing.data[i]) == 1:
            kind = Never.SINGLE_BYTE
        else:
            kind = Never.FRAGMENT if listing.kinds[i] == TokenKind.FRAGMENT else Never.CANDIDATE
        kinds[kind].append(i)
    return kinds


@dataclass(frozen=True, slots=True)
class Relatives:
    """The closest relative of each id: a part that a merge makes, or a token that contains it."""

    closest: NDArray[np.int64]
    """By rank of the merge; -1 without a relative."""
    merges: NDArray[np.int64]
    """Ranks between; 0 without a relative."""
    distance: NDArray[np.float64]
    """``merges`` / (rank of the longer one + 1); 1.0 without a relative."""


def relatives(vocab_size: int, order: MergeOrder | None) -> Relatives:
    """Find the closest relative of each id; none if ``order`` is ``None``.

    >>> merges = MergeOrder(8, [(0, 1, 4), (2, 3, 5), (0, 3, 6), (5, 0, 7)])  # 7 is 5 and 0, and came 2 ranks after 5
    >>> nearest = relatives(8, merges)
    >>> nearest.closest.tolist(), nearest.merges[7].item(), nearest.distance[7].item()
    ([-1, -1, -1, -1, -1, 7, -1, 5], 2, 0.5)
    """
    closest = np.full(vocab_size, -1, dtype=np.int64)
    merges = np.zeros(vocab_size, dtype=np.int64)
    distance = np.ones(vocab_size)
    if order is not None:
        part_rank = order.rank_of[order.parts]
        made_by_merges = part_rank >= 0
        parts, part_rank = order.parts[made_by_merges], part_rank[made_by_merges]
        whole_rank = order.rank_of_part[made_by_merges]
        wholes, between = order.made[whole_rank], whole_rank - part_rank
        ids, others = np.concatenate([wholes, parts]), np.concatenate([parts, wholes])
        both = np.concatenate([between, between])
        share = both / np.concatenate([whole_rank + 1, whole_rank + 1])
        by_id = np.lexsort((others, share, ids))
        first = by_id[np.diff(ids[by_id], prepend=-1) != 0]
        closest[ids[first]], merges[ids[first]], distance[ids[first]] = others[first], both[first], share[first]
    return Relatives(closest, merges, distance)


def by_surprise(listing: TokenListing, ids: list[int], order: MergeOrder | None) -> list[InspectedToken]:
    """Sort by distance / length in bytes; without merges, by length; ties by id."""
    nearest = relatives(len(listing.data), order)
    candidates = np.array(sorted(ids), dtype=np.int64)
    lengths = np.array([len(listing.data[i]) for i in candidates], dtype=np.int64)
    by_score = candidates[np.argsort(nearest.distance[candidates] / lengths, kind="stable")]
    return [InspectedToken(i, listing.data[i].decode(), _relation(listing, i, nearest)) for i in by_score.tolist()]


def _relation(listing: TokenListing, token: int, nearest: Relatives) -> str:
    other = int(nearest.closest[token])
    if other < 0:
        return ""
    between = int(nearest.merges[token])
    text = listing.data[other].decode(errors="replace")
    return f"{between:,} merge{'s' if between > 1 else ''} from {text!r}"
