"""Whether one tokenizer's ids can be used for another's: as a draft model, or to distil logits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import numpy as np

import tokbench
from tokbench.command import texts_by_group
from tokbench.plugin import HasSpecialTokens, HasTokenBytes, InputError, Tokenizer, encode_batch
from tokbench_questions.compatible.roles import Roles, read_roles

LEVELS: Final = ("none", "mapping", "subset", "padding", "same")
"""From the least to the most compatible; each has what those before it have."""

_SHOWN: Final = 3
_MOST_ROLES: Final = ("bos", "eos", "pad")


@dataclass(frozen=True)
class Overlap:
    """How the tokens of some text match."""

    documents: int
    tokens: tuple[int, int]
    same_ids: int
    """Documents with the same ids."""
    shared: float | None
    """The share of A's tokens that B cuts out, too, at the same bytes."""
    chunks: Mapping[str, float]
    """Shares of the chunks between common cuts, by the tokens of A and B: ``1:1``, ``n:1``, ``1:n``, ``n:m``."""
    rewritten: int
    """Documents that are left out of both shares, because A and B read other bytes."""


@dataclass(frozen=True)
class Compatibility:
    """The answer, and the evidence."""

    level: str
    """``same``, ``padding``, ``subset``, ``mapping`` or ``none``."""
    sizes: tuple[int, int]
    other_ids: int
    """Ids of both that have other bytes."""
    examples: tuple[str, ...]
    shared_bytes: tuple[int, int]
    """Ordinary ids of A whose bytes B has as a token, and all of A's."""
    overlap: Overlap
    special: tuple[str, ...]
    """Special tokens that differ."""
    faults: tuple[str, ...]
    """What does not fit in the files next to the tokenizers."""
    undecided: tuple[str, ...]

    @property
    def draft(self) -> str:
        """Whether B may draft for A."""
        text = {
            "same": "yes: ids mean the same in both",
            "padding": "yes: the ids that only one has are never given",
            "subset": "only with a mapping: the same text may have other ids",
            "mapping": "only with a mapping of tokens with the same bytes, or by text",
            "none": "no: their tokens cannot be matched by bytes",
        }[self.level]
        but = f"; but special tokens differ: {self.special[-1]}" if self.special else ""
        return f"{text}{but}" if self.level in {"same", "padding"} else text

    @property
    def distil(self) -> str:
        """Whether logits may be distilled from A to B."""
        return {
            "same": "yes: row by row",
            "padding": f"yes: cut logits to the first {min(self.sizes):,} ids",
            "subset": "only on tokens that end at the same byte; the ids that only one has need a rule",
            "mapping": "only on tokens that both cut alike, by bytes",
            "none": "no: their tokens cannot be matched by bytes",
        }[self.level]

    def sentence(self, one: str, other: str) -> str:
        """Return the answer in one sentence."""
        extra = abs(self.sizes[0] - self.sizes[1])
        same = {
            "same": f"{one} and {other} have the same ids",
            "padding": f"{one} and {other} have the same ids, but {extra:,} that only one has",
            "subset": f"the ids of {one} and {other} do not contradict each other, but text has other ids",
            "mapping": f"{one} and {other} have other ids",
            "none": f"{one} and {other} cannot be matched",
        }[self.level]
        shared = self.overlap.shared
        weighed = "" if shared is None else f"; {100 * shared:.1f}% of {one}'s tokens of the text are also {other}'s"
        return f"{same}{weighed}."

    def meets(self, required: str) -> bool:
        """Tell whether this is at least what is required."""
        return LEVELS.index(self.level) >= LEVELS.index(required)


def compatible(one: str | Tokenizer, other: str | Tokenizer, texts: str | Iterable[str] = "sample") -> Compatibility:
    """Compare the ids of two tokenizers, and their tokens of some text.

    Args:
        one: a published name, ``backend:value``, a file such as a tokenizer.json, or a tokenizer. The files
            ``config.json``, ``generation_config.json`` and ``tokenizer_config.json`` next to a file are read, too.
        other: likewise.
        texts: the shipped ``sample``, a file, a folder or a glob pattern; or documents.

    >>> import tokbench
    >>> small, large = (tokbench.train("regex_bpe:gpt4", ["the thin thing"], size) for size in (258, 260))
    >>> found = compatible(small, large, ["the thin thing"])
    >>> found.level, found.overlap.tokens, found.overlap.chunks["n:1"]
    ('subset', (9, 5), 0.4)
    """
    names = [_file(name) if isinstance(name, str) else "" for name in (one, other)]
    first, second = loaded = [tokbench.load(name or given) for name, given in zip(names, (one, other), strict=True)]
    documents = [t for some in texts_by_group(texts).values() for t in some] if isinstance(texts, str) else [*texts]
    if not documents:
        raise InputError("there is no text to compare: give a file with text")
    data = [_data(tokenizer) for tokenizer in loaded]
    overlap = _overlap(first, second, data, documents)
    differing = [k for k, (a, b) in enumerate(zip(*map(dict.values, data), strict=False)) if a != b and a and b]
    roles = [read_roles(name, tokenizer) for name, tokenizer in zip(names, loaded, strict=True)]
    tokens = {token for token in data[1].values() if token}
    ordinary = [token for token in data[0].values() if token]
    faults = [f"{side}: {fault}" for side, found in zip("AB", roles, strict=True) for fault in found.faults]
    sizes = first.vocab_size, second.vocab_size
    special = (*_specials(first, second), *_other_roles(*roles))
    return Compatibility(
        level=_level(overlap, sizes, differing, bool(tokens and ordinary)),
        sizes=sizes,
        other_ids=len(differing),
        examples=tuple(f"id {k}: {data[0][k]!r} and {data[1][k]!r}" for k in differing[:_SHOWN]),
        shared_bytes=(sum(token in tokens for token in ordinary), len(ordinary)),
        overlap=overlap,
        special=special,
        faults=tuple(faults),
        undecided=_undecided(roles, overlap, first, second),
    )


def _file(name: str) -> str:
    files = (Path(name) / file for file in ("tokenizer.json", "tokenizer.model"))
    return next((str(file) for file in files if file.is_file()), name)


def _data(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Return the bytes of each id, none for special ones."""
    if not isinstance(tokenizer, HasTokenBytes):
        return dict.fromkeys(range(tokenizer.vocab_size), b"")
    special = {*tokenizer.special_ids.values()} if isinstance(tokenizer, HasSpecialTokens) else set()
    return {k: b"" if k in special else tokenizer.token_bytes(k) for k in range(tokenizer.vocab_size)}


def _level(overlap: Overlap, sizes: tuple[int, int], differing: Sequence[int], has_bytes: bool) -> str:  # noqa: FBT001
    if overlap.same_ids == overlap.documents and not differing:
        return "same" if sizes[0] == sizes[1] else "padding"
    if not has_bytes:
        return "none"
    return "mapping" if differing else "subset"


def _overlap(first: Tokenizer, second: Tokenizer, data: Sequence[dict[int, bytes]], documents: list[str]) -> Overlap:
    encoded = [encode_batch(tokenizer, documents) for tokenizer in (first, second)]
    chunks: Counter[str] = Counter()
    shared = same = rewritten = counted = 0
    for k in range(len(documents)):
        ids = [some.ids[some.offsets[k] : some.offsets[k + 1]].tolist() for some in encoded]
        same += ids[0] == ids[1]
        pieces = [[table[token_id] for token_id in some] for table, some in zip(data, ids, strict=True)]
        if b"".join(pieces[0]) != b"".join(pieces[1]):
            rewritten += 1
            continue
        alone, kinds = _aligned(*([*accumulate(map(len, some), initial=0)] for some in pieces))
        shared += alone
        counted += len(ids[0])
        chunks += kinds
    total = sum(chunks.values())
    return Overlap(
        documents=len(documents),
        tokens=(len(encoded[0].ids), len(encoded[1].ids)),
        same_ids=same,
        shared=shared / counted if counted else None,
        chunks={kind: chunks[kind] / total for kind in ("1:1", "n:1", "1:n", "n:m")} if total else {},
        rewritten=rewritten,
    )


def _aligned(one: Sequence[int], other: Sequence[int]) -> tuple[int, Counter[str]]:
    """Return the tokens that both have, and the chunks between common cuts by the tokens in them.

    >>> _aligned([0, 1, 3, 4, 6], [0, 1, 2, 4, 6])
    (2, Counter({'1:1': 2, 'n:m': 1}))
    """
    common = np.intersect1d(one, other)
    counts = zip(*(np.diff(np.searchsorted(np.unique(some), common)).tolist() for some in (one, other)), strict=True)
    kinds = Counter(f"{'1' if a == 1 else 'n'}:{'1' if b == 1 else 'm' if a > 1 else 'n'}" for a, b in counts)
    return kinds["1:1"], kinds


def _specials(first: Any, second: Any) -> list[str]:
    one, other = (dict(getattr(tokenizer, "special_ids", {})) for tokenizer in (first, second))
    moved = [
        f"{name} is {one[name]} in A, {other[name]} in B" for name in one if other.get(name, one[name]) != one[name]
    ]
    ids = {token_id: name for name, token_id in other.items()}
    renamed = [f"{k} is {name} in A, {ids[k]} in B" for name, k in one.items() if name not in other and k in ids]
    return [*moved, *renamed]


def _other_roles(one: Roles, other: Roles) -> list[str]:
    pairs = ((role, one.of(role), other.of(role)) for role in _MOST_ROLES)
    return [f"{role} is {[*a]} in A, {[*b]} in B" for role, a, b in pairs if a and b and {*a} != {*b}]


def _undecided(roles: Sequence[Roles], overlap: Overlap, first: Tokenizer, second: Tokenizer) -> tuple[str, ...]:
    found = []
    for side, known in zip("AB", roles, strict=True):
        if not known.ids:
            found.append(f"{side}: the roles of special tokens: no config.json or tokenizer_config.json is there")
    if overlap.same_ids == overlap.documents:
        found.append("whether every other text has the same ids, too: ask tokbench equal A B")
    if overlap.rewritten:
        found.append(f"{overlap.rewritten:,} documents: A and B read other bytes (normalizer, or a prefix space)")
    found += [
        f"{s}: its ids have no bytes"
        for s, t in zip("AB", (first, second), strict=True)
        if not isinstance(t, HasTokenBytes)
    ]
    return tuple(found)
