"""What a tokenizer is to tokbench: the file a plugin author reads.

A backend plugin registers a :class:`~tokbench.contracts.backend.BackendSpec`. Its ``load`` or ``train`` returns a
:class:`Tokenizer`: three members are enough. Everything else is a *capability*, a small protocol
of its own; a metric names those it needs, and says so in a cell where one is missing.

The contract, in sentences:

1. ``encode`` returns the ids of ordinary text: it adds no special token and recognises none; empty text has no ids.
2. ``vocab_size`` is a positive integer, and every id, ``unk_id`` too, is an integer in ``range(vocab_size)``.
3. ``encode`` is deterministic, also in another process and after ``warm_up``, and a batch gives the ids of its
   documents one by one.
4. ``decode`` returns text for all ids in any order; what cannot be text becomes U+FFFD; a batch gives the texts of
   its documents one by one.
5. ``b"".join(map(token_bytes, ids))`` are the bytes of ``decode(ids)``, but for ``dummy_prefix``
   at the very start.
6. ``encode_with_offsets`` gives the ids of ``encode``, and counts UTF-8 bytes of the text that was given, not of a
   normalized one.
7. ``encode`` takes every Unicode text; a lone surrogate, which is none, is read as U+FFFD or refused with ValueError.
8. ``special_ids`` are in ``range(vocab_size)``, and ordinary text never gives them, not even text that spells their
   names.
9. ``lossless`` is true only if every Unicode text comes back exactly from ``decode(encode(text))``.
10. ``thread_safe`` is true only if several threads may call ``encode`` and ``decode`` at a time.
11. An id outside ``range(vocab_size)`` is refused with ValueError or BackendError, and what is no text or no ids with
    TypeError, ValueError or AttributeError: never with an answer, a panic or a crash.
12. A pickled copy, and what ``load`` makes of a saved file given as ``path``, give the same ids.
13. A text of a megabyte with no place to split it is encoded in seconds, not in hours.
14. The bytes of the parts of each of ``merges``, joined, are those of an id that is not special, and every part is a
    unit that no merge makes, or was made before.

:mod:`tokbench.testing` checks every sentence for any backend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ClaimsLossless",
    "DecodesBatch",
    "Encoded",
    "EncodesBatch",
    "EncodesWithOffsets",
    "Exports",
    "HasDummyPrefix",
    "HasMerges",
    "HasNotes",
    "HasSpecialTokens",
    "HasTokenBytes",
    "HasUnknown",
    "Offsets",
    "Saves",
    "ThreadSafe",
    "Tokenizer",
    "WarmsUp",
]


@runtime_checkable
class Tokenizer(Protocol):
    """One configured or trained tokenizer.

    >>> class Letters:
    ...     vocab_size = 128
    ...
    ...     def encode(self, text: str, /) -> list[int]:
    ...         return [ord(c) for c in text]
    ...
    ...     def decode(self, ids, /) -> str:
    ...         return "".join(map(chr, ids))
    >>> isinstance(Letters(), Tokenizer)
    True
    """

    @property
    def vocab_size(self) -> int:
        """Number of ids; every id is in ``range(vocab_size)``."""

    def encode(self, text: str, /) -> Sequence[int]:
        """The ids of ordinary text."""

    def decode(self, ids: Sequence[int], /) -> str:
        """The text of ids, with U+FFFD for what is not text."""


class Encoded(NamedTuple):
    """The ids of several documents in two flat arrays: the hot path of everything that is measured.

    Attributes:
        ids: uint32[n], the ids of all documents, one after the other.
        offsets: int64[d + 1]; document ``k`` has ``ids[offsets[k]:offsets[k + 1]]``.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]


class Offsets(NamedTuple):
    """The ids of one document and where each token ends.

    Attributes:
        ids: the ids, as ``encode`` gives them.
        ends: for each id, how many UTF-8 bytes of the text lie before the token's end; never falling.
    """

    ids: Sequence[int]
    ends: Sequence[int]


@runtime_checkable
class EncodesBatch(Protocol):
    """Capability: encodes many documents straight into arrays, on one thread."""

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        """The ids of all texts, equal to those of ``encode`` one by one."""


@runtime_checkable
class DecodesBatch(Protocol):
    """Capability: decodes many documents from arrays, on one thread."""

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        """The texts of all documents, equal to those of ``decode`` one by one."""


@runtime_checkable
class HasTokenBytes(Protocol):
    """Capability: says which bytes an id stands for."""

    def token_bytes(self, token_id: int, /) -> bytes:
        """The bytes of one id, as ``decode`` gives them; empty for an id that stands for no text.

        Raises:
            ValueError: the id is not in ``range(vocab_size)``.
        """


@runtime_checkable
class HasDummyPrefix(Protocol):
    """Capability: some bytes stand before every text inside the model and are dropped by ``decode``."""

    @property
    def dummy_prefix(self) -> bytes:
        """SentencePiece's ``b" "``, or ``b""``."""


@runtime_checkable
class EncodesWithOffsets(Protocol):
    """Capability: says where in the text each token ends, even where the text is normalized."""

    def encode_with_offsets(self, text: str, /) -> Offsets:
        """The ids of one text and the byte positions at which they end."""


@runtime_checkable
class HasUnknown(Protocol):
    """Capability: has an id for what it does not know."""

    @property
    def unk_id(self) -> int | None:
        """That id; ``None`` where this vocabulary has none."""


@runtime_checkable
class HasSpecialTokens(Protocol):
    """Capability: says which ids are special tokens.

    >>> class Letters:
    ...     special_ids = {"<end>": 128}
    >>> isinstance(Letters(), HasSpecialTokens)
    True
    """

    @property
    def special_ids(self) -> Mapping[str, int]:
        """Names and ids; ordinary text gives none of them, so an unknown token that text may give is not there."""


@runtime_checkable
class HasMerges(Protocol):
    """Capability: tells its merges, in order of rank, as BPE has them.

    What a text becomes with the first ``k`` of them is what the same tokenizer with no others makes of it: from the
    ids of the whole vocabulary follow those of every smaller one. Whether merges are in such an order may take
    seconds to find out; of a vocabulary in which they are not, ``merges`` raises an error that is an AttributeError.

    >>> class Letters:
    ...     merges = ((104, 105), (128, 33))  # hi, hi!
    >>> isinstance(Letters(), HasMerges)
    True
    """

    @property
    def merges(self) -> Sequence[tuple[int, ...]]:
        """The ids of the parts of each merge: two, or more for a token that a chunk is looked up in whole.

        The merge makes the lowest id with the bytes of all parts, special ids left out. The parts of a token that no
        merge builds are what the merges before it leave of its bytes.
        """


@runtime_checkable
class ClaimsLossless(Protocol):
    """Capability: says whether every Unicode text comes back exactly."""

    @property
    def lossless(self) -> bool:
        """``True`` only if ``decode(encode(text)) == text`` for every text without lone surrogates."""


@runtime_checkable
class ThreadSafe(Protocol):
    """Capability: says whether several threads may use it at a time."""

    @property
    def thread_safe(self) -> bool:
        """``True`` only if ``encode`` and ``decode`` may be called from several threads at a time."""


@runtime_checkable
class HasNotes(Protocol):
    """Capability: has something to say that a reader of the report must know."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences, such as how much of the training text the trainer left out."""


@runtime_checkable
class Saves(Protocol):
    """Capability: can be written to one file, from which the backend's ``load`` gets it back."""

    @property
    def file_suffix(self) -> str:
        """What the file's name ends in, such as ``.tiktoken``."""

    def save(self, path: Path, /) -> None:
        """Write the artefact to ``path``."""


@runtime_checkable
class Exports(Protocol):
    """Capability: can be written in the formats of other libraries."""

    @property
    def exports(self) -> Mapping[str, str]:
        """By format name, what the file's name ends in; ``{"tiktoken": ".tiktoken"}``."""

    def export(self, name: str, path: Path, /) -> None:
        """Write the tokenizer in a format to ``path``, which for some formats becomes a folder."""


@runtime_checkable
class WarmsUp(Protocol):
    """Capability: gets ready for much text, by compiling or loading what would slow the first calls down."""

    def warm_up(self) -> None:
        """Called before anything is timed."""
