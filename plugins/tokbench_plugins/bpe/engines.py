"""The engines: all give the same merges and ids, and differ in speed and in what they need.

========= ======================= ==================================================================
engine    speed of encoding       needs
========= ======================= ==================================================================
python    tiktoken / 4            nothing; the ids of the others are compared with its ids
numba     tiktoken · 4 to 25      numba; compiles for some seconds, once on each machine
auto      numba's, or python's    nothing; numba if it is installed and there was enough text to be worth it
========= ======================= ==================================================================

The lower figures are for prose in many languages, the higher ones for code. ``auto`` trains on short texts in Python,
because numba takes a second to load and, once on each machine, many seconds to compile.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from platform import python_implementation, python_version
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

from pydantic import Field

from tokbench.foundation.errors import BackendError, BackendUnavailable
from tokbench.foundation.jit import has_numba, is_cached
from tokbench.foundation.progress import silent
from tokbench.tokenizers.backend import TrainProgress
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.fast.train import train_merges
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import resolve_pattern
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair, Vocabulary

if TYPE_CHECKING:
    from tokbench_plugins.bpe.compiled.encode import CompiledEncoder

BulkEngine = Literal["auto", "python", "numba"]

BULK_ENGINE: Any = Field(
    default="auto",
    description="what encodes batches: auto (numba, or python without it), python or numba; the ids are the same",
)


class TrainSettings(TypedDict, total=False):
    """Any may be left out."""

    tie: Tie
    """``first`` by default."""

    engine: BulkEngine
    """``auto`` by default."""

    processes: int
    """1 by default."""


# From this number of characters on, the compiled trainer finishes first, even if it has to load.
_LONG_SPLIT: Final = 4_000_000
_LONG_NAIVE: Final = 500_000

_log = logging.getLogger("tokbench")


def check_engine(engine: BulkEngine) -> None:
    """Refuse numba where it is not installed."""
    if engine == "numba" and not has_numba():
        raise BackendUnavailable("engine 'numba' needs numba, which is not installed: pip install numba")


def bulk_encoder(engine: BulkEngine, vocabulary: Vocabulary, pattern: str | None) -> CompiledEncoder | None:
    """Return the engine for batches; ``None`` means the one in Python.

    Raises:
        BackendError: ``numba`` is named and cannot take this vocabulary.
    """
    if engine == "python" or not has_numba():
        return None
    from tokbench_plugins.bpe.compiled.encode import CompiledEncoder

    try:
        return CompiledEncoder(vocabulary, pattern)
    except ValueError as error:
        if engine == "numba":
            raise BackendError(f"engine 'numba': {error}") from error
        _log.warning("encoding without numba: %s", error)
        return None


def is_compiled() -> bool:
    """Tell whether the engine for batches was compiled on this machine before; imports numba."""
    if not has_numba():
        return False
    from tokbench_plugins.bpe.compiled.encode_chunks import encode_chunks

    return is_cached(encode_chunks)


def engine_version(engine: BulkEngine) -> str:
    """Return the name and version of the warm batch engine."""
    if engine == "numba" or (engine == "auto" and find_spec("numba")):  # it takes half a second to import
        return f"compiled (numba {version('numba')})"
    return f"python ({python_implementation()} {python_version()})"


def train(
    documents: Iterable[str],
    vocab_size: int,
    pattern: str | None,
    progress: TrainProgress = silent,
    **settings: Unpack[TrainSettings],
) -> list[Pair]:
    """Train byte-level BPE; ``documents`` is read once, and ``pattern=None`` is naive BPE.

    >>> train(["low lower lowest", "slow"], 259, "gpt2")
    [(108, 111), (256, 119), (32, 257)]
    >>> len(train(["ab"], 1000, None))
    1
    """
    if vocab_size < FIRST_MERGE:
        raise ValueError(f"vocab_size is {vocab_size}; give {FIRST_MERGE} or more, one for each byte")
    if pattern is not None:
        resolve_pattern(pattern)
    tie, engine = settings.get("tie", "first"), settings.get("engine", "auto")
    processes = settings.get("processes", 1)
    if engine == "auto":
        documents, is_long = _look_ahead(documents, _LONG_NAIVE if pattern is None else _LONG_SPLIT)
        engine = "numba" if is_long and has_numba() else "python"
    if engine == "python":
        return train_merges(count_in_processes(documents, pattern, processes), vocab_size, progress, tie)
    check_engine(engine)
    from tokbench_plugins.bpe.compiled.count import count_documents
    from tokbench_plugins.bpe.compiled.train import train_counts

    return train_counts(count_documents(documents, pattern, processes), vocab_size, tie, progress)


def _look_ahead(documents: Iterable[str], long: int) -> tuple[Iterable[str], bool]:
    rest = iter(documents)
    seen: list[str] = []
    characters = 0
    for document in rest:
        seen.append(document)
        characters += len(document)
        if characters >= long:
            return chain(seen, rest), True
    return seen, False
