"""Whether a tokenizer is the published one that it resembles most, and if not, what differs and what it costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Final, NamedTuple

from tokbench import InputError
from tokbench.command import load_named, texts_by_group
from tokbench.plugin import HasSpecialTokens, HasTokenBytes, HasUnknown, Tokenizer, encode_batch
from tokbench_identity.causes import Cause, Place, changed_marks, pieces_of_ids, place_of_difference, reading, shown
from tokbench_identity.conform import named_by
from tokbench_identity.equal.recipe import text_of
from tokbench_identity.kit import Kit, kit_of, shipped_names
from tokbench_plugins.bpe import BPETokenizer

SIZES: Final = files(__package__).joinpath("sizes.tsv")
_SHOWN: Final = 3
_NEAR: Final = 0.01
_DISTANCES: Final = (_NEAR, 0.1, float("inf"))
"""How much sizes may differ, in steps: names further away are looked at if none is alike."""
_OTHER: Final = 0.05
"""The share of ids that differ from which on names of other sizes are looked at."""
_FOREIGN: Final = 0.2
"""The share of tokens that a name lacks from which on it is another vocabulary, and no change of this one."""
_UNKNOWN: Final = "<unk>"
_LONG, _PIECES, _TRIED = 40, 8, 200
_EACH: Final = 50
"""Merges that differ, up to which only the tokens that contain one of them are encoded."""


class AuditFinding(NamedTuple):
    """A difference from the published tokenizer."""

    cause: Cause
    what: str
    texts: int = 0
    """Documents of the sample that it gives other ids."""
    cost: float = 0.0
    """How many per cent more tokens the sample has because of these."""


@dataclass(frozen=True)
class Audit:
    """The answer, and what was compared."""

    given: str
    name: str
    """The published tokenizer that it resembles most."""
    resembles: float
    """The share of ids with the same bytes."""
    documents: int
    cost: float
    """How many per cent more tokens the sample has than with the published tokenizer."""
    findings: tuple[AuditFinding, ...] = ()
    not_compared: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Return the answer in one sentence."""
        if not self.findings:
            return f"{self.given} is {self.name}: no difference in ids, tokens, marks and {self.documents:,} texts."
        count = f"{len(self.findings)} difference{'s' * (len(self.findings) > 1)}"
        return f"{self.given} is not {self.name}: {count}; {self.cost:+.1f}% tokens on the sample."


def audit(given: str | Tokenizer, name: str = "") -> Audit:
    """Compare a tokenizer with the published one that it resembles most, or with the one of a name.

    Raises:
        InputError: it cannot be loaded, or resembles no published tokenizer.

    >>> audit("whisper-3").findings
    ()
    """
    mine = load_named(given)
    called = given if isinstance(given, str) else type(given).__name__
    name, published = (name, load_named(name)) if name else _most_alike(mine, called)
    kit = kit_of(name) if name in shipped_names() else None
    documents = [text for some in texts_by_group("sample").values() for text in some]
    compared = _Compared(mine, published, documents, [row.text for row in kit.texts] if kit else [])
    found = {finding.cause: finding for finding in (*_tables(compared), *_marks(mine, published))}
    for finding in compared.findings(kit):
        earlier = found.get(finding.cause, finding)
        found[finding.cause] = earlier._replace(texts=finding.texts, cost=finding.cost)
    return Audit(
        given=called,
        name=name,
        resembles=1 - _differing(*compared.tables) / max(map(len, compared.tables)),
        documents=len(documents),
        cost=compared.cost(range(len(documents))),
        findings=tuple(found.values()),
        not_compared=("marks: it has none",) if _special(published) and not _special(mine) else (),
    )


def _special(tokenizer: Tokenizer) -> Mapping[str, int]:
    """Return the marks but the unknown token, which not every reader of a file calls one."""
    special = tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else {}
    return {name: k for name, k in special.items() if k != _unknown(tokenizer) and name != _UNKNOWN}


def _unknown(tokenizer: Tokenizer) -> int | None:
    return tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None


def _table(tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes of each id, none of marks."""
    if not isinstance(tokenizer, HasTokenBytes):
        raise InputError(f"{type(tokenizer).__name__} has no bytes of ids; give another tokenizer")
    table = pieces_of_ids(tokenizer, range(tokenizer.vocab_size))
    for token_id in _special(tokenizer).values():
        table[token_id] = b""
    if (unknown := _unknown(tokenizer)) is not None:
        table[unknown] = b""
    return table


def _merged(tokenizer: Tokenizer, table: Sequence[bytes]) -> list[tuple[bytes, ...]] | None:
    """Return the parts of each merge by rank; ``None`` if they are not known, or encoding all tokens is faster."""
    with suppress(AttributeError):
        if isinstance(tokenizer, BPETokenizer):
            return [tuple(table[part] for part in parts) for parts in tokenizer.merges]
    return None


def _most_alike(mine: Tokenizer, called: str) -> tuple[str, Tokenizer]:
    """Return the published tokenizer with the fewest ids and marks that differ, among those of about this size."""
    table, loaded, differing = _table(mine), dict[str, Tokenizer](), dict[str, int]()
    own, sizes = set(table), published_sizes()
    for distance in _DISTANCES:
        far = distance * mine.vocab_size
        for name in [name for name, size in sizes.items() if abs(size - mine.vocab_size) <= far]:
            del sizes[name]
            with suppress(InputError):  # its package is not here
                other = load_named(name)
                of_name = _table(other)
                if len(own.intersection(of_name)) > (1 - _FOREIGN) * len(own):
                    loaded[name], differing[name] = other, _differing(table, of_name) + _changes(mine, other)
            if differing.get(name) == 0:
                return name, loaded[name]
        if differing and (distance > _NEAR or min(differing.values()) < _OTHER * mine.vocab_size):
            name = min(differing, key=differing.__getitem__)
            return name, loaded[name]
    raise InputError(f"{called} resembles no published tokenizer; name one with --as NAME")


def published_sizes() -> dict[str, int]:
    """Return the size of each published vocabulary, which is known without its package."""
    lines = SIZES.read_text("utf-8").splitlines()
    return {name: int(size) for name, size in (line.split("\t") for line in lines)}


def _differing(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    return max(len(one), len(other)) - sum(a == b for a, b in zip(one, other, strict=False))


def _changes(mine: Tokenizer, other: Tokenizer) -> int:
    return len([*changed_marks(_special(mine), _special(other))]) if _special(mine) else 0


class _Compared:
    """The ids of documents, texts of a kit and tokens, by both tokenizers."""

    def __init__(self, mine: Tokenizer, published: Tokenizer, documents: Sequence[str], kit: Sequence[str]) -> None:
        self.pair = mine, published
        self.tables = [_table(tokenizer) for tokenizer in self.pair]
        self.only = [{*one} - {*other, b""} for one, other in (self.tables, self.tables[::-1])]
        self.documents = len(documents)
        marks = {**_special(mine), **_special(published)}
        self.texts = [*documents, *kit, *marks, *(token.decode(errors="ignore") for token in [*self.only[0]][:_TRIED])]
        self.marks_at = len(documents) + len(kit)
        self.ids = [self._encoded(tokenizer, self.texts) for tokenizer in self.pair]
        self.unmade = self._never_made()
        self.lost = {token for token, cause in self.unmade.items() if cause is Cause.MERGES}

    @staticmethod
    def _encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
        encoded = encode_batch(tokenizer, texts)
        flat, ends = encoded.ids.tolist(), encoded.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(ends)]

    def cost(self, places: Iterable[int]) -> float:
        """Return how many per cent more tokens the documents have because of some of them."""
        more = sum(len(self.ids[0][k]) - len(self.ids[1][k]) for k in places if k < self.documents)
        return 100 * more / max(sum(map(len, self.ids[1][: self.documents])), 1)

    def _never_made(self) -> dict[bytes, Cause]:
        """Return the tokens that only the published one gives for their own text, and why this one does not."""
        ids = {token: k for k, token in enumerate(self.tables[0]) if token}
        touched = self._touched()
        texts = {text: token for token in touched if token in ids and (text := text_of(token))}
        alone = self._encoded(self.pair[0], [*texts])
        ids_of = {text: got for text, got in zip(texts, alone, strict=True) if got != [ids[texts[text]]]}
        left = [*ids_of]
        others = {token: k for k, token in enumerate(self.tables[1])}
        published = self._encoded(self.pair[1], left)
        return {
            texts[text]: self._place(text, ids_of[text], got).cause
            for text, got in zip(left, published, strict=True)
            if got == [others[texts[text]]]
        }

    def _touched(self) -> list[bytes]:
        """Return the published tokens whose own text a merge that differs can change."""
        tokens = [token for token in self.tables[1] if token]
        listed = [_merged(*some) for some in zip(self.pair, self.tables, strict=True)]
        if None in listed or listed[0] == listed[1]:
            return tokens if None in listed else []
        one, other = (some or [] for some in listed)
        both = {*one}.intersection(other)
        moved = zip((some for some in one if some in both), (some for some in other if some in both), strict=True)
        pairs = {*one}.symmetric_difference(other).union(pair for row in moved if row[0] != row[1] for pair in row)
        differing = {*map(b"".join, pairs)}
        if len(differing) > _EACH:
            return tokens
        return [token for token in tokens if any(part in token for part in differing)]

    def findings(self, kit: Kit | None) -> Iterator[AuditFinding]:
        """Yield the causes that texts show."""
        places: dict[Cause, list[int]] = {}
        for k, (a, b) in enumerate(zip(*self.ids, strict=True)):
            if a != b:
                places.setdefault(self._cause(k), []).append(k)
        if self.lost:
            places.setdefault(Cause.MERGES, [])
        failed = {self.texts[k] for some in places.values() for k in some if k >= self.documents}
        named = named_by(kit, failed.intersection(row.text for row in kit.texts)) if kit and len(places) == 1 else []
        for cause, some in places.items():
            count = sum(k < self.documents for k in some)
            yield AuditFinding(cause, self._words(cause, some, named), count, self.cost(some))

    def _cause(self, k: int) -> Cause:
        if k >= self.marks_at and 1 in {len(self.ids[0][k]), len(self.ids[1][k])}:
            return Cause.ADDED
        pieces = [[table[token] for token in ids[k]] for table, ids in zip(self.tables, self.ids, strict=True)]
        if not self.only[0].isdisjoint(pieces[0]) or not self.only[1].isdisjoint(pieces[1]):
            return Cause.TOKEN
        cause = self._place(self.texts[k], *(ids[k] for ids in self.ids)).cause
        lost = bool(self.lost) and not self.unmade.keys().isdisjoint(pieces[1])
        return Cause.MERGES if cause is Cause.SPLIT and lost else cause

    def _place(self, text: str, *ids: Sequence[int]) -> Place:
        pieces = ([table[token] for token in some] for table, some in zip(self.tables, ids, strict=True))
        return place_of_difference(*(reading(text, some) for some in pieces))

    def _words(self, cause: Cause, places: Sequence[int], named: Sequence[str]) -> str:
        if cause is Cause.MERGES and self.lost:
            return f"never made: {_some(self.lost)}"
        text = min((self.texts[k] for k in places), key=len)
        a, b = ([*map(shown, pieces_of_ids(some, some.encode(text)))] for some in self.pair)
        known = [some.partition(": ")[2] for some in named if some.startswith(f"{cause}: ")]
        words = f"{known[0]}; " if len(known) == 1 else ""
        return f"{words}{text[:_LONG]!r} is {a[:_PIECES]} instead of {b[:_PIECES]}"


def _tables(compared: _Compared) -> Iterator[AuditFinding]:
    """Yield what differs in the tokens and their ids."""
    (mine, published), (more, fewer) = compared.tables, compared.only
    if len(mine) > len(published) or (len(mine) < len(published) and _special(compared.pair[0])):
        yield AuditFinding(Cause.SIZE, f"{len(mine):,} ids instead of {len(published):,}")
    if more or fewer:
        has = [f"{how} {_some(some)}" for how, some in (("adds", more), ("lacks", fewer)) if some]
        yield AuditFinding(Cause.TOKEN, "; ".join(has))
    ids = {token: k for k, token in enumerate(published) if token}
    moved = [k for k, token in enumerate(mine) if token in ids and (k >= len(published) or published[k] != token)]
    if moved:
        first = mine[moved[0]]
        where = f"{shown(first)!r} is {moved[0]} instead of {ids[first]}"
        yield AuditFinding(Cause.IDS, f"{len(moved):,} tokens have other ids: {where}")


def _some(tokens: Collection[bytes]) -> str:
    named = ", ".join(repr(shown(token)) for token in sorted(tokens)[:_SHOWN])
    more = len(tokens) - _SHOWN
    return f"{named} and {more:,} more" if more > 0 else named


def _marks(mine: Tokenizer, published: Tokenizer) -> Iterator[AuditFinding]:
    changes = [*changed_marks(_special(published), _special(mine))] if _special(mine) else []
    if changes:
        more = f"; and {len(changes) - _SHOWN:,} more" if len(changes) > _SHOWN else ""
        shown_ = "; ".join(change.between("as published", "here") for change in changes[:_SHOWN])
        yield AuditFinding(Cause.MARKS, shown_ + more)
