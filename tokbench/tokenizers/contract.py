"""The contract of a tokenizer: start here to write a backend.

A backend plugin registers a :class:`~tokbench.tokenizers.backend.BackendSpec`. Its ``load`` or ``train`` returns a
:class:`Tokenizer`. A tokenizer needs three members: ``vocab_size``, ``encode`` and ``decode``. Everything else is a
*capability*: a small protocol of its own, which a tokenizer has as soon as it has the members. A metric names the
capabilities that it needs; where one is missing, the result says so.

The contract, in numbered sentences:

1. ``encode`` returns the ids of ordinary text: it adds no special token and recognises none; empty text has no ids.
2. ``vocab_size`` is a positive integer, and every id, ``unk_id`` too, is an integer in ``range(vocab_size)``.
3. ``encode`` is deterministic, also in another process and after ``warm_up``, and a batch gives the same ids as its
   documents one by one. A tokenizer that samples takes its random numbers from the text and a seed.
4. ``decode`` returns text for any ids in any order; what is not text becomes U+FFFD; a batch gives the same
   texts as its documents one by one.
5. ``b"".join(map(token_bytes, ids))`` equals the bytes of ``decode(ids)``; only ``dummy_prefix`` may come before them.
6. ``encode_with_offsets`` returns the ids of ``encode``, and its offsets count UTF-8 bytes of the given text, not of
   a normalized one.
7. ``encode`` accepts every Unicode text; a lone surrogate is not Unicode text, and is read as U+FFFD or refused with
   ValueError.
8. ``special_ids`` are in ``range(vocab_size)``, and ordinary text never gives them, not even text that spells their
   names.
9. ``lossless`` is true only if ``decode(encode(text))`` equals ``text`` for every Unicode text.
10. ``thread_safe`` is true only if several threads may call ``encode``, ``decode`` and all that it has of the other
    methods for texts and ids at the same time, each with settings of its own.
11. An id outside ``range(vocab_size)`` is refused with ValueError or BackendError; an argument that is not text, or
    not ids, is refused with TypeError, ValueError or AttributeError; neither gets an answer, a panic or a crash.
12. A pickled copy gives the same ids, and so does the tokenizer that ``load`` makes of a saved file given as ``path``.
13. A text of a megabyte that cannot be split anywhere is encoded in seconds, not in hours.
14. The bytes of the parts of each of ``merges``, joined, are the bytes of an id that is not special; every part is
    either a unit, which no merge makes, or made by an earlier merge.
15. ``encode_with_special`` gives one id for each allowed name of ``special_ids``; all other text is ordinary, and
    without an allowed name the ids are the ids of ``encode``. Where ids have ``token_bytes``, decoding returns the
    text, with the names of special tokens or without them.
16. ``encode_chat`` gives the same ids for the same messages, and leaves the messages as they are. A conversation that
    the template refuses is refused with ValueError.
17. ``decode_stream`` gives a string for each id and one for the end, and other streams do not change them. An id
    outside ``range(vocab_size)`` is refused as ``decode`` refuses it.
18. ``encode_with_spans`` returns the ids of ``encode``, and for each of them a start and an end in code points, with
    ``0 <= start <= end <= len(text)``.
19. ``count_batch`` gives an integer for each text: 0 for empty text, the number of ids of ``encode`` where a tokenizer
    gives ids, and the same for one text in any batch, in a pickled copy and in another process.

``tokbench check --backend NAME`` tests every sentence for any backend, and so does :mod:`tokbench.testing`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

from tokbench.foundation.errors import NoIds
from tokbench.foundation.failures import name_in_reasons
from tokbench.foundation.plain_values import plain

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


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
        """Number of ids."""

    def encode(self, text: str, /) -> Sequence[int]:
        """Return the ids of ordinary text.

        Raises:
            ValueError: the text has a lone surrogate, and the tokenizer does not read it as U+FFFD.
        """

    def decode(self, ids: Sequence[int], /) -> str:
        """Return the text of ids, with U+FFFD where their bytes are not UTF-8.

        Raises:
            ValueError: an id is not in ``range(vocab_size)``; may be a ``BackendError``.
        """


class Encoded(NamedTuple):
    """The ids of several documents in two flat arrays.

    >>> import numpy as np
    >>> two = Encoded(np.array([7, 8, 9], dtype=np.uint32), np.array([0, 2, 3]))
    >>> two.ids[two.offsets[1] : two.offsets[2]].tolist()
    [9]
    """

    ids: NDArray[np.uint32]
    """uint32[n], document after document."""
    offsets: NDArray[np.int64]
    """int64[d + 1]; document ``k`` has ``ids[offsets[k]:offsets[k + 1]]``."""


class Offsets(NamedTuple):
    """The ids of one document and where each token ends."""

    ids: Sequence[int]
    ends: Sequence[int]
    """UTF-8 bytes of text before the end of each token; never fall."""


class TokenSpans(NamedTuple):
    """The ids of one document, and the spans of the engine."""

    ids: Sequence[int]
    starts: Sequence[int]
    """Code points before each span."""
    ends: Sequence[int]
    """Code points before the end of each span."""


@runtime_checkable
class EncodesBatch(Protocol):
    """Capability: encodes many documents straight into arrays, on one thread."""

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        """Return for each text the ids of ``encode``."""


@runtime_checkable
class DecodesBatch(Protocol):
    """Capability: decodes many documents from arrays, on one thread; a run hands over arrays that are read-only."""

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        """Return for each document the text of ``decode``."""


@runtime_checkable
class HasTokenBytes(Protocol):
    """Capability: says which bytes an id has."""

    def token_bytes(self, token_id: int, /) -> bytes:
        """Return the bytes of one id, as ``decode`` gives them; empty for an id without text.

        Raises:
            ValueError: the id is not in ``range(vocab_size)``.
        """


@runtime_checkable
class HasDummyPrefix(Protocol):
    """Capability: the model puts some bytes before every text, and ``decode`` removes them."""

    @property
    def dummy_prefix(self) -> bytes:
        """``b" "`` for most SentencePiece models, or ``b""``."""


@runtime_checkable
class EncodesWithOffsets(Protocol):
    """Capability: says where in the text each token ends, even if the model normalizes the text."""

    def encode_with_offsets(self, text: str, /) -> Offsets:
        """Return the ids of one text, and where their tokens end."""


@runtime_checkable
class HasUnknown(Protocol):
    """Capability: has an id for text that it does not know."""

    @property
    def unk_id(self) -> int | None:
        """``None`` if this vocabulary has no unknown token."""


@runtime_checkable
class HasSpecialTokens(Protocol):
    """Capability: says which ids are special tokens."""

    @property
    def special_ids(self) -> Mapping[str, int]:
        """By name, control tokens; not an unknown token that text may give.

        User-defined pieces, and added tokens that their file does not call special, are ordinary.
        """


@runtime_checkable
class EncodesWithSpecial(Protocol):
    """Capability: encodes text in which it recognises the special tokens that the caller allows.

    >>> class Letters:
    ...     special_ids = {"<end>": 128}
    ...
    ...     def encode_with_special(self, text, /, *, allowed_special="all"):
    ...         names = self.special_ids if allowed_special == "all" else allowed_special
    ...         for name in names:
    ...             text = text.replace(name, chr(self.special_ids[name]))
    ...         return [ord(c) for c in text]
    >>> Letters().encode_with_special("a<end>", allowed_special={"<end>"})
    [97, 128]
    """

    @property
    def special_ids(self) -> Mapping[str, int]:
        """As for :class:`HasSpecialTokens`."""

    def encode_with_special(self, text: str, /, *, allowed_special: Collection[str] | Literal["all"]) -> Sequence[int]:
        """Return one id for each allowed name in the text, and the ids of ordinary text for the rest.

        Raises:
            ValueError: an allowed name is unknown; or as for ``encode``.
        """


@runtime_checkable
class EncodesChat(Protocol):
    """Capability: encodes a conversation with the chat template of its own model."""

    def encode_chat(self, messages: Sequence[Mapping[str, Any]], /, *, reply: bool) -> Sequence[int]:
        """Return the ids of a conversation, with the template's special tokens.

        Args:
            messages: with ``role``, ``content``, and more that the template reads, such as ``tool_calls``.
            reply: open the assistant's reply, where the template has a mark for it.

        Raises:
            ValueError: the template refuses the conversation.
        """


@runtime_checkable
class HasMerges(Protocol):
    """Capability: lists the merges of its BPE vocabulary in order of rank.

    Encoding with the first ``k`` merges must give the ids of a tokenizer with only these. If not, ``merges`` raises an
    AttributeError; finding out may take seconds.
    """

    @property
    def merges(self) -> Sequence[tuple[int, ...]]:
        """The ids of the parts of each merge, such as ``((104, 105), (128, 33))`` for hi and hi!.

        There are two, or more for a token that is only found by looking up a whole chunk: its bytes as earlier merges
        encode them. The merge makes the lowest id with all parts' bytes, special ids aside.
        """


@runtime_checkable
class ClaimsLossless(Protocol):
    """Capability: says whether every Unicode text round-trips exactly."""

    @property
    def lossless(self) -> bool:
        """Whether ``decode(encode(text)) == text``, except for lone surrogates."""


@runtime_checkable
class ThreadSafe(Protocol):
    """Capability: says whether several threads may use the tokenizer at the same time."""

    @property
    def thread_safe(self) -> bool:
        """For all methods that encode or decode."""


@runtime_checkable
class HasSplit(Protocol):
    """Capability: encodes the chunks of a pre-tokenization split one by one.

    One that normalizes whole texts first says it as ``normal_form``, such as ``"NFC"``, and one that has pieces
    across chunks lists them as ``pieces_before_split``; one of which no split is known says why as ``why_no_split``.
    """

    @property
    def split(self) -> str | None:
        """The regular expression; ``None`` without a split."""


@runtime_checkable
class HasStages(Protocol):
    """Capability: says what each stage between a text and its ids is made of."""

    @property
    def stages(self) -> Mapping[str, str]:
        """By name, such as ``normalization``, ``split`` and ``merges``: an expression, JSON, or lines."""


@runtime_checkable
class HasNotes(Protocol):
    """Capability: has notes that a reader of the report must know."""

    @property
    def notes(self) -> Sequence[str]:
        """Such as how much training text was left out. ``caution: `` begins one that is shown with every number."""


@runtime_checkable
class HasIdentity(Protocol):
    """Capability: says what it is made of, if its options, the files that they name and its code do not."""

    @property
    def identity(self) -> str:
        """A digest of all else that decides the ids; nothing is stored if empty."""


@runtime_checkable
class NamesEngine(Protocol):
    """Capability: names the engine that encodes; by default, the packages that its backend needs."""

    @property
    def encoded_by(self) -> str:
        """With its version, after ``warm_up``, for batches: ``compiled (numba 0.68.1)``."""


@runtime_checkable
class NamesOutput(Protocol):
    """Capability: says what its engine hands over, if its members do not: see :func:`output_of`."""

    @property
    def returns(self) -> Literal["arrays", "lists"]:
        """``arrays`` if ids come in buffers, or ``lists`` if each is a Python integer."""


@runtime_checkable
class Saves(Protocol):
    """Capability: can be saved to one file, which ``load`` of the same backend reads."""

    @property
    def file_suffix(self) -> str:
        """Such as ``.tiktoken``."""

    def save(self, path: Path, /) -> None:
        """Write the file, and what it needs next to it under names that add to its own: ``NAME.pattern``."""


@runtime_checkable
class Exports(Protocol):
    """Capability: can be written in the file formats of other libraries."""

    @property
    def exports(self) -> Mapping[str, str]:
        """File endings by format: ``{"tiktoken": ".tiktoken"}``."""

    def export(self, name: str, path: Path, /) -> None:
        """Write the tokenizer in the format ``name``; some formats make ``path`` a folder."""


@runtime_checkable
class CountsTokens(Protocol):
    """Capability: its engine counts the tokens of texts without making their ids."""

    def count_batch(self, texts: Sequence[str], /) -> Sequence[int]:
        """Return the tokens of each text, on one thread: as many as ``encode`` gives ids, if any."""


@runtime_checkable
class WarmsUp(Protocol):
    """Capability: prepares for much text, by compiling or loading what would slow the first calls down."""

    def warm_up(self) -> None:
        """Called before timings, and before megabytes are encoded."""


NO_IDS: Final = "it counts tokens and returns no ids"
"""Why much does not apply to a tokenizer that counts alone."""


class CountsAlone:
    """Base of a tokenizer that only counts tokens: it has ``vocab_size`` and ``count_batch``.

    Tokens, bytes per token and tokens per word are measured; whatever needs ids does not apply.
    """

    only_counts: Final = True

    def encode(self, _text: str, /) -> Sequence[int]:
        raise NoIds(NO_IDS)

    def decode(self, _ids: Sequence[int], /) -> str:
        raise NoIds(NO_IDS)


def only_counts(tokenizer: object) -> bool:
    """Tell whether a tokenizer counts tokens and gives no ids, as its member ``only_counts`` says.

    >>> only_counts(CountsAlone()), only_counts("no tokenizer")
    (True, False)
    """
    return getattr(tokenizer, "only_counts", False) is True


def output_of(tokenizer: Any) -> str:
    """Return ``arrays``, ``lists`` or ``counts``; by default ``arrays`` if it encodes batches, else ``lists``.

    Speeds are compared among tokenizers with the same output.
    """
    if only_counts(tokenizer):
        return "counts"
    if isinstance(tokenizer, NamesOutput):
        return plain(tokenizer.returns, str, "returns")  # type: ignore[no-any-return]
    return "arrays" if isinstance(tokenizer, EncodesBatch) else "lists"


CAPABILITIES: Final = tuple(
    kind for kind in list(globals().values()) if getattr(kind, "_is_protocol", False) and kind is not Protocol
)
"""What a tokenizer may have, and :class:`Tokenizer`."""

name_in_reasons(name for kind in CAPABILITIES for name in vars(kind) if not name.startswith("_"))
name_in_reasons(("decode_stream", "encode_with_spans"))
