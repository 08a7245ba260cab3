"""The merges of SentencePiece's BPE models: neighbours that together are a piece become it, highest score first."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench_plugins.bpe.formats.conditions import built_pieces, check_pieces
from tokbench_plugins.bpe.recovery.order import Merges, NoMergesError, in_order
from tokbench_plugins.bpe.recovery.recovered import Candidate
from tokbench_plugins.sentencepiece.proto import ModelPiece, PieceType


def merges_of_pieces(pieces: Sequence[ModelPiece]) -> Merges:
    """Return the parts of each merge, in order of rank.

    Bytes, single characters and user-defined symbols are units.

    Runs of spaces share the lowest score in the models of Llama and Mistral; the shorter ones come first here. So
    counts of texts with long runs may be too high at the few sizes that keep only some of them.

    Raises:
        NoMergesError: no order does all merges, or a condition of
            :mod:`~tokbench_plugins.bpe.formats.conditions` does not hold.
    """
    try:
        check_pieces("merges", pieces)
    except ValueError as error:
        raise NoMergesError(str(error)) from None
    id_of = {piece.text: i for i, piece in enumerate(pieces) if piece.type is PieceType.NORMAL}
    built = ((i, pieces[i].text) for i in built_pieces(pieces))
    return in_order((Candidate(i, [id_of[char] for char in text]) for i, text in built), lambda _: False)
