"""Which engine encodes a batch: all give the same ids, and differ in speed and in what they need.

========= ======================= ==================================================================
engine    speed                   needs
========= ======================= ==================================================================
python    that of tiktoken / 4    nothing; the others are measured against its ids
numba     tiktoken · 2.5 to 11    numba; compiles for some seconds, once on each machine
gigatoken tiktoken · 2 to 20      gigatoken; one of the named patterns; ids verified on a sample
auto      the faster of them      what is installed; python until there was enough text to be worth it
========= ======================= ==================================================================

The lower figures are for prose in many languages, whose words were never seen before: there numba is the
faster of the two. The higher ones are for code, and there gigatoken is. So ``auto`` looks at each batch:
what is mostly ASCII goes to gigatoken.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Literal, Protocol, get_args

from tokbench.plugin import BackendError, BackendUnavailable, Encoded, did_you_mean
from tokbench_plugins.bpe.compiled.jit import has_numba
from tokbench_plugins.bpe.fast.gigatoken import has_gigatoken
from tokbench_plugins.bpe.vocabulary import Vocabulary

__all__ = ["ENGINES", "BulkEncoder", "Engine", "bulk_encoder", "check_engine"]

Engine = Literal["auto", "python", "numba", "gigatoken"]
"""What a user may ask for."""

ENGINES: Final[tuple[str, ...]] = get_args(Engine)

_log = logging.getLogger("tokbench")


class BulkEncoder(Protocol):
    """What encodes batches."""

    def encode_batch(self, texts: Sequence[str]) -> Encoded:
        """The ids of all texts."""


def check_engine(engine: str) -> None:
    """Refuse an engine that cannot be had, before anything is encoded.

    Raises:
        ValueError: there is no such engine.
        BackendUnavailable: what it needs is not installed.

    >>> check_engine("nunba")
    Traceback (most recent call last):
    ValueError: there is no engine 'nunba'; did you mean 'numba'?
    """
    if engine not in ENGINES:
        raise ValueError(f"there is no engine {engine!r}; {did_you_mean(engine, ENGINES)}")
    if (engine == "numba" and not has_numba()) or (engine == "gigatoken" and not has_gigatoken()):
        raise BackendUnavailable(f"engine {engine!r} needs {engine}, which is not installed: pip install {engine}")


def bulk_encoder(engine: Engine, vocabulary: Vocabulary, pattern: str | None) -> BulkEncoder | None:
    """The engine for batches; ``None`` stands for the one in Python, which every tokenizer has.

    With ``auto``: gigatoken and numba by the text, or what there is of them and takes the vocabulary.

    Raises:
        BackendError: an engine was asked for by name, and cannot take this vocabulary or gives other ids.
    """
    gigatoken = _gigatoken(engine, vocabulary, pattern)
    compiled = _compiled(engine, vocabulary, pattern)
    return _ByText(gigatoken, compiled) if gigatoken and compiled else gigatoken or compiled


class _ByText:
    """Two encoders with the same ids, each for the texts on which it is the faster."""

    def __init__(self, for_ascii: BulkEncoder, for_others: BulkEncoder) -> None:
        self._for_ascii = for_ascii
        self._for_others = for_others

    def encode_batch(self, texts: Sequence[str]) -> Encoded:
        """The ids of all texts."""
        ascii_chars = sum(len(text) for text in texts if text.isascii())
        mostly_ascii = 2 * ascii_chars >= sum(map(len, texts))
        return (self._for_ascii if mostly_ascii else self._for_others).encode_batch(texts)


def _gigatoken(engine: Engine, vocabulary: Vocabulary, pattern: str | None) -> BulkEncoder | None:
    if engine != "gigatoken" and not (engine == "auto" and has_gigatoken()):
        return None
    from tokbench_plugins.bpe.fast.gigatoken import GigatokenEncoder, refusal

    try:
        return GigatokenEncoder(vocabulary, pattern)
    except Exception as error:
        if engine == "gigatoken":
            raise BackendError(f"engine 'gigatoken': {error}") from error
        if refusal(vocabulary, pattern) is None:  # otherwise, nobody expected it to work
            _log.warning("not encoding with gigatoken: %s", error)
        return None


def _compiled(engine: Engine, vocabulary: Vocabulary, pattern: str | None) -> BulkEncoder | None:
    if engine != "numba" and not (engine == "auto" and has_numba()):
        return None
    from tokbench_plugins.bpe.compiled.encode import CompiledEncoder

    try:
        return CompiledEncoder(vocabulary, pattern)
    except ValueError as error:
        if engine == "numba":
            raise BackendError(f"engine 'numba': {error}") from error
        _log.warning("encoding without numba: %s", error)
        return None
