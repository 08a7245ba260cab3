"""Whether one tokenizer's ids can be used for another's: as a draft model, or to distil logits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench import InputError, plugin
from tokbench.command import load_named, texts_by_group
from tokbench.plugin import Tokenizer
from tokbench_identity.causes import changed_marks, notes_of_pair

_SHOWN: Final = 3
_NAMES: Final = "tokenizer_config.json"
_FILES: Final = ("config.json", "generation_config.json")
_ROLES: Final = ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
_NO: Final = "no: their tokens cannot be matched by bytes"


class Level(NamedTuple):
    """What a level says of the ids, of B as a draft model of A, and of distilling logits from A to B."""

    ids: str
    draft: str
    distil: str


LEVELS: Final = {
    "none": Level("cannot be matched", _NO, _NO),
    "mapping": Level(
        "have different bytes at {other:,} ids",
        "only with a mapping of tokens with the same bytes, or by text",
        "only on tokens that both cut alike, by bytes",
    ),
    "subset": Level(
        "have the same bytes at each id that both have, but the same text gets different ids",
        "only with a mapping: the same text may get different ids",
        "only on tokens that end at the same byte",
    ),
    "padding": Level(
        "have the same ids, and {extra:,} that only one has",
        "yes, as long as neither gives an id that only one has",
        "yes: cut logits to the first {least:,} ids",
    ),
    "same": Level("have the same ids", "yes: ids mean the same in both", "yes: row by row"),
}
"""From the least to the most compatible; each has what those before it have."""
_EXACT: Final = ("padding", "same")


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
    """Documents that are left out of both shares, because A and B read different bytes."""


@dataclass(frozen=True)
class Compatibility:
    """The answer, and the evidence."""

    level: str
    """One of :data:`LEVELS`."""
    sizes: tuple[int, int]
    different_ids: int
    """Ids of both that have different bytes."""
    examples: tuple[str, ...]
    overlap: Overlap
    special: tuple[str, ...]
    """Special tokens that differ."""
    faults: tuple[str, ...]
    """Ids of special tokens with other names; what does not fit in the files next to the tokenizers: roles, sizes."""
    undecided: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What the files of A and B say that changes no ids here."""

    @property
    def draft(self) -> str:
        """Whether B may draft for A."""
        return LEVELS[self.level].draft + self._but

    @property
    def distil(self) -> str:
        """Whether logits may be distilled from A to B."""
        return LEVELS[self.level].distil.format(least=min(self.sizes)) + self._but

    @property
    def _but(self) -> str:
        return f"; but {'; '.join(self.faults)}" if self.faults and self.level in _EXACT else ""

    def sentence(self, one: str, other: str) -> str:
        """Return the answer in one sentence."""
        ids = LEVELS[self.level].ids.format(extra=abs(self.sizes[0] - self.sizes[1]), other=self.different_ids)
        shared = self.overlap.shared
        weighed = "" if shared is None else f"; {percent(shared)}% of {one}'s tokens of the text are also {other}'s"
        return f"{one} and {other} {ids}{weighed}."

    def meets(self, required: str) -> bool:
        """Tell whether this is at least what is required; for the same ids, without faults."""
        levels = [*LEVELS]
        return levels.index(self.level) >= levels.index(required) and not (self.faults and required in _EXACT)


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
    first, second = loaded = [load_named(one), load_named(other)]
    documents = [t for some in texts_by_group(texts).values() for t in some] if isinstance(texts, str) else [*texts]
    if not documents:
        raise InputError("no text to compare: give a file with text")
    data = [_data(tokenizer) for tokenizer in loaded]
    overlap = _overlap(first, second, data, documents)
    differing = [k for k, (a, b) in enumerate(zip(*data, strict=False)) if a != b and a and b]
    roles = [_roles(name, tokenizer) for name, tokenizer in zip((one, other), loaded, strict=True)]
    undecided = []
    if lacking := [side for side, known in zip("AB", roles, strict=True) if not known.ids]:
        undecided.append(f"roles such as bos and eos: no file of a model says them for {' and '.join(lacking)}")
    if overlap.same_ids == overlap.documents and not differing:
        undecided.append("whether every other text has the same ids, too: ask tokbench equal A B")
    if overlap.rewritten:
        undecided.append(f"{overlap.rewritten:,} documents: A and B read different bytes (normalizer, prefix space)")
    sizes = first.vocab_size, second.vocab_size
    marks = [*changed_marks(*(getattr(tokenizer, "special_ids", {}) for tokenizer in loaded))]
    level = "mapping" if differing else "subset" if all(map(any, data)) else "none"
    if overlap.same_ids == overlap.documents and not differing:
        level = "same" if sizes[0] == sizes[1] else "padding"
    return Compatibility(
        level=level,
        sizes=sizes,
        different_ids=len(differing),
        examples=tuple(f"id {k}: {data[0][k]!r} and {data[1][k]!r}" for k in differing[:_SHOWN]),
        overlap=overlap,
        special=tuple(some.between("in A", "in B") for some in marks),
        faults=(
            *(f"id {some.one} is {some.name} in A, {some.renamed} in B" for some in marks if some.renamed),
            *_other_roles(*roles),
            *(f"{side}: {fault}" for side, known in zip("AB", roles, strict=True) for fault in known.faults),
        ),
        undecided=tuple(undecided),
        notes=notes_of_pair(loaded),
    )


def percent(share: float) -> str:
    """Write a share so that only a whole one is 100.0.

    >>> percent(0.9996)
    '99.9'
    """
    return f"{math.floor(1000 * share) / 10:.1f}"


def _data(tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes of each id, none for special ones."""
    if not isinstance(tokenizer, plugin.HasTokenBytes):
        return [b""] * tokenizer.vocab_size
    special = {*getattr(tokenizer, "special_ids", {}).values()}
    return [b"" if k in special else tokenizer.token_bytes(k) for k in range(tokenizer.vocab_size)]


def _overlap(first: Tokenizer, second: Tokenizer, data: Sequence[list[bytes]], documents: list[str]) -> Overlap:
    encoded = [plugin.encode_batch(tokenizer, documents) for tokenizer in (first, second)]
    chunks: Counter[str] = Counter()
    same = rewritten = counted = 0
    for ids in zip(*(np.split(some.ids, some.offsets[1:-1]) for some in encoded), strict=True):
        same += np.array_equal(*ids)
        pieces = [[table[k] for k in some.tolist()] for table, some in zip(data, ids, strict=True)]
        if b"".join(pieces[0]) != b"".join(pieces[1]):
            rewritten += 1
        else:
            chunks += _aligned(*([*accumulate(map(len, some), initial=0)] for some in pieces))
            counted += len(pieces[0])
    total = chunks.total()
    return Overlap(
        documents=len(documents),
        tokens=(len(encoded[0].ids), len(encoded[1].ids)),
        same_ids=same,
        shared=chunks["1:1"] / counted if counted else None,
        chunks={kind: chunks[kind] / total for kind in ("1:1", "n:1", "1:n", "n:m")} if total else {},
        rewritten=rewritten,
    )


def _aligned(one: Sequence[int], other: Sequence[int]) -> Counter[str]:
    """Return the chunks between common cuts by the tokens in them.

    >>> _aligned([0, 1, 3, 4, 6], [0, 1, 2, 4, 6])
    Counter({'1:1': 2, 'n:m': 1})
    """
    common = np.intersect1d(one, other)
    counts = zip(*(np.diff(np.searchsorted(np.unique(some), common)).tolist() for some in (one, other)), strict=True)
    return Counter(f"{'1' if a == 1 else 'n'}:{'1' if b == 1 else 'm' if a > 1 else 'n'}" for a, b in counts)


class _Roles(NamedTuple):
    """The ids of roles such as bos by the files of a model, and what does not fit together in these."""

    ids: dict[str, tuple[int, ...]]
    faults: list[str]


def _other_roles(one: _Roles, other: _Roles) -> Iterator[str]:
    for role, ids in one.ids.items():
        if {*ids} != {*other.ids.get(role, ids)}:
            yield f"{role} is {[*ids]} in A, {[*other.ids[role]]} in B"


def _roles(name: str | Tokenizer, tokenizer: Tokenizer) -> _Roles:
    """Read the files of a model in its folder, or next to its tokenizer; the first that has a role gives its ids."""
    ids: dict[str, tuple[int, ...]] = {}
    faults: list[str] = []
    special: Mapping[str, int] = getattr(tokenizer, "special_ids", {})
    if not isinstance(name, str) or not Path(name).exists():
        return _Roles(ids, faults)
    folder = Path(name) if Path(name).is_dir() else Path(name).parent
    for role, token in _roles_in(_read(folder / _NAMES), "_token"):
        text = token.get("content") if isinstance(token, dict) else token
        if isinstance(text, str) and text in special:
            ids[role] = (special[text],)
        elif text and role != "unk":
            faults.append(f"{_NAMES}: {role} is {text!r}, which is not a special token of the tokenizer")
    named = {role: some[0] for role, some in ids.items()}
    names = {token_id: text for text, token_id in special.items()}
    for place in _FILES:
        content = _read(folder / place)
        size = content.get("vocab_size")
        if isinstance(size, int) and size < tokenizer.vocab_size:
            faults.append(f"{place}: vocab_size is {size:,}, but the tokenizer has {tokenizer.vocab_size:,} ids")
        for role, value in _roles_in(content, "_token_id"):
            some = tuple(value) if isinstance(value, list) else (value,)
            ids.setdefault(role, some)
            outside = [token_id for token_id in some if not 0 <= token_id < tokenizer.vocab_size]
            faults += [f"{place}: {role} is id {token_id}, which the tokenizer does not have" for token_id in outside]
            if role in named and named[role] not in some:
                shown = ", ".join(f"{token_id} {names.get(token_id, '')}".strip() for token_id in some)
                faults.append(f"{place}: {role} is {shown}; {_NAMES}: {named[role]} {names[named[role]]}")
    return _Roles(ids, faults)


def _roles_in(content: Mapping[str, Any], end: str) -> list[tuple[str, Any]]:
    return [(role, content[f"{role}{end}"]) for role in _ROLES if content.get(f"{role}{end}") is not None]


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = plugin.parse_json(plugin.decode_utf8(plugin.read_file(path, text=True)))
    except plugin.TextError as error:
        raise InputError(f"{error.at(path)}; correct the file") from error
    return content if isinstance(content, dict) else {}
