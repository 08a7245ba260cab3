"""What the ids of a BPE vocabulary stand for.

Ids 0 to 255 are the bytes themselves; the merge of rank ``r`` makes id ``256 + r``. So the merges, in
order, are all there is to know: :func:`token_bytes_of` spells every id out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["FIRST_MERGE", "Pair", "check_merges", "token_bytes_of"]

Pair = tuple[int, int]
"""Two ids that stand side by side: (left, right)."""

FIRST_MERGE: Final = 256
"""The id that the first merge makes: as many as there are bytes."""


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
