"""Lists candidates for glitch tokens: whole tokens that some texts never make.

A model hardly trains a token that its training text never has, and may then do anything where it meets it: such tokens
are called under-trained, or glitch tokens (Rumbelow and Watkins 2023, "SolidGoldMagikarp"; Land and Bartolo 2024,
"Fishing for Magikarp"). Weights show them best. From a vocabulary and some texts alone two things can be seen:

- The texts never make the token. Any token that is rare in them is so too, so this alone says little.
- Its merge came almost at once after that of one of its parts, or before that of a token it is a part of. In language a
  part is far more frequent than each word that has it, and was merged long before. If both came together, nearly every
  place of the text that trained the vocabulary had the whole string. Names in boilerplate and in logs do.

Candidates are those of the first kind, ordered by the second. Land and Bartolo keep single bytes, fragments of UTF-8,
special and unreachable tokens apart, and so does this file.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.tokenizers.inspect.examine import Token
from tokbench.tokenizers.inspect.tokens import Listing, TokenKind
from tokbench.tokenizers.merges import MergeOrder

_NO_TEXT: Final = frozenset({TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.GAP})


class Never(StrEnum):
    """The kinds of ids that some texts never make; each such id is of one kind, the first that fits."""

    SPECIAL = "special or unused"
    """A special token, the unknown token, or an id that is not used."""
    UNREACHABLE = "unreachable"
    """No text gives it, as far as is known."""
    SINGLE_BYTE = "single byte"
    """One byte."""
    FRAGMENT = "fragment"
    """Bytes that are not UTF-8 by themselves."""
    CANDIDATE = "candidate"
    """A whole token, and so a candidate for a glitch token."""


def sort_unseen(listing: Listing, unseen: NDArray[np.int64], unreachable: Collection[int]) -> dict[Never, list[int]]:
    """Sort the ids that some texts never make by kind.

    Args:
        listing: the vocabulary.
        unseen: int64[k], the ids.
        unreachable: ids that no text gives.

    >>> import tokbench
    >>> from tokbench.tokenizers.inspect.tokens import list_tokens
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
    """The closest relative of each id: a part of it that a merge makes, or a token that it is a part of."""

    closest: NDArray[np.int64]
    """int64[v], the id of the relative whose merge has the closest rank; -1 where there is none."""
    merges: NDArray[np.int64]
    """int64[v], the number of ranks between the two; 0 where there is none."""
    distance: NDArray[np.float64]
    """float64[v], this number over the rank of the longer one of the two plus 1; 1.0 where there is none."""


def relatives(vocab_size: int, order: MergeOrder | None) -> Relatives:
    """Find the closest relative of each id.

    Args:
        vocab_size: the number of ids.
        order: the merges; ``None`` if they are not known, and no id has a relative then.

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


def by_surprise(listing: Listing, ids: list[int], order: MergeOrder | None) -> list[Token]:
    """Return candidates for glitch tokens, the most surprising first.

    They are ordered by the distance of the closest relative over the length in bytes, so that of two the longer string
    comes first. Without merges the longest are first. Equal ones are in order of id.

    Args:
        listing: the vocabulary.
        ids: the candidates.
        order: the merges, if they are known.
    """
    nearest = relatives(len(listing.data), order)
    candidates = np.array(sorted(ids), dtype=np.int64)
    lengths = np.array([len(listing.data[i]) for i in candidates], dtype=np.int64)
    by_score = candidates[np.argsort(nearest.distance[candidates] / lengths, kind="stable")]
    return [Token(i, listing.data[i].decode(), _relation(listing, i, nearest)) for i in by_score.tolist()]


def _relation(listing: Listing, token: int, nearest: Relatives) -> str:
    other = int(nearest.closest[token])
    if other < 0:
        return ""
    between = int(nearest.merges[token])
    text = listing.data[other].decode(errors="replace")
    return f"{between:,} merge{'s' if between > 1 else ''} from {text!r}"
