"""A tokenizer as stages that can be changed one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Final, Protocol

import regex

from tokbench.plugin import HasMerges, HasSpecialTokens, HasStages, HasTokenBytes, Tokenizer
from tokbench_identity.equal.recipe import split_steps
from tokbench_plugins.bpe import PATTERNS, resolve_pattern

_BYTES: Final = 256
_TWO: Final = 2
_SCRIPTS: Final = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_LLAMA3: Final = PATTERNS["gpt4"].replace(r"\s*[\r\n]|", r"\s*[\r\n]+|")
_DEEPSEEK: Final = (
    r"[!-/:-~&&[^A-Za-z]][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLITS: Final = (
    (PATTERNS["gpt4"],), (PATTERNS["gpt2"],), (PATTERNS["o200k"],), (_LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}"),),
    (resolve_pattern("kimi"),), (resolve_pattern("tekken"),), (r"\p{N}{1,3}", _SCRIPTS, _DEEPSEEK), (),
)  # fmt: skip
"""Splits that are tried on a tokenizer that does not tell its own."""


class MergeWay(Protocol):
    """What makes ids of a chunk that merges do not leave."""

    def __call__(self, chunk: str, /) -> Sequence[int]:
        """Return the ids of a chunk."""


@dataclass
class Merges:
    """Byte-pair encoding by ranks, with ways to do it wrong."""

    single: Mapping[Any, Sequence[int]]
    """The ids of bytes, or of characters."""
    pairs: Mapping[tuple[int, int], tuple[int, int]] | Changed
    """The rank and the id of what two neighbours become."""
    whole: Mapping[bytes, int] = field(default_factory=dict)
    """Chunks that are looked up first."""
    fallback: Sequence[int] = ()
    """The ids of bytes, for characters without one."""
    by_character: bool = False
    choose: Callable[[Sequence[tuple[int, int, int]]], tuple[int, int, int]] | None = None
    """Chooses among (rank, place, id); the least by default."""
    longest: int = 0
    """Longer chunks, in bytes, are not merged."""
    meeting: frozenset[tuple[int, int]] | None = field(default=None, repr=False)
    """The ids of bytes or characters that are neighbours in some token: no merge crosses other neighbours."""
    made: dict[str | tuple[int, ...], tuple[int, ...]] = field(default_factory=dict, repr=False)
    """What was made of chunks, and of parts that no merge leaves."""

    def __call__(self, chunk: str, /) -> tuple[int, ...]:
        if chunk not in self.made:
            self.made[chunk] = tuple(self._merge(chunk))
        return self.made[chunk]

    def _merge(self, chunk: str) -> list[int]:
        data = chunk.encode("utf-8", "replace")
        if data in self.whole:
            return [self.whole[data]]
        ids = [k for unit in (chunk if self.by_character else data) for k in self._unit(unit)]
        if self.longest and len(data) > self.longest:
            return ids
        return [token for part in self._parts(ids) for token in self._joined(part)]

    def _parts(self, ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
        start = 0
        for at, pair in enumerate(pairwise(ids), 1):
            if self.meeting is not None and pair not in self.meeting:
                yield tuple(ids[start:at])
                start = at
        yield tuple(ids[start:])

    def _joined(self, part: tuple[int, ...]) -> tuple[int, ...]:
        if part not in self.made:
            self.made[part] = tuple(self._merged([*part]))
        return self.made[part]

    def _merged(self, ids: list[int]) -> list[int]:
        get = self.pairs.get
        while found := [(row[0], at, row[1]) for at, pair in enumerate(pairwise(ids)) if (row := get(pair))]:
            _, at, made = self.choose(found) if self.choose else min(found)
            ids[at : at + 2] = [made]
        return ids

    def _unit(self, unit: Any) -> Sequence[int]:
        if unit in self.single or not self.by_character:
            return self.single.get(unit, ())
        return [self.fallback[byte] for byte in unit.encode("utf-8", "replace")] if self.fallback else [0]


def pairs_of(merges: Merges) -> Mapping[tuple[int, int], tuple[int, int]]:
    """Return the pairs of merges that are not changed."""
    assert not isinstance(merges.pairs, Changed)
    return merges.pairs


class Changed:
    """Some pairs with other ranks, or with none; all others as before."""

    def __init__(self, pairs: Mapping[tuple[int, int], tuple[int, int]], changes: Mapping[Any, Any]) -> None:
        self._pairs, self._changes = pairs, changes

    def get(self, pair: tuple[int, int]) -> tuple[int, int] | None:
        """Return the rank and the id of what two neighbours become."""
        return self._changes[pair] if pair in self._changes else self._pairs.get(pair)


@dataclass
class Touched:
    """Wrong merges that matter only to chunks with some bytes; all others are done as before."""

    right: MergeWay
    wrong: MergeWay
    holds: bytes

    def __call__(self, chunk: str, /) -> Sequence[int]:
        return (self.wrong if self.holds in chunk.encode("utf-8", "replace") else self.right)(chunk)


def unchanged(text: str) -> str:
    """Return the text."""
    return text


def whole(text: str) -> tuple[str, ...]:
    """Return the text as the only part."""
    return (text,)


@dataclass(frozen=True)
class StageModel:
    """The stages of a tokenizer in the order in which they work."""

    merging: MergeWay
    parts: Callable[[str], Iterable[str]] = whole
    """Cuts a text into what is encoded alone."""
    added: Mapping[str, int] = field(default_factory=dict)
    """Pieces that are cut out of text, each with its id."""
    normalize: Callable[[str], str] = unchanged
    split: tuple[str, ...] = ()
    """Expressions, one after the other; none for the whole text."""
    ids: Callable[[list[int]], list[int]] = list
    """Changes the ids at the end."""

    @cached_property
    def _added(self) -> regex.Pattern[str] | None:
        names = sorted(self.added, key=len, reverse=True)
        return regex.compile("|".join(map(regex.escape, names))) if names else None

    @cached_property
    def _split(self) -> tuple[regex.Pattern[str], ...]:
        return tuple(regex.compile(pattern, regex.VERSION1) for pattern in self.split)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return self.ids([token for part in self.parts(text) for token in self._part(part)])

    def _part(self, part: str) -> Iterator[int]:
        at = 0
        for match in self._added.finditer(part) if self._added else ():
            yield from self._ordinary(part[at : match.start()])
            yield self.added[match[0]]
            at = match.end()
        yield from self._ordinary(part[at:])

    def _ordinary(self, text: str) -> Iterator[int]:
        for chunk in self.chunks(self.normalize(text)) if text else ():
            yield from self.merging(chunk)

    def chunks(self, text: str) -> list[str]:
        """Cut a text; what no match takes is a chunk, too."""
        chunks = [text] if text else []
        for pattern in self._split:
            chunks = [chunk for some in chunks for chunk in _cut(pattern, some)]
        return chunks


def _cut(pattern: regex.Pattern[str], text: str) -> Iterator[str]:
    at = 0
    for match in pattern.finditer(text):
        yield from filter(None, (text[at : match.start()], match[0]))
        at = match.end()
    yield from filter(None, (text[at:],))


def model_of(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[StageModel, bool]:
    """Return a model that gives the ids of a tokenizer for all texts, and whether it has a split and merges.

    Where no such model is known, the tokenizer itself does what it has no stages for.
    """
    expected = [list(map(int, tokenizer.encode(text))) for text in texts]
    for model in _candidates(tokenizer):
        if all(model.encode(text) == ids for text, ids in zip(texts, expected, strict=True)):
            return model, True
    return StageModel(lambda chunk: list(map(int, tokenizer.encode(chunk)))), False


def _candidates(tokenizer: Tokenizer) -> Iterator[StageModel]:
    try:
        listed = tokenizer.merges if isinstance(tokenizer, HasMerges) else ()
    except AttributeError:
        return
    if not listed or not isinstance(tokenizer, HasTokenBytes):
        return
    special = {*tokenizer.special_ids.values()} if isinstance(tokenizer, HasSpecialTokens) else set()
    data = [b"" if k in special else tokenizer.token_bytes(k) for k in range(tokenizer.vocab_size)]
    stages = tokenizer.stages if isinstance(tokenizer, HasStages) else {}
    merges = _merges(data, listed)
    added = _added(data, merges, special)
    told = split_steps(stages)
    runs = {"\u2581" * len(token): k for k, token in enumerate(data) if len(token) > 1 and not token.strip(b" ")}
    for normalize, further in ((unchanged, {}), (_nfc, {}), (_no_escape, {}), (_no_escape, runs), (_spaced, {})):
        for split in (told,) if told else _SPLITS:
            yield StageModel(merges, normalize=normalize, split=split, added={**added, **further})


def _nfc(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFC", text)


def _no_escape(text: str) -> str:
    return text.replace("\u2581", " ")


def _spaced(text: str) -> str:
    return f" {_no_escape(text)}"


def _merges(data: Sequence[bytes], listed: Sequence[Sequence[int]]) -> Merges:
    ids = {token: k for k, token in enumerate(data) if token}
    first = next(
        (k for k in range(len(data) - _BYTES) if data[k : k + _BYTES] == [bytes([b]) for b in range(_BYTES)]), -1
    )
    by_character = first >= 0 and any(ids.get(bytes([b]), -1) >= first + _BYTES for b in range(0x80))
    pairs, looked_up = dict[tuple[int, int], tuple[int, int]](), dict[bytes, int]()
    for rank, parts in enumerate(listed):
        token = b"".join(data[k] for k in parts)
        if len(parts) == _TWO:
            pairs[parts[0], parts[1]] = rank, ids[token]
        else:
            looked_up[token] = ids[token]
    if not by_character:
        single = {byte: [ids[bytes([byte])]] for byte in range(_BYTES) if bytes([byte]) in ids}
        return Merges(single, pairs, looked_up, meeting=_meeting(pairs))
    characters = {}
    for k, token in enumerate(data):
        text = token.decode(errors="ignore")
        if len(text) == 1 and text.encode() == token and not first <= k < first + _BYTES:
            characters[text] = [k]
    fallback = range(first, first + _BYTES)
    return Merges(characters, pairs, looked_up, fallback, by_character=True, meeting=_meeting(pairs))


def _meeting(pairs: Mapping[tuple[int, int], tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Return the ids of bytes or characters that a merge makes neighbours in a token."""
    parts = {made: pair for pair, (_, made) in pairs.items()}

    @cache
    def end(token: int, side: int) -> int:
        return end(parts[token][side], side) if token in parts else token

    return frozenset((end(left, 1), end(right, 0)) for left, right in pairs)


def _added(data: Sequence[bytes], merges: Merges, special: set[int]) -> dict[str, int]:
    """Return the tokens that neither merges nor bytes make."""
    made = {k for _, k in pairs_of(merges).values()} | {*merges.whole.values()} | {*merges.fallback}
    made |= special.union(*merges.single.values())
    left = {token.decode(errors="ignore"): k for k, token in enumerate(data) if token and k not in made}
    return {text: k for text, k in left.items() if len(text) > 1}
