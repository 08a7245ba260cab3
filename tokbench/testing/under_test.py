"""The tokenizer under test, and the calls of rules."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np

from tokbench.config.validate import validate_options
from tokbench.foundation.errors import BackendUnavailable, InputError, one_line
from tokbench.foundation.failures import set_heartbeat
from tokbench.registry.plugins import ALL, Registry, load_registry, missing
from tokbench.testing.findings import Broken, PrerequisiteFailed, RuleNotApplicable, call_of, raised
from tokbench.testing.shrink import S, shrink
from tokbench.testing.texts import corpus, training_text
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.contract import ClaimsLossless, HasSpecialTokens, Tokenizer
from tokbench.tokenizers.options import Options

T = TypeVar("T")

_SPELLED: Final = 64
_SAMPLED_IDS: Final = 20_000

EXAMPLES: Final = 200


@dataclass(frozen=True)
class CheckRequest:
    """The tokenizer to check."""

    backend: str | BackendSpec
    options: Mapping[str, Any] = field(default_factory=dict)
    train: int = 0
    """The vocabulary size of training on the shipped text; 0 to load."""
    examples: int = EXAMPLES
    pickled: bytes = b""

    @property
    def name(self) -> str:
        return self.backend if isinstance(self.backend, str) else self.backend.name

    def spec(self, registry: Registry) -> BackendSpec:
        return registry.backends.get(self.backend) if isinstance(self.backend, str) else self.backend

    def check(self) -> None:
        """Raise InputError for what cannot be made, before any process starts."""
        registry = load_registry(here=ALL)
        spec = self.spec(registry)
        if self.train and spec.train is None:
            raise InputError(f"backend {spec.name!r} cannot be trained; leave out 'train'")
        if not self.train and spec.load is None:
            raise InputError(f"backend {spec.name!r} cannot be loaded, only trained; give train, a vocabulary size")
        if self.train and self.train < spec.min_vocab_size:
            raise InputError(f"train is {self.train}, but backend {spec.name!r} needs {spec.min_vocab_size} or more")
        self._validated(spec)
        try:
            pickle.dumps(self)
        except Exception as error:
            raise InputError(
                f"the spec of backend {spec.name!r} cannot be sent to another process ({one_line(error)}); use a "
                "registered backend, or functions of a module"
            ) from error

    def _validated(self, spec: BackendSpec) -> Options:
        model = spec.train_options if self.train else spec.load_options
        return validate_options(model, dict(self.options), f"options of backend {spec.name!r}")

    def make(self, spec: BackendSpec) -> Tokenizer:
        """Load or train the tokenizer; raise whatever the backend raises."""
        if self.pickled:
            copy: Tokenizer = pickle.loads(self.pickled)  # noqa: S301 - our own child process made it
            return copy
        if absent := missing(spec):
            raise BackendUnavailable(absent)
        options = self._validated(spec)
        if not self.train:
            assert spec.load is not None
            return spec.load(options)
        assert spec.train is not None
        return spec.train(training_text(), self.train, options, lambda _done, _total: None)


def is_id(value: Any) -> bool:
    """Return whether something is an integer, but not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@dataclass
class TokenizerUnderTest:
    """A tokenizer, and the common calls of rules."""

    request: CheckRequest
    spec: BackendSpec
    tokenizer: Any
    """A tokenizer; rules say what else it needs."""
    limit: float
    generated: tuple[str, ...] = ()

    def call(self, method: str, *arguments: Any, **settings: Any) -> Any:
        """Call a method of the tokenizer, whatever it raises."""
        set_heartbeat("calling", place=call_of(method, *arguments, **settings))
        return getattr(self.tokenizer, method)(*arguments, **settings)

    def answer(self, method: str, *arguments: Any, expected: str, **settings: Any) -> Any:
        """Call a method that must not raise."""
        try:
            return self.call(method, *arguments, **settings)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Broken(call_of(method, *arguments, **settings), expected, words=raised(error)) from error

    @cached_property
    def vocab_size(self) -> int:
        size = self.tokenizer.vocab_size
        if not is_id(size) or size < 1:
            raise PrerequisiteFailed
        return int(size)

    @property
    def lossless(self) -> bool:
        return isinstance(self.tokenizer, ClaimsLossless) and self.tokenizer.lossless is True

    def ids(self, text: str) -> list[int]:
        ids = self._quietly("encode", text)
        if not self.are_ids(ids):
            raise PrerequisiteFailed
        return list(map(operator.index, ids))

    def are_ids(self, ids: Iterable[Any]) -> bool:
        return all(is_id(token) and 0 <= token < self.vocab_size for token in ids)

    def ids_or_words(self, texts: Sequence[str]) -> list[list[int] | str]:
        """Return the ids of each text, or in words what happened instead."""
        return list(map(self._ids_or_words, texts))

    def _ids_or_words(self, text: str) -> list[int] | str:
        try:
            return self.ids(text)
        except PrerequisiteFailed as error:
            return raised(error.__cause__) if error.__cause__ else "no ids of this vocabulary"

    def text(self, ids: Sequence[int]) -> str:
        text = self._quietly("decode", list(ids))
        if not isinstance(text, str):
            raise PrerequisiteFailed
        return text

    def _quietly(self, method: str, argument: Any) -> Any:
        try:
            answer = self.call(method, argument)
            return list(answer) if method == "encode" else answer
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PrerequisiteFailed from error

    @cached_property
    def texts(self) -> tuple[str, ...]:
        names = self.special_names[:: max(1, len(self.special_names) // _SPELLED)]
        spelled = {text for name in names for text in (name, f"a{name}b", f" {name} {name}")}
        return tuple(sorted({*corpus(), *spelled}, key=lambda text: (len(text), text)))

    @property
    def more_texts(self) -> tuple[str, ...]:
        return self.texts + self.generated

    @property
    def special_names(self) -> list[str]:
        try:
            special = self.tokenizer.special_ids if isinstance(self.tokenizer, HasSpecialTokens) else {}
            return [name for name in special if isinstance(name, str) and name]
        except Exception:  # noqa: BLE001 - the rule about special tokens reports it
            return []

    @cached_property
    def encodable(self) -> list[str]:
        return self.working(self.more_texts, self.ids)

    def working(self, inputs: Iterable[T], step: Callable[[T], Any]) -> list[T]:
        """Return the inputs with which a step works; raise RuleNotApplicable if it works with none."""
        working = []
        for item in inputs:
            try:
                step(item)
            except PrerequisiteFailed:
                continue
            working.append(item)
        if not working:
            raise RuleNotApplicable("no text could be encoded; see the other rules")
        return working

    def each_text(self, texts: Sequence[str], check: Callable[[str], None]) -> str:
        """Check every text, shrink a failing one, and return their number in words."""
        return f"{len(self.working(texts, lambda text: check_small(text, check))):,} texts"

    def some_ids(self) -> range:
        """Return all ids, or some of more than 20,000."""
        return range(0, self.vocab_size, -(-self.vocab_size // _SAMPLED_IDS))


def check_small(whole: S, check: Callable[[S], None]) -> None:
    """Check an input; if it fails, find the smallest that does."""

    def fails(candidate: S) -> bool:
        try:
            check(candidate)
        except Broken:
            return True
        except RuleNotApplicable:
            pass
        return False

    try:
        check(whole)
    except Broken:
        check(shrink(whole, fails))
        raise  # the small one failed by chance
