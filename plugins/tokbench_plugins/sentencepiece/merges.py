"""The merges of SentencePiece's BPE models: neighbours that together are a piece become it, highest score first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from os.path import commonprefix

from tokbench_plugins.bpe.recovery.order import Merges, NoMergesError, in_order
from tokbench_plugins.bpe.recovery.recovered import Candidate
from tokbench_plugins.sentencepiece.proto import Piece, PieceType


def merges_of_pieces(pieces: Sequence[Piece]) -> Merges:
    """Return the parts of each merge, in order of rank.

    Bytes, single characters and user-defined symbols are units.

    Runs of spaces share the lowest score in the models of Llama and Mistral; the shorter ones come first here. So
    counts of texts with long runs may be too high at the few sizes that keep only some of them.

    Raises:
        NoMergesError: no order does all merges; a piece has a character without a piece; scores
            are equal (but of runs), so that the place in the text decides; or pieces are unused, and so split again.
    """
    unused = sum(piece.type is PieceType.UNUSED for piece in pieces)
    if unused:
        raise NoMergesError(f"merges cannot be listed: {unused} pieces are unused, but built and split again")
    return in_order(_candidates(pieces), lambda _: False)


def _candidates(pieces: Sequence[Piece]) -> Iterator[Candidate]:
    normal = [(i, piece) for i, piece in enumerate(pieces) if piece.type is PieceType.NORMAL]
    id_of = {piece.text: i for i, piece in normal if len(piece.text) == 1}
    defined = {piece.text for piece in pieces if piece.type is PieceType.USER_DEFINED}
    defined_in = re.compile(_any_of(defined) if defined else "(?!)").search
    merged = (i for i, piece in normal if len(piece.text) > 1)
    last = None
    for i in sorted(merged, key=lambda i: (-pieces[i].score, len(pieces[i].text))):
        text, score, _ = pieces[i]
        if defined_in(text):
            continue
        if score == last and len(set(text)) > 1:
            raise NoMergesError(f"merges are out of order: piece {text!r} has the score of another, {score:g}")
        if missing := [char for char in text if char not in id_of]:
            raise NoMergesError(
                f"merges cannot be listed: piece {text!r} has {missing[0]!r} in it, which is not a piece"
            )
        last = score
        yield Candidate(i, [id_of[char] for char in text])


def _any_of(words: Collection[str]) -> str:
    if "" in words:
        return ""
    by_head: dict[str, list[str]] = {}
    for word in words:
        by_head.setdefault(word[0], []).append(word)
    shared = [(commonprefix(some), some) for some in by_head.values()]  # noqa: RUF071 - characters are meant
    ways = [re.escape(prefix) + _any_of({word[len(prefix) :] for word in some}) for prefix, some in shared]
    return f"(?:{'|'.join(ways)})"
