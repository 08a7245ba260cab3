"""Whether a wrong version is wrong at all: a text in which it shows is looked for where it may, or a proof is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Final, NamedTuple

import regex

from tokbench.plugin import HasSpecialTokens, HasTokenBytes, Tokenizer
from tokbench_identity.equal.patterns import UndecidedError, compare_patterns, differing_characters, every_code_point
from tokbench_identity.mutants.model import Merges, StageModel
from tokbench_identity.mutants.pieces import SOME_KINDS, over, pieces_of, shape, texts_of
from tokbench_identity.mutants.ways import Mutant

SAME_CUTS: Final = "proved: every text is cut alike"
NO_TOKEN: Final = "proved: no token crosses the other cuts"  # noqa: S105 - no password
SAME_TEXT: Final = "every character is normalized alike, alone and among letters and marks"
NOT_SHOWN: Final = "not shown by any text of up to 3 kinds of characters, nor by tokens around the place"

_A_SHAPE, _ENCODED, _EVERY, _CHARACTERS, _BESIDE, _SHORT = 2, 2_000, 37, 300, 12, 3
_AROUND: Final = (
    *("{}", " {}", "a{}", "A{}", "1{}", "'{}", ".{}", "\n{}", "é{}", "中{}", "\u0301{}", "\r{}", "\u200b{}"),
    *("{}a", "{}A", "{}1", "{}'s", "{} ", "{}.", "{}\n", "{}É", "{}中", "{}\u0301", "{}/", "{}\r\n", "\t{}", "a{}A"),
)


class Decision(NamedTuple):
    """Why no text shows a wrong version, or a text that does."""

    reason: str
    text: str = ""


class Decider:
    """Decides on wrong versions of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, model: StageModel) -> None:
        self.tokenizer, self.model = tokenizer, model
        self._pieces = pieces_of([tokenizer])
        self._found: dict[str, None] = {}
        self._short: dict[str, list[int]] = {}

    def decide(self, mutant: Mutant) -> Decision:
        """Return why no text shows this, or a text that does."""
        wrong = mutant.model
        if wrong.normalize is not self.model.normalize and _normalize_alike(wrong, self.model):
            return Decision(SAME_TEXT)
        steps = self._steps(wrong)
        first = _compared(*steps) if steps else None
        if first == ():
            return Decision(SAME_CUTS)
        if text := self._showing(mutant, self._texts(mutant, first or ())):
            return Decision("", text)
        merging = self.model.merging
        last = bool(steps) and wrong.split[:-1] == self.model.split[:-1]
        if steps and first and last and isinstance(merging, Merges) and not merging.whole:
            crossed = compare_patterns(steps[0], steps[1], self._tokens)
            if not crossed:
                return Decision(NO_TOKEN)
            if text := self._showing(mutant, over(crossed[::_EVERY], self._pieces)):
                return Decision("", text)
        further = [self._with_differing(*steps) if steps else (), self._kinds]
        text = next((text for texts in further if (text := self._showing(mutant, iter(texts)))), "")
        return Decision("" if text else NOT_SHOWN, text)

    def shows(self, mutant: Mutant, text: str) -> bool:
        """Tell whether a wrong version has other ids, and the model has the tokenizer's."""
        ids = self._ids(text)
        return mutant.model.encode(text) != ids and ids == list(map(int, self.tokenizer.encode(text)))

    def _ids(self, text: str) -> list[int]:
        """Return the right ids; those of short texts are asked for with every wrong version."""
        if len(text) > _SHORT:
            return self.model.encode(text)
        if text not in self._short:
            self._short[text] = self.model.encode(text)
        return self._short[text]

    def _showing(self, mutant: Mutant, texts: Iterator[str]) -> str:
        text = next((text for text in texts if self.shows(mutant, text)), "")
        if text:
            self._found[text] = None
        return text

    def _steps(self, wrong: StageModel) -> tuple[str, ...]:
        """Return the one step of the split that differs, of both; none if something else does, too."""
        right = self.model.split
        if len(right) != len(wrong.split) or replace(wrong, split=right) != self.model:
            return ()
        [steps] = [(a, b) for a, b in zip(right, wrong.split, strict=True) if a != b]
        return steps

    @cached_property
    def _tokens(self) -> list[bytes]:
        assert isinstance(self.tokenizer, HasTokenBytes)
        special = {*self.tokenizer.special_ids.values()} if isinstance(self.tokenizer, HasSpecialTokens) else set()
        return [self.tokenizer.token_bytes(k) for k in range(self.tokenizer.vocab_size) if k not in special]

    @cached_property
    def _around_tokens(self) -> list[tuple[str, list[str]]]:
        """Tokens of each shape with characters around them, and their chunks."""
        shapes: dict[str, list[str]] = {}
        for token in texts_of(self.tokenizer):
            some = shapes.setdefault(shape(token), [])
            if len(some) < _A_SHAPE:
                some.append(token)
        texts = dict.fromkeys(place.format(t) for some in shapes.values() for t in some for place in _AROUND)
        return [(text, self.model.chunks(text)) for text in texts]

    def _texts(self, mutant: Mutant, first: Sequence[str]) -> Iterator[str]:
        yield from (*mutant.hints, *first)
        yield from reversed([*self._found])
        yield from over(first[::_EVERY], self._pieces)
        other = (text for text, chunks in self._around_tokens if mutant.model.chunks(text) != chunks)
        yield from islice(other, _ENCODED)

    def _with_differing(self, right: str, wrong: str) -> Iterator[str]:
        """Yield characters that only one of two steps takes, next to tokens, and those that share their bytes."""
        characters = differing_characters(right, wrong)
        characters = characters[:: 1 + len(characters) // _CHARACTERS]
        chosen = {*characters}
        for token in self._tokens if chosen else ():
            text = token.decode(errors="ignore")
            if not chosen.isdisjoint(text):
                yield from (place.format(text) for place in _AROUND)
        for char in characters:
            data = char.encode()
            ends = [text for k in range(1, len(data)) for text in self._rests.get(data[k:], ())]
            starts = [text for k in range(1, len(data)) for text in self._rests.get(data[:k], ())]
            yield from (
                f"{one}{char}{other}" for one in ("", "a", " ", "!", *starts) for other in ("", *ends[:_ENCODED])
            )
            yield from (
                text for piece in self._pieces for text in (f"{char}{piece}", f"{piece}{char}", f"a{char}{piece}")
            )

    @cached_property
    def _rests(self) -> dict[bytes, list[str]]:
        """The text of tokens that begin or end inside of a character, by the bytes of it that they have."""
        rests: dict[bytes, list[str]] = {}
        for token in self._tokens:
            text = token.decode(errors="ignore")
            at = token.find(text.encode())
            if text and len(text.encode()) < len(token) and at >= 0:
                rests.setdefault(token[:at] or token[len(text.encode()) :], []).append(text)
        return {part: sorted(texts, key=len)[:_BESIDE] for part, texts in rests.items()}

    @property
    def _kinds(self) -> Iterator[str]:
        return ("".join(chars) for size in (1, 2, 3) for chars in product(SOME_KINDS, repeat=size))


def _normalize_alike(one: StageModel, other: StageModel) -> bool:
    characters = regex.findall(r"[^\p{Cn}\p{Co}\p{Cs}]", every_code_point())
    return all(
        one.normalize(text) == other.normalize(text)
        for char in characters
        for text in (char, f"e{char}\u0323", f"\u1100{char}\u11a8")
    )


@lru_cache(5_000)
def _compared(right: str, wrong: str) -> tuple[str, ...] | None:
    """Return texts that two steps cut apart; none if there are none, ``None`` if that is not decided."""
    try:
        return tuple(compare_patterns(right, wrong))
    except UndecidedError:
        return None
