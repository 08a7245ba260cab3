"""The byte table of a tokenizer, checked id by id and on texts, and bits per byte with it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tokbench.command import load_named, print_numbers, say, texts_by_group
from tokbench.plugin import HasTokenBytes, InputError, Tokenizer, decode_batch, encode_batch, from_lists, valid_unicode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FEW: Final = 5


@dataclass(frozen=True)
class WrongId:
    """An id, the bytes that it is said to have, and what it decodes to between two letters, letters included."""

    id: int
    said: bytes
    decoded: str


@dataclass(frozen=True)
class GroupBytes:
    """The bytes of a group of texts, what the ids add up to, and how many texts differ."""

    group: str
    texts: int
    different: int
    bytes: int
    counted: int


@dataclass(frozen=True)
class ByteTable:
    """The UTF-8 bytes of each id, and what the checks found."""

    sizes: NDArray[np.int32]
    """The bytes of each id; 0 for special ids and the unknown id."""
    prefix: int
    """Bytes at the start of each document that ids have and the text does not: the dummy prefix of SentencePiece."""
    special: tuple[str, ...]
    unknown: int | None
    wrong: tuple[WrongId, ...]
    groups: tuple[GroupBytes, ...]

    @property
    def exact(self) -> bool:
        """Whether all ids decode to their bytes, and add up to the bytes of every text."""
        return not self.wrong and not any(group.different for group in self.groups)


def byte_table(tokenizer: Tokenizer | str, texts: Mapping[str, Sequence[str]] | None = None) -> ByteTable:
    """Return how many bytes of text each id has, checked id by id and on texts.

    Args:
        tokenizer: a tokenizer, or a name for :func:`tokbench.load`.
        texts: documents by group, to check; by default the sample that ships with tokbench.

    >>> table = byte_table("utf8_bytes", {"fr": ["née"]})
    >>> table.sizes[[110, 195, 169]].tolist(), table.exact
    ([1, 1, 1], True)
    """
    tokenizer = load_named(tokenizer)
    if not isinstance(tokenizer, HasTokenBytes):
        raise InputError("the tokenizer has no bytes of single ids; load it with another backend")
    special: dict[str, int] = dict(getattr(tokenizer, "special_ids", {}))
    unknown: int | None = getattr(tokenizer, "unk_id", None)
    prefix: bytes = getattr(tokenizer, "dummy_prefix", b"")
    textless = {*special.values(), unknown}
    pieces = [b"" if number in textless else tokenizer.token_bytes(number) for number in range(tokenizer.vocab_size)]
    sizes = np.array(list(map(len, pieces)), dtype=np.int32)

    def group(name: str, texts: Sequence[str]) -> GroupBytes:
        ids, offsets = encode_batch(tokenizer, list(map(valid_unicode, texts)))
        running = np.concatenate([[0], np.cumsum(sizes[ids], dtype=np.int64)])
        counted = np.diff(running[offsets]) - len(prefix) * (np.diff(offsets) > 0)
        there = np.array([len(valid_unicode(text).encode()) for text in texts])
        return GroupBytes(name, len(texts), int((counted != there).sum()), int(there.sum()), int(counted.sum()))

    return ByteTable(
        sizes=sizes,
        prefix=len(prefix),
        special=tuple(sorted(special, key=lambda name: special[name])),
        unknown=unknown,
        wrong=tuple(_wrong_ids(tokenizer, pieces, prefix)),
        groups=tuple(group(*one) for one in (texts_by_group("sample") if texts is None else texts).items()),
    )


def show_byte_table(table: ByteTable) -> None:
    """Print what the checks found."""
    lossy = [group for group in table.groups if group.different]
    differ, total = sum(group.different for group in lossy), f"{sum(group.texts for group in table.groups):,} texts"
    if lossy:
        say(f"the bytes of the ids differ from the bytes of {differ:,} of {total}; divide by the bytes of these texts")
        rows = [[x.group, *map(str, (x.texts, x.different, x.bytes)), f"{x.counted / x.bytes - 1:+.2%}"] for x in lossy]
        print_numbers(["group", "texts", "differ", "bytes", "difference"], rows)
    else:
        n_bytes = sum(group.bytes for group in table.groups)
        say(f"the bytes of the ids add up to the bytes of each of {total} ({n_bytes:,} bytes)")
    if table.wrong:
        shown = ", ".join(f"{one.id} ({one.said!r}, decoded {one.decoded!r})" for one in table.wrong[:_FEW])
        say(f"  {len(table.wrong):,} ids decode to different bytes: {shown}")
    if table.special:
        names = ", ".join(table.special[:_FEW]) + (", …" if len(table.special) > _FEW else "")
        say(f"  special ids have 0 bytes, and their loss counts: {names}")
    if table.prefix:
        say(f"  each document's ids have {table.prefix} byte that its text does not: subtract it per document")


def _wrong_ids(tokenizer: Tokenizer, pieces: Sequence[bytes], prefix: bytes) -> Iterator[WrongId]:
    """Decode each id between two letters; how many U+FFFD are for broken bytes does not matter."""
    letters = {prefix + bytes([letter]) for letter in range(ord("a"), ord("z") + 1)}
    side = next((number for number, piece in enumerate(pieces) if piece in letters), 0)
    named = [number for number, piece in enumerate(pieces) if piece and pieces[side] in letters]
    decoded = decode_batch(tokenizer, from_lists([[side, number, side] for number in named]))
    for number, text in zip(named, decoded, strict=True):
        said = (pieces[side] + pieces[number] + pieces[side]).removeprefix(prefix).decode(errors="replace")
        if text != said and re.sub("\ufffd+", "\ufffd", text) != re.sub("\ufffd+", "\ufffd", said):
            yield WrongId(number, pieces[number], text)


def bits_per_byte(
    loss_nats: ArrayLike, ids: ArrayLike, table: ByteTable | ArrayLike, *, documents: int | None = None
) -> float:
    """Return the bits per byte of predicted tokens: Σ loss / ln 2 / Σ bytes, both sums over the same tokens.

    A mean is refused, because a mean of batch means weighs tokens unequally. Special ids, such as the end of a
    document, have a loss and 0 bytes.

    Args:
        loss_nats: the loss of each predicted token (``reduction="none"``), in nats.
        ids: the predicted tokens, in the same shape; negative ids, such as -100, are left out with their losses.
        table: from :func:`byte_table`, or the array of its file.
        documents: how many documents begin among the ids; needed where the table has a ``prefix``.

    "née" in bytes and an end (id 256): losses of 2, 3, 3, 4 and 1 bits are 13 bits for 4 bytes.

    >>> sizes = [1] * 256 + [0]
    >>> losses = [bits * math.log(2) for bits in (2, 3, 3, 4, 1)]
    >>> round(bits_per_byte(losses, [110, 195, 169, 101, 256], sizes), 9)
    3.25
    """
    losses, targets = np.asarray(loss_nats, dtype=np.float64), np.asarray(ids)
    prefix = table.prefix if isinstance(table, ByteTable) else 0
    sizes, kept = np.asarray(table.sizes if isinstance(table, ByteTable) else table), targets >= 0
    if losses.shape != targets.shape:
        shapes = f"the losses have the shape {losses.shape}, the ids {targets.shape}"
        raise InputError(f"{shapes}; give the loss of each id, not a mean")
    if prefix and documents is None:
        raise InputError(f"each document's ids have {prefix} byte that its text does not; give documents=")
    n_bytes = int(sizes[targets[kept]].sum(dtype=np.int64)) - prefix * (documents or 0)
    if n_bytes <= 0:
        raise InputError("the ids have no bytes of text; give ids of ordinary text")
    return float(losses[kept].sum() / math.log(2) / n_bytes)
