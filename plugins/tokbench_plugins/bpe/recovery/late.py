"""Late merges: an engine does them as soon as their halves exist, because their own rank is lower.

If ``cab`` has a lower rank than ``ab``, an engine merges one ``a b``, then at once ``c ab``, then the next ``a b``. An
order of merges does all ``a b``, then all ``c ab``. Both give the same ids unless a token can go into two merges of
such a group; :func:`check_group` finds these groups.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


class GroupMerge(NamedTuple):
    """A merge of a group."""

    left: int

    right: int

    made: int

    place: int
    """Its place among all candidates: an engine does the lower of two possible merges."""


def check_group(group: Sequence[GroupMerge]) -> None:
    """Check that a merge and the late ones that it makes possible, done one after the other, give an engine's ids.

    >>> ab = GroupMerge(97, 98, made=300, place=9)
    >>> check_group([ab, GroupMerge(99, 300, made=301, place=1)])  # c ab
    >>> check_group([ab, GroupMerge(300, 97, made=301, place=1)])  # ab a, which takes the 'a' of the next 'ab'
    Traceback (most recent call last):
    ValueError: id 301 is made of ids that come after it, and in some texts takes from what id 300 is made of
    """
    if len(group) == 1:
        return
    made = {merge.made for merge in group}
    that_begin_with: dict[int, list[int]] = {}
    for k, merge in enumerate(group):
        that_begin_with.setdefault(merge.left, []).append(k)
    for before, merge in enumerate(group):
        for after in that_begin_with.get(merge.right, ()):
            first = _first_in_engine(group, before, after, made)
            if first != min(before, after):
                raise ValueError(
                    f"id {group[first].made} is made of ids that come after it, and in some texts takes from what id "
                    f"{group[before + after - first].made} is made of"
                )


def _first_in_engine(group: Sequence[GroupMerge], before: int, after: int, made: Collection[int]) -> int:
    if before == 0 or after == 0 or group[after].right in made:
        # The engine comes from the left. It has done all that is possible there before it makes a token further right.
        return before
    return min(before, after, key=lambda k: group[k].place)
