"""The rule about merges: each makes an id out of what is there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tokbench.contracts.tokenizer import HasMerges, HasSpecialTokens, HasTokenBytes
from tokbench.testing.findings import Broken, RuleNotApplicable
from tokbench.testing.shown import shown
from tokbench.testing.under_test import TokenizerUnderTest

_FEWEST: Final = 2


def merges(subject: TokenizerUnderTest) -> str:
    """Every merge has the bytes of an id that is not special, and its parts are units or made before."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, HasTokenBytes):
        raise RuleNotApplicable("it has no token_bytes")
    if not isinstance(tokenizer, HasMerges) or not hasattr(tokenizer, "merges"):
        raise RuleNotApplicable("it has no merges, or none that come in order of rank")
    given = tokenizer.merges
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    data = [subject.answer("token_bytes", i, expected="bytes") for i in range(subject.vocab_size)]
    ids = {data[i]: i for i in reversed(range(len(data))) if i not in special}
    made = [_made(subject, rank, parts, data, ids) for rank, parts in enumerate(given)]
    first = {token_id: rank for rank, token_id in reversed(list(enumerate(made)))}
    for rank, parts in enumerate(given):
        if first[made[rank]] != rank:
            raise Broken(f"merges[{rank}]", f"an id that merges[{first[made[rank]]}] does not make already", parts)
        for part in parts:
            if first.get(part, -1) >= rank:
                raise Broken(f"merges[{rank}]", f"parts made before, and id {part} is by merges[{first[part]}]", parts)
    return f"{len(made):,} merges"


def _made(subject: TokenizerUnderTest, rank: int, parts: Any, data: Sequence[bytes], ids: dict[bytes, int]) -> int:
    """Return the id that a merge makes."""
    if not isinstance(parts, tuple) or len(parts) < _FEWEST or not subject.are_ids(parts):
        raise Broken(f"merges[{rank}]", "a tuple of two ids or more", parts)
    whole = b"".join(data[part] for part in parts)
    if whole not in ids:
        raise Broken(f"merges[{rank}]", f"parts whose bytes are those of an id; none has {shown(whole)}", parts)
    return ids[whole]
