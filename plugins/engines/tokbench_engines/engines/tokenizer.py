"""The tokenizer that all engines share, and its registration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from tokbench import plugin
from tokbench.plugin import BackendError, Encoded, check_id, valid_unicode
from tokbench_engines.engines.given import holes, sample_texts
from tokbench_plugins.bpe import Encoder, Merges
from tokbench_plugins.bpe.special import EncodesAroundSpecial
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary, load_vocabulary


@dataclass(frozen=True)
class Engine:
    """The functions of an engine, on one thread."""

    encode: Callable[[str], Sequence[int]]
    decode: Callable[[list[int]], bytes | str | None]
    """Bytes or text of ids; ``None`` or an error where it cannot."""
    encode_many: Callable[[list[str]], Encoded] | None = None
    """The ids of many texts in arrays, if faster than one by one."""
    decode_many: Callable[[list[list[int]]], list[Any]] | None = None
    given: int | None = None
    """The number of ids that it received, from 0 on; set if it reads invalid memory for any other."""
    detours: Callable[[], int] = lambda: 0
    """Counts the texts that the engine cannot encode and that were encoded in another way."""
    count: Callable[[str], int] | None = None
    notes: tuple[str, ...] = ()


class EngineTokenizer(EncodesAroundSpecial):
    """An engine with a vocabulary; lone surrogates are encoded as U+FFFD.

    Ids that the engine cannot decode are put together from the vocabulary. ``origin``, a function and its arguments,
    makes this tokenizer again.
    """

    count_batch: Callable[[Sequence[str]], list[int]]
    encode_batch: Callable[[Sequence[str]], Encoded]
    identity: str
    """The split, if the vocabulary is from a file; see :class:`tokbench.tokenizers.contract.HasIdentity`."""
    lossless = True
    thread_safe = True

    def __init__(
        self,
        name: str,
        engine: Engine,
        vocabulary: EngineVocabulary,
        origin: tuple[Callable[..., Any], tuple[Any, ...]],
    ) -> None:
        self._name = name
        self._engine = engine
        self._encode = engine.encode
        self._vocabulary = vocabulary
        self._tokens = vocabulary.tokens
        self._holes = holes(vocabulary)
        self._origin = origin
        if not vocabulary.encoding:
            self.identity = repr(vocabulary.pattern)
        self.vocab_size = len(self._tokens)
        self.special_ids: Mapping[str, int] = dict(vocabulary.special)
        self.notes = (*vocabulary.notes, *engine.notes)
        if engine.count is not None:
            count = engine.count
            self.count_batch = partial(self._of_many, lambda texts: list(map(count, texts)))
        if engine.encode_many is not None:
            self.encode_batch = partial(self._of_many, engine.encode_many)

    @property
    def detours(self) -> int:
        return self._engine.detours()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin

    def encode(self, text: str, /) -> Sequence[int]:
        try:
            return self._encode(text)
        except BaseException as error:
            valid = valid_unicode(text)
            if valid != text:
                return self.encode(valid)
            raise _failure(self._name, error) from error

    def _of_many(self, call: Callable[[list[str]], Any], texts: Sequence[str], /) -> Any:
        try:
            return call(list(texts))
        except BaseException as error:
            failure = _failure(self._name, error)
            valid = list(map(valid_unicode, texts))
            if valid != list(texts):
                return self._of_many(call, valid)
            raise failure from error

    def decode(self, ids: Sequence[int], /) -> str:
        ids = list(ids)
        for extreme in (min(ids, default=0), max(ids, default=0)):
            check_id(extreme, self.vocab_size)
        return self._decode(ids)

    def _decode(self, ids: list[int]) -> str:
        given = self._engine.given
        try:
            beyond = (given is not None and max(ids, default=0) >= given) or self._has_holes(ids)
            data = None if beyond else self._engine.decode(ids)
        except BaseException as error:  # noqa: BLE001 - what is not a failure of the engine is raised again
            _failure(self._name, error)
            data = None
        if data is None:
            data = b"".join(map(self.token_bytes, ids))
        return data if isinstance(data, str) else data.decode("utf-8", errors="replace")

    def _has_holes(self, ids: list[int]) -> bool:
        return bool(self._holes) and not self._holes.isdisjoint(ids)

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        check_id(int(encoded.ids.max(initial=0)), self.vocab_size)
        ids, ends = encoded.ids.tolist(), encoded.offsets.tolist()
        documents = [ids[start:end] for start, end in pairwise(ends)]
        if self._engine.decode_many is not None and not self._has_holes(ids):
            try:
                decoded = self._engine.decode_many(documents)
                return [data if isinstance(data, str) else data.decode("utf-8", "replace") for data in decoded]
            except BaseException as error:  # noqa: BLE001 - then one by one
                _failure(self._name, error)
        return list(map(self._decode, documents))

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        return self._tokens[token_id]

    @property
    def merges(self) -> Merges:
        return self._vocabulary.merges


def load_engine(name: str, make: Callable[[EngineVocabulary], Engine], options: plugin.Options) -> EngineTokenizer:
    """Load a vocabulary into an engine."""
    vocabulary = load_vocabulary(options)
    engine = engine_of(name, make, vocabulary)
    return EngineTokenizer(name, engine, vocabulary, (load_engine, (name, make, options)))


def engine_of(name: str, make: Callable[[EngineVocabulary], Engine], vocabulary: EngineVocabulary) -> Engine:
    """Return the engine of a vocabulary; if it was read with its merges, a difference of ids is noted."""
    engine: Engine = calling(name, lambda: make(vocabulary))
    if vocabulary.merged is None:
        return engine
    ours = Encoder(vocabulary.merged, vocabulary.pattern)
    texts = [*sample_texts(vocabulary.merged), *(f"a{special}b" for special in vocabulary.special)]
    given = calling(name, lambda: [list(engine.encode(text)) for text in texts])
    wrong = [text for text, ids in zip(texts, given, strict=True) if ids != ours(text)]
    if not wrong:
        return engine
    where = f"{len(wrong)} of {len(texts)} sample texts, such as {wrong[0][:40]!r}"
    return replace(engine, notes=(*engine.notes, f"caution: its ids differ from the file on {where}"))


def calling(name: str, call: Callable[[], Any]) -> Any:
    """Return the result of a native call.

    >>> calling("engine", lambda: [][0])
    Traceback (most recent call last):
    tokbench.foundation.errors.BackendError: engine: IndexError: list index out of range
    """
    try:
        return call()
    except BaseException as error:
        raise _failure(name, error) from error


def _failure(name: str, error: BaseException) -> BackendError:
    """Each library has a class of its own for Rust's panics, known by its name."""
    if isinstance(error, BackendError):
        return error
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    kind = "panicked" if type(error).__name__ == "PanicException" else type(error).__name__
    return BackendError(f"{name}: {kind}: {' '.join(str(error).split()) or 'no message'}")
