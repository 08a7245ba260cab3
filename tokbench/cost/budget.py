"""How many tokens of one tokenizer fit into the limit of another, from the longest chunks of texts that fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle
from typing import Final

import numpy as np

from tokbench.command import print_json, print_numbers, say, session, texts_by_group
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.contract import Tokenizer

SHARES: Final = (0.05, 0.001)
"""The shares of chunks that may overflow: 95 % and 99.9 % fit."""
_DOUBT: Final = 0.05
_CUT_CHARACTER: Final = (1, 2, 3)
_HEADS: Final = ["group", "chunks", "mean", "95 %", "factor", "99.9 %", "factor", "unknown"]


@dataclass(frozen=True)
class GroupBudget:
    """How long chunks of a group of texts may be, in tokens of the tokenizer that cuts."""

    group: str
    chunks: int
    """Chunks that fill the limit."""
    mean: float
    """The mean length of these; ``nan`` without a chunk."""
    safe: tuple[int | None, ...]
    """For each of ``SHARES`` the longest that is safe; ``None`` where the texts have too few chunks to say so.

    0 means that even a single token overflows too often.
    """
    unknown: float
    """The share of unknown tokens: their text fits because it is lost."""


def fit_budget(
    tokenizer: Tokenizer, limited: Tokenizer, texts: Mapping[str, Sequence[str]], limit: int
) -> tuple[GroupBudget, ...]:
    """Return how many tokens a chunk may have to fit into so many tokens of the tokenizer with a limit.

    The documents of a group, such as whole files, are joined by line ends and cut into the longest chunks that fit,
    with up to three tokens between two of them. If chunks of the same text are alike in distribution, the r-th shortest
    is safe: with 95 % confidence, at most 5 % (0.1 %) of the chunks of this length overflow. r is from the binomial
    distribution, so nothing else is assumed; 59 (2,995) chunks are the fewest that allow it. Each group has its own
    claim.

    Two bytes are one unit of UTF-16 here, so that 100 units are safe for a limit of 200 bytes:

    >>> import tokbench
    >>> units, text = tokbench.load("utf16_units"), {"ru": ["ж" * 10_000]}
    >>> [ru] = fit_budget(units, tokbench.load("utf8_bytes"), text, 200)
    >>> ru.chunks, ru.safe
    (98, (100, None))
    """
    return tuple(_group(tokenizer, limited, name, some, limit) for name, some in texts.items())


def _group(cutter: Tokenizer, embedder: Tokenizer, name: str, texts: Sequence[str], room: int) -> GroupBudget:
    ids = cutter.encode("\n".join(texts))
    lengths = sorted(_longest_chunks(ids, lambda some: len(embedder.encode(cutter.decode(some))), room))
    ranks = [_rank(len(lengths), share) for share in SHARES]
    embedded, unknown = encode_batch(embedder, texts).ids, getattr(embedder, "unk_id", None)
    return GroupBudget(
        group=name,
        chunks=len(lengths),
        mean=float(np.mean(lengths)) if lengths else math.nan,
        safe=tuple(lengths[rank - 1] if rank else None for rank in ranks),
        unknown=0.0 if unknown is None else float((embedded == unknown).sum() / max(len(embedded), 1)),
    )


def _rank(chunks: int, share: float) -> int:
    """Return the 5 % quantile of how many of the chunks overflow; a sum of logarithms, as 0.95 ** 20,000 is 0."""
    rank, term = 0, chunks * math.log1p(-share)
    below = math.exp(term)
    while below < _DOUBT:
        term += math.log((chunks - rank) / (rank + 1) * share / (1 - share))
        rank += 1
        below += math.exp(term)
    return rank


def _longest_chunks(ids: Sequence[int], count: Callable[[Sequence[int]], int], room: int) -> Iterator[int]:
    """Yield the length of each chunk that fills the room; the rest of the text does not."""
    start, length, gaps = 0, room, cycle((0, *_CUT_CHARACTER))
    while left := ids[start:]:
        length = _longest(lambda size: count(left[:size]), room, min(length, len(left)), len(left))
        if length >= len(left):
            return
        yield length
        start, length = start + max(1, length) + next(gaps), max(1, length)


def _longest(count: Callable[[int], int], room: int, probe: int, most: int) -> int:
    """Return the longest size that fits, as do the next shorter ones: a cut character is longer than a whole one."""
    low, high = 0, most + 1
    while high - low > 1:
        needed = count(probe)
        low, high = (probe, high) if needed <= room else (low, probe)
        aimed = probe * room // max(needed, 1)
        probe = aimed if low < aimed < high else min((low + high) // 2, low + room)
    while any(low > less and count(low - less) > room for less in _CUT_CHARACTER):
        low -= 1
    return low


def show_budget(files: Sequence[str], names: Sequence[str], reference: str, limit: int, *, as_json: bool) -> None:
    """Print how many tokens of each tokenizer fit into the limit of the reference, by language.

    Raises:
        InputError: there is no text, or a name is unknown.
        BackendError: a tokenizer failed.
    """
    texts: dict[str, list[str]] = {}
    for group, some in (item for where in files for item in texts_by_group(where, "file").items()):
        texts.setdefault(group, []).extend(some)
    fit = partial(fit_budget, texts=texts, limit=limit)
    with session([*names, reference]) as ready:
        budgets = {name: ready.together(fit, [name, reference]) for name in names}
    if as_json:
        rows = [{"tokenizer": name, "groups": [asdict(one) for one in groups]} for name, groups in budgets.items()]
        print_json({"reference": reference, "budget": limit, "tokenizers": rows})
        return
    for name, groups in budgets.items():
        say(_claim(name, groups, f"{limit:,} tokens of {reference}"))
        print_numbers(_HEADS, [_cells(one, limit) for one in groups])
    say("mean: tokens in the longest chunks that fit; 95 %, 99.9 %: safe lengths, - for too few chunks")
    say("factor: safe tokens per token of the limit; unknown: tokens of the reference whose text is lost")


def _claim(name: str, groups: Sequence[GroupBudget], into: str) -> str:
    claims = [(one.safe[0], one.group, one.unknown) for one in groups if one.safe[0] is not None]
    if not claims:
        return f"The texts are too short to say how many tokens of {name} fit into {into}: no group has 59 chunks."
    least, group, unknown = min(claims)
    if not least:
        return f"No chunk of {group} is sure to fit into {into}: even single tokens of {name} are too long."
    overflow = f"with 95 % confidence, at most 5 % of such chunks of {group} are more than {into}"
    lost = f"\nbut {unknown:.1%} of the tokens of {group} are unknown there: they fit because text is lost"
    among = f" (least of {len(claims)} groups)" if len(claims) > 1 else ""
    return f"Make chunks of at most {least:,} tokens of {name}: {overflow}{among}.{lost if unknown else ''}"


def _cells(one: GroupBudget, limit: int) -> list[str]:
    safe = [
        cell for size in one.safe for cell in (["-", "-"] if size is None else [f"{size:,}", f"{size / limit:.2f}"])
    ]
    return [one.group, f"{one.chunks:,}", f"{one.mean:,.0f}" if one.chunks else "-", *safe, f"{one.unknown:.1%}"]
