"""The byte table of a tokenizer: the bytes of each id, checked id by id and on texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tokbench.plugin import (
    HasSpecialTokens,
    HasTokenBytes,
    HasUnknown,
    InputError,
    Tokenizer,
    decode_batch,
    encode_batch,
    from_lists,
    valid_unicode,
    vocab_size_of,
)
from tokbench_questions.loading import loaded

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz"
_BROKEN: Final = re.compile("\ufffd+")
_BATCH: Final = 20_000


@dataclass(frozen=True)
class WrongId:
    """An id that decodes to other bytes than it is said to have."""

    id: int
    said: bytes
    decoded: str
    """What the id decodes to between two letters, letters included."""


@dataclass(frozen=True)
class GroupBytes:
    """The bytes of a group of texts, and what the ids add up to."""

    group: str
    texts: int
    different: int
    """Texts whose ids add up to another number."""
    bytes: int
    counted: int
    unknown: int
    """Tokens that are the unknown id."""


@dataclass(frozen=True)
class ByteTable:
    """The UTF-8 bytes of each id, and what the checks found."""

    sizes: NDArray[np.int32]
    """The bytes of each id; 0 for special ids, the unknown id and padding."""
    prefix: int
    """Bytes at the start of each document that ids have and the text does not: the dummy prefix of SentencePiece."""
    special: tuple[str, ...]
    unknown: int | None
    partial: int
    """Ids whose bytes are not whole characters."""
    wrong: tuple[WrongId, ...]
    groups: tuple[GroupBytes, ...]

    @property
    def exact(self) -> bool:
        """Whether all ids decode to their bytes, and add up to the bytes of every text."""
        return not self.wrong and not any(group.different for group in self.groups)


def byte_table(
    tokenizer: Tokenizer | str, texts: Mapping[str, Sequence[str]] | None = None, *, size: int = 0
) -> ByteTable:
    """Return how many bytes of text each id has, checked id by id and on texts.

    Args:
        tokenizer: a tokenizer, or a name for :func:`tokbench.load`.
        texts: documents by group, to check; by default the sample that ships with tokbench.
        size: the rows of the model's output matrix, if there are more than ids; the others have 0 bytes.

    Raises:
        InputError: the tokenizer does not say which bytes its ids have, or ``size`` is too small.

    >>> table = byte_table("utf8_bytes", {"fr": ["née"]}, size=300)
    >>> table.sizes[[110, 195, 169, 299]].tolist(), table.exact
    ([1, 1, 1, 0], True)
    """
    tokenizer = loaded(tokenizer)
    ids = vocab_size_of(tokenizer)
    if not isinstance(tokenizer, HasTokenBytes):
        raise InputError("the tokenizer has no bytes of single ids; load it with another backend")
    if size and size < ids:
        raise InputError(f"the size {size:,} is too small: the tokenizer has {ids:,} ids; give that or more")
    if texts is None:
        from tokbench.plugin.command import texts_by_group

        texts = texts_by_group("sample")
    special = dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {}
    unknown = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
    textless = {*special.values(), unknown}
    pieces = [b"" if number in textless else tokenizer.token_bytes(number) for number in range(ids)]
    sizes = np.zeros(size or ids, dtype=np.int32)
    sizes[:ids] = [len(piece) for piece in pieces]
    prefix: bytes = getattr(tokenizer, "dummy_prefix", b"")
    return ByteTable(
        sizes=sizes,
        prefix=len(prefix),
        special=tuple(sorted(special, key=lambda name: special[name])),
        unknown=unknown,
        partial=sum("\ufffd" in piece.decode(errors="replace") for piece in pieces),
        wrong=tuple(_wrong_ids(tokenizer, pieces, prefix)),
        groups=tuple(_group(tokenizer, name, some, sizes, len(prefix), unknown) for name, some in texts.items()),
    )


def _wrong_ids(tokenizer: Tokenizer, pieces: Sequence[bytes], prefix: bytes) -> list[WrongId]:
    """Decode each id between two letters; how many U+FFFD are for broken bytes does not matter."""
    letters = {prefix + bytes([letter]) for letter in _LETTERS}
    letter = next((number for number, piece in enumerate(pieces) if piece in letters), None)
    if letter is None:
        return []
    wrong, side = [], pieces[letter]
    named = [number for number, piece in enumerate(pieces) if piece]
    for start in range(0, len(named), _BATCH):
        batch = named[start : start + _BATCH]
        decoded = decode_batch(tokenizer, from_lists([[letter, number, letter] for number in batch]))
        for number, text in zip(batch, decoded, strict=True):
            said = (side + pieces[number] + side).removeprefix(prefix).decode(errors="replace")
            if text != said and _BROKEN.sub("\ufffd", text) != _BROKEN.sub("\ufffd", said):
                wrong.append(WrongId(number, pieces[number], text))
    return wrong


def _group(
    tokenizer: Tokenizer, name: str, texts: Sequence[str], sizes: NDArray[np.int32], prefix: int, unknown: int | None
) -> GroupBytes:
    ids, offsets = encode_batch(tokenizer, list(map(valid_unicode, texts)))
    running = np.concatenate([[0], np.cumsum(sizes[ids], dtype=np.int64)])
    counted = np.diff(running[offsets]) - prefix * (np.diff(offsets) > 0)
    there = np.array([len(valid_unicode(text).encode()) for text in texts])
    unknowns = 0 if unknown is None else int((ids == unknown).sum())
    return GroupBytes(
        name, len(texts), int((counted != there).sum()), int(there.sum()), int(counted.sum()), unknowns
    )
