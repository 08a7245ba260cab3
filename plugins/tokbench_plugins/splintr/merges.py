"""The merges of splintr's vocabularies, recovered from the bytes and the order of their ids.

splintr does not expose its merges, nor the kind of token an id is. All of its vocabularies are laid out alike: what
stands before the 256 bytes is special or kept whole, and what is merged comes after them, in order of rank. Those
that came from SentencePiece have single characters next, which are units, and then what was added later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from tokbench_plugins.bpe.recovery.order import Merges, merges_of_ranks
from tokbench_plugins.sentencepiece.merges import merges_of_pieces
from tokbench_plugins.sentencepiece.proto import Piece, PieceType

_BYTES: Final = 256
_LOWEST: Final = -1e9  # the score of runs of spaces in the models of Llama and Mistral
_NO_TEXT: Final = 0x80  # the first byte that is not a character, so that only one id stands for it


def merges_of_bytes(tokens: Sequence[bytes], special: Collection[int]) -> Merges:
    """Return the merges of a byte-level vocabulary.

    Args:
        tokens: the bytes of each id.
        special: ids that are not merged.

    Raises:
        NoMergesError: they are not in order of rank.
    """
    first = next(i for i, token in enumerate(tokens) if len(token) == 1 and i not in special)
    ranks: dict[bytes, int] = {}
    for token_id in range(first, len(tokens)):
        if tokens[token_id] and token_id not in special:
            ranks.setdefault(tokens[token_id], token_id)
    return merges_of_ranks(ranks)


def merges_of_characters(tokens: Sequence[bytes]) -> Merges:
    """Return the merges of a vocabulary that came from SentencePiece.

    Args:
        tokens: the bytes of each id.

    Raises:
        NoMergesError: they are not in order of rank.
    """
    first = tokens.index(bytes([_NO_TEXT])) - _NO_TEXT
    texts = [token.decode(errors="replace") for token in tokens]
    merged = first + _BYTES
    single = next(i for i in range(merged, len(texts)) if len(texts[i]) == 1)
    added = next((i for i in range(single, len(texts)) if len(texts[i]) > 1), len(texts))

    def kind(token_id: int) -> PieceType:
        if first <= token_id < merged:
            return PieceType.BYTE
        if merged <= token_id < added:
            return PieceType.NORMAL
        return PieceType.USER_DEFINED if texts[token_id] else PieceType.CONTROL

    return merges_of_pieces([Piece(text, -i if text.strip(" ") else _LOWEST, kind(i)) for i, text in enumerate(texts)])
