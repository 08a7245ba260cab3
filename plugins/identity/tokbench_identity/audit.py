"""Whether a tokenizer is the published one that it resembles most, and if not, what differs and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice, pairwise, takewhile
from typing import Final, NamedTuple

from tokbench import InputError
from tokbench.command import load_named, texts_by_group
from tokbench.plugin import HasSpecialTokens, HasStages, HasTokenBytes, HasUnknown, Tokenizer, encode_batch
from tokbench_identity.causes import (
    Cause,
    Place,
    changed_marks,
    notes_of,
    pieces_of_ids,
    place_of_difference,
    reading,
    shown,
)
from tokbench_identity.conform import named_by
from tokbench_identity.equal.recipe import compare_stages, text_of
from tokbench_identity.kit import Kit, kit_of, shipped_names

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
_BEFORE, _PIECES, _TRIED = 2, 8, 200
_PROBED: Final = 2_000
"""Texts that are encoded for each stage that differs."""
_LONGEST: Final = 120
"""Characters of a stage that are shown with a text."""
_ENOUGH: Final = 3
"""Tokens with a pair of characters, from which on they tell whether a split cuts it."""


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
    not_shown: tuple[str, ...] = ()
    """Stages that are written otherwise, where no text was found that gets other ids."""
    notes: tuple[str, ...] = ()
    """What its file says, and ids here are without."""

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
    found = {finding.cause: finding for finding in (*_tables(compared), *_marks(compared))}
    for finding in compared.findings(kit):
        earlier = found.get(finding.cause, finding)
        found[finding.cause] = earlier._replace(texts=finding.texts, cost=finding.cost)
    differing = {Cause(stage): text for stage, text in compared.stages.differing.items()}
    for cause in [some for some in (Cause.NORMALIZER, Cause.ADDED) if some in differing]:  # any text may show these
        found.setdefault(cause, AuditFinding(cause, differing[cause]))
    not_shown = [f"{cause}: {text}; no text shows it" for cause, text in differing.items() if cause not in found]
    return Audit(
        given=called,
        name=name,
        resembles=1 - _differing(*compared.tables) / max(map(len, compared.tables)),
        documents=len(documents),
        cost=compared.cost(range(len(documents))),
        findings=tuple(found.values()),
        not_compared=("marks: it has none",) * (compared.without_marks and not compared.freed),
        not_shown=tuple(not_shown),
        notes=notes_of(mine),
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
    stages = mine.stages if isinstance(mine, HasStages) else {}
    lost = ", and has no decoder, without which its bytes are not known" if stages.get("decoding") == "null" else ""
    raise InputError(f"{called} resembles no published tokenizer{lost}; name one with --as NAME")


def published_sizes() -> dict[str, int]:
    """Return the size of each published vocabulary, which is known without its package."""
    lines = SIZES.read_text("utf-8").splitlines()
    return {name: int(size) for name, size in (line.split("\t") for line in lines)}


def _differing(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    return max(len(one), len(other)) - sum(a == b for a, b in zip(one, other, strict=False))


def _changes(mine: Tokenizer, other: Tokenizer) -> int:
    return len([*changed_marks(_special(mine), _special(other))]) if _special(mine) else 0


class _Compared:
    """The stages of both tokenizers, and the ids of documents, texts of a kit and tokens by both."""

    def __init__(self, mine: Tokenizer, published: Tokenizer, documents: Sequence[str], kit: Sequence[str]) -> None:
        self.pair = mine, published
        self.tables = [_table(tokenizer) for tokenizer in self.pair]
        self.without_marks = bool(_special(published)) and not _special(mine)
        self.freed = {
            name
            for name, k in _special(published).items()
            if k < len(self.tables[0]) and self.tables[0][k] == name.encode()
        }
        marks = {**_special(mine), **_special(published)}
        known = {b"", *(name.encode() for name in self.freed)}
        self.only = [{*one} - {*other} - known for one, other in (self.tables, self.tables[::-1])]
        self.documents = len(documents)
        self.stages = compare_stages(self.pair)
        self.probed = {
            text: Cause(one.stage) for one in self.stages.differences for text in islice(one.probes, _PROBED)
        }
        before = [*documents, *kit, *self.probed]
        self.marks_at = len(before)
        self.texts = [*before, *marks, *(token.decode(errors="ignore") for token in [*self.only[0]][:_TRIED])]
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
        one, other = ({token: k for k, token in enumerate(table) if token} for table in self.tables)
        tokens = {text: token for token in other if token in one and (text := text_of(token))}
        # Where a space is put before a text, one in the text is a second space.
        spaced = {text: text[1:] for text in tokens if text[:1] == " "} if self._puts_a_space() else {}
        texts = [*dict.fromkeys([*tokens, *spaced.values()])]
        ids = [dict(zip(texts, self._encoded(tokenizer, texts), strict=True)) for tokenizer in self.pair]
        unmade = {}
        for text, token in tokens.items():
            for written in dict.fromkeys((text, spaced.get(text, text))):
                mine, published = (some[written] for some in ids)
                if other[token] in published and one[token] not in mine:
                    unmade[token] = self._place(written, mine, published).cause
        guessed = {token for token, cause in unmade.items() if cause is Cause.SPLIT}
        if guessed and not self.stages.only_cutter:
            made = (token for text, token in tokens.items() if token not in unmade)
            unmade.update((token, Cause.MERGES) for token in _joined(guessed, made))
        return unmade

    def _puts_a_space(self) -> bool:
        return any(b"".join(pieces_of_ids(some, some.encode("a"))) != b"a" for some in self.pair)

    def findings(self, kit: Kit | None) -> Iterator[AuditFinding]:
        """Yield the causes that texts show."""
        places: dict[Cause, list[int]] = {}
        for k, (a, b) in enumerate(zip(*self.ids, strict=True)):
            if a != b:
                places.setdefault(self._cause(k), []).append(k)
        for cause in self.unmade.values():
            places.setdefault(cause, [])
        failed = {self.texts[k] for some in places.values() for k in some if k >= self.documents}
        named = named_by(kit, failed.intersection(row.text for row in kit.texts)) if kit and len(places) == 1 else []
        for cause, some in places.items():
            count = sum(k < self.documents for k in some)
            yield AuditFinding(cause, self._words(cause, some, named), count, self.cost(some))

    def _cause(self, k: int) -> Cause:
        sizes = {len(self.ids[0][k]), len(self.ids[1][k])}
        if k >= self.marks_at and 1 in sizes and len(sizes) > 1:
            return Cause.ADDED
        pieces = [[table[token] for token in ids[k]] for table, ids in zip(self.tables, self.ids, strict=True)]
        if not self.only[0].isdisjoint(pieces[0]) or not self.only[1].isdisjoint(pieces[1]):
            return Cause.TOKEN
        cause = self._place(self.texts[k], *(ids[k] for ids in self.ids)).cause
        if cause not in {Cause.SPLIT, Cause.MERGES}:
            return cause
        lost = bool(self.lost) and not self.unmade.keys().isdisjoint(pieces[1])
        return self.probed.get(self.texts[k], Cause.MERGES if lost else cause)

    def _place(self, text: str, *ids: Sequence[int]) -> Place:
        pieces = ([table[token] for token in some] for table, some in zip(self.tables, ids, strict=True))
        place = place_of_difference(*(reading(text, some) for some in pieces))
        if place.cause in {Cause.SPLIT, Cause.MERGES} and self.stages.only_cutter:
            return place._replace(cause=Cause(self.stages.only_cutter))
        return place

    def _words(self, cause: Cause, places: Sequence[int], named: Sequence[str]) -> str:
        unmade = [token for token, some in self.unmade.items() if some is cause]
        if unmade and (cause is Cause.MERGES or not places):
            return f"never made: {_some(unmade)}"
        text = min((self.texts[k] for k in places), key=len)
        ids = [[*map(int, tokenizer.encode(text))] for tokenizer in self.pair]
        place = self._place(text, *ids)
        one, other = ([*map(shown, pieces_of_ids(*some))] for some in zip(self.pair, ids, strict=True))
        if place.byte is not None:
            one, other = [*place.one], [*place.other]
        same = sum(1 for _ in takewhile(lambda row: row[0] == row[1], zip(one, other, strict=False)))
        one, other = (some[max(same - _BEFORE, 0) :][:_PIECES] for some in (one, other))
        known = [some.partition(": ")[2] for some in named if some.startswith(f"{cause}: ")]
        stage = self.stages.differing.get(cause, "") if cause is not Cause.MERGES else ""
        stage = stage if len(stage) <= _LONGEST else ""
        words = f"{known[0] if len(known) == 1 else stage}; ".lstrip("; ")
        return f"{words}{''.join(other)!r} is {one} instead of {other}"


def _joined(tokens: Iterable[bytes], made: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the tokens that no split cuts: others with the same pairs of characters are made."""
    pairs: Counter[str] = Counter()
    for token in made:
        pairs.update(map("".join, pairwise(text_of(token))))
    for token in tokens:
        text = text_of(token)
        if all(pairs["".join(pair)] >= _ENOUGH for pair in pairwise(text)):
            yield token


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


def _marks(compared: _Compared) -> Iterator[AuditFinding]:
    mine, published = map(_special, compared.pair)
    words = [f"{name} is no longer special: text gives it" for name in sorted(compared.freed)]
    if mine:
        left = {name: k for name, k in published.items() if name not in compared.freed}
        words += [change.between("as published", "here") for change in changed_marks(left, mine)]
    if words:
        more = f"; and {len(words) - _SHOWN:,} more" if len(words) > _SHOWN else ""
        yield AuditFinding(Cause.MARKS, "; ".join(words[:_SHOWN]) + more)
