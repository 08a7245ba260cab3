"""The tokenizer under test, as rules see it: calls that another rule is about are kept apart."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from tokbench.contracts.backend import BackendSpec
from tokbench.contracts.tokenizer import ClaimsLossless, HasSpecialTokens, Tokenizer
from tokbench.failures import set_heartbeat
from tokbench.testing.findings import Broken, Elsewhere, RuleNotApplicable
from tokbench.testing.request import CheckRequest
from tokbench.testing.shown import call_of
from tokbench.testing.shrink import shrink
from tokbench.testing.texts import corpus, generated

T = TypeVar("T")

BUILDING_ON: Final = "building on"
"""The verb of the heartbeat during a call that a rule only builds on."""

_SPELLED: Final = 64
_SAMPLED_IDS: Final = 20_000


def is_id(value: Any) -> bool:
    """Tell whether something is an integer, Python's or numpy's; ``True`` is not one."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def raised(error: BaseException) -> str:
    """Say what was raised, on one line, with its type.

    >>> raised(KeyError("a"))
    "raised KeyError: 'a'"
    """
    return f"raised {type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"[:500]


class TokenizerUnderTest:
    """A tokenizer, and what all rules ask of it.

    Args:
        request: how another tokenizer like it can be made.
        spec: its backend.
        tokenizer: the tokenizer.
        limit: seconds that a rule may take.
        avoid: calls that killed an earlier process; they are not made again.
    """

    def __init__(
        self,
        request: CheckRequest,
        spec: BackendSpec,
        tokenizer: Tokenizer,
        limit: float,
        avoid: frozenset[str] = frozenset(),
    ) -> None:
        self.request = request
        self.spec = spec
        self.tokenizer = tokenizer
        self.limit = limit
        self._avoid = avoid

    def call(self, method: str, *arguments: Any, builds_on: bool = False) -> Any:
        """Call a method of the tokenizer; what it raises goes through.

        Args:
            method: its name.
            *arguments: what it is given.
            builds_on: whether the rule only builds on it, and another rule is about it.

        Raises:
            Elsewhere: the same call has killed a process before.
        """
        call = call_of(method, *arguments)
        if call in self._avoid:
            raise Elsewhere
        set_heartbeat(BUILDING_ON if builds_on else "calling", place=call)
        return getattr(self.tokenizer, method)(*arguments)

    def answer(self, method: str, *arguments: Any, expected: str) -> Any:
        """Call a method that must not raise.

        Raises:
            Broken: it raises.
        """
        try:
            return self.call(method, *arguments)
        except (KeyboardInterrupt, Elsewhere):
            raise
        except BaseException as error:
            raise Broken(call_of(method, *arguments), expected, words=raised(error)) from error

    @cached_property
    def vocab_size(self) -> int:
        """The number of ids.

        Raises:
            Elsewhere: it is not a positive integer.
        """
        size = self.tokenizer.vocab_size
        if not is_id(size) or size < 1:
            raise Elsewhere
        return size

    @property
    def lossless(self) -> bool:
        """True if the tokenizer claims that nothing is lost."""
        return isinstance(self.tokenizer, ClaimsLossless) and self.tokenizer.lossless is True

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text.

        Raises:
            Elsewhere: the call fails, or gives something else.
        """
        ids: list[int] = self._quietly("encode", text)
        return ids if self.are_ids(ids) else _elsewhere()

    def are_ids(self, ids: Iterable[Any]) -> bool:
        """Tell whether all are ids of this vocabulary."""
        return all(is_id(each) and 0 <= each < self.vocab_size for each in ids)

    def ids_or_words(self, text: str) -> list[int] | str:
        """Return the ids of a text, or in words what happened instead."""
        try:
            return self.ids(text)
        except Elsewhere as error:
            return raised(error.__cause__) if error.__cause__ else "no ids of this vocabulary"

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of ids.

        Raises:
            Elsewhere: the call fails, or gives something else.
        """
        text = self._quietly("decode", list(ids))
        return text if isinstance(text, str) else _elsewhere()

    def _quietly(self, method: str, argument: Any) -> Any:
        try:
            answer = self.call(method, argument, builds_on=True)
            return list(map(_plain, answer)) if method == "encode" else answer
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Elsewhere from error

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The corpus, and text that spells the tokenizer's own special tokens; the shortest first."""
        names = self.special_names[:: max(1, len(self.special_names) // _SPELLED)]
        spelled = {text for name in names for text in (name, f"a{name}b", f" {name} {name}")}
        return tuple(sorted({*corpus(), *spelled}, key=lambda text: (len(text), text)))

    @property
    def more_texts(self) -> tuple[str, ...]:
        """The texts, and those that hypothesis generates."""
        return self.texts + generated(self.request.examples)

    @property
    def special_names(self) -> list[str]:
        """The names of special tokens, as far as the tokenizer gives them and they are names."""
        try:
            special = self.tokenizer.special_ids if isinstance(self.tokenizer, HasSpecialTokens) else {}
            return [name for name in special if isinstance(name, str) and name]
        except Exception:  # noqa: BLE001 - the rule about special tokens reports it
            return []

    @cached_property
    def encodable(self) -> list[str]:
        """All texts that can be encoded.

        Raises:
            RuleNotApplicable: no text can be encoded.
        """
        return self.working(self.more_texts, self.ids)

    def working(self, inputs: Iterable[T], step: Callable[[T], Any]) -> list[T]:
        """Return the inputs with which a step works; other rules are about the rest.

        Raises:
            RuleNotApplicable: it works with no input.
        """
        working = []
        for each in inputs:
            try:
                step(each)
            except Elsewhere:
                continue
            working.append(each)
        return working or _nothing()

    def each_text(self, texts: Sequence[str], check: Callable[[str], None]) -> str:
        """Check every text; the first one that fails is made as small as possible.

        Returns:
            The number of texts, in words.

        Raises:
            Broken: a text fails.
            RuleNotApplicable: no text can be encoded.
        """
        return f"{len(self.working(texts, lambda text: check_small(text, check))):,} texts"

    def some_ids(self) -> range:
        """Return all ids, or every k-th of a vocabulary of more than 20,000."""
        return range(0, self.vocab_size, -(-self.vocab_size // _SAMPLED_IDS))


def check_small(whole: T, check: Callable[[T], None]) -> None:
    """Check an input; if it fails, find the smallest that does.

    Raises:
        Broken: it fails.
    """
    try:
        check(whole)
    except Broken:
        check(_smallest(whole, check))
        raise  # the small one failed by chance


def _smallest(whole: Any, check: Callable[[Any], Any]) -> Any:

    def fails(candidate: Any) -> bool:
        try:
            check(candidate)
        except Broken:
            return True
        except (Elsewhere, RuleNotApplicable):
            pass
        return False

    return shrink(whole, fails)


def _plain(value: Any) -> Any:
    return operator.index(value) if is_id(value) else value


def _elsewhere() -> NoReturn:
    raise Elsewhere


def _nothing() -> NoReturn:
    raise RuleNotApplicable("no text could be encoded; see the other rules")
