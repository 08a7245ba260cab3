"""The conditions under which another engine or file gives the ids of a vocabulary, each asked here by every door.

A check raises ValueError with *cause; fix*. :data:`NEEDED` lists those of each format of byte-level BPE, and
:data:`PIECES_NEEDED` those of a SentencePiece model: of its merges, which a smaller vocabulary keeps the first of, and
of its ``tokenizer.json``. In what order merges can be cut says :mod:`tokbench_plugins.bpe.recovery.order`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from tokbench_plugins.bpe.formats.byte_names import bytes_of_name
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect, check_tiktoken_dialect
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import PATTERNS, resolve_pattern
from tokbench_plugins.bpe.recovery.canonical import not_built, not_merged
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import Merge
from tokbench_plugins.sentencepiece.proto import ModelPiece, PieceType

_ELSEWHERE: Final = "save it as tokenizer.json"

GGUF_SPLITS: Final = {PATTERNS["gpt2"]: "gpt-2", PATTERNS["gpt4"]: "dbrx"}
"""llama.cpp's names; its ``gpt-4o`` splits letters outside of ASCII otherwise than ``o200k``."""


def _bytes_are_unique(parts: Parts) -> None:
    ids: dict[bytes, int] = {}
    for token_id, token in enumerate(parts.vocabulary.tokens):
        if token and ids.setdefault(token, token_id) != token_id:
            raise ValueError(
                f"ids {ids[token]} and {token_id} both have the bytes {token!r}, and a file has one id for them; "
                "leave one of them out"
            )


def _names_differ(parts: Parts) -> None:
    ids = parts.vocabulary.ranks
    for name, token_id in parts.special.ids.items():
        try:
            token = bytes_of_name(name)
        except ValueError:
            continue  # no ordinary token is spelled so
        if token in ids:
            raise ValueError(
                f"special token {name!r} (id {token_id}) is spelled like the ordinary token {token!r} "
                f"(id {ids[token]}); give it another name, such as '<|{name}|>'"
            )


def _ranks_decide_merges(parts: Parts) -> None:
    vocabulary = parts.vocabulary
    implied = vocabulary_of_ranks(vocabulary.ranks)
    if implied.merges != vocabulary.merges:
        raise ValueError(f"a .tiktoken file merges in order of ids, but this vocabulary does not; {_ELSEWHERE}")
    if more := implied.whole_chunks - vocabulary.whole_chunks:
        first = min(more)
        token = vocabulary.tokens[first]
        raise ValueError(f"tiktoken would encode {token!r} as id {first}, which no merge makes here; {_ELSEWHERE}")


def _every_token_is_looked_up(parts: Parts) -> None:
    # 'ignore_merges' looks up every chunk first, and knows no exception.
    vocabulary = parts.vocabulary
    if vocabulary.whole_chunks and (lost := not_merged(vocabulary) - vocabulary.whole_chunks):
        token = vocabulary.tokens[min(lost)]
        raise ValueError(
            f"{token!r} (id {min(lost)}) would be given to a chunk of these bytes, as no merge makes it; "
            "leave it out of the vocabulary"
        )


def _every_token_is_merged(parts: Parts) -> None:
    vocabulary = parts.vocabulary
    made = {made for _, _, made in vocabulary.merges} | {*vocabulary.byte_ids, vocabulary.empty_id}
    for token_id, token in enumerate(vocabulary.tokens):
        if token and token_id not in made:
            raise ValueError(
                f"no merge makes {token!r} (id {token_id}), so it would be read as a special token; {_ELSEWHERE}"
            )


def _split_is_shared(parts: Parts) -> None:
    if parts.pattern is not None and resolve_pattern(parts.pattern) != PATTERNS["gpt2"]:
        check_shared_dialect(resolve_pattern(parts.pattern))


def _split_is_tiktokens(parts: Parts) -> None:
    if parts.pattern is not None:
        check_tiktoken_dialect(resolve_pattern(parts.pattern))


def _split_is_named(parts: Parts) -> None:
    split = None if parts.pattern is None else resolve_pattern(parts.pattern)
    if split not in GGUF_SPLITS or parts.vocabulary.whole_chunks:
        raise ValueError("llama.cpp knows no such split; train with pattern gpt2 or gpt4")


NEEDED: Final[Mapping[str, Sequence[Callable[[Parts], None]]]] = {
    "tiktoken": (_bytes_are_unique, _ranks_decide_merges, _split_is_tiktokens),
    "huggingface": (_bytes_are_unique, _names_differ, _every_token_is_looked_up, _split_is_shared),
    "gpt2": (_bytes_are_unique, _names_differ, _every_token_is_merged),
    "gguf": (_split_is_named, _bytes_are_unique, _names_differ),
}


def check_format(name: str, parts: Parts) -> None:
    """Check that the readers of a format give the ids of a byte-level BPE.

    Raises:
        ValueError: they do not; it says why, and what to do.

    >>> from tokbench_plugins.bpe.vocabulary import Vocabulary
    >>> unused = Parts(Vocabulary((*(bytes([byte]) for byte in range(256)), b"xyz"), tuple(range(256)), ()))
    >>> check_format("huggingface", unused)
    >>> check_format("gpt2", unused)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no merge makes b'xyz' (id 256), so it would be read as a special token; save it as tokenizer.json
    """
    for check in NEEDED[name]:
        check(parts)


def built_pieces(pieces: Sequence[ModelPiece]) -> list[int]:
    """Return the pieces that merges may build, the highest score first, and of equal ones the shortest."""
    texts = (piece.text for piece in pieces if piece.type is PieceType.USER_DEFINED)
    defined = SpecialTokens({text: i for i, text in enumerate(filter(None, texts))})
    normal = (i for i, piece in enumerate(pieces) if piece.type is PieceType.NORMAL and len(piece.text) > 1)
    merged = [i for i in normal if not defined.in_text(pieces[i].text)]
    return sorted(merged, key=lambda i: (-pieces[i].score, len(pieces[i].text)))


def merges_of_halves(pieces: Sequence[ModelPiece]) -> list[Merge]:
    """Return each way to make a piece of two, the highest score first; of equal scores the lowest id."""
    ids = {piece.text: i for i, piece in enumerate(pieces) if piece.type is PieceType.NORMAL}
    halves = ((i, text[:at], text[at:]) for text, i in ids.items() for at in range(1, len(text)))
    known = [(ids[left], ids[right], i) for i, left, right in halves if left in ids and right in ids]
    return sorted(known, key=lambda merge: (-pieces[merge[2]].score, merge[2]))


def _pieces_are_used(pieces: Sequence[ModelPiece]) -> None:
    unused = sum(piece.type is PieceType.UNUSED for piece in pieces)
    if unused:
        raise ValueError(
            f"merges cannot be listed: {unused} pieces are unused, but built and split again; keep the .model file"
        )


def _characters_are_pieces(pieces: Sequence[ModelPiece]) -> None:
    known = {piece.text for piece in pieces if piece.type is PieceType.NORMAL}
    for i in built_pieces(pieces):
        if missing := [char for char in pieces[i].text if char not in known]:
            raise ValueError(
                f"merges cannot be listed: piece {pieces[i].text!r} has {missing[0]!r} in it, which is not a piece; "
                "keep the .model file"
            )


def _scores_decide(pieces: Sequence[ModelPiece]) -> None:
    """Refuse equal scores, but of runs of one character, as the runs of spaces of Llama and Mistral have them."""
    for before, i in pairwise(built_pieces(pieces)):
        text, score, _ = pieces[i]
        if score == pieces[before].score and len({*pieces[before].text, *text}) > 1:
            raise ValueError(
                f"merges are out of order: piece {text!r} has the score of another, {score:g}, so that the place in "
                "the text decides; keep the .model file"
            )


def _pieces_are_built(pieces: Sequence[ModelPiece]) -> None:
    """Refuse pieces that no merge builds beside user-defined ones, for which 'ignore_merges' looks up every chunk."""
    if all(piece.type is not PieceType.USER_DEFINED for piece in pieces):
        return
    ids = {piece.text: i for i, piece in enumerate(pieces) if piece.type is PieceType.NORMAL}
    units = {i: [ids[char] for char in pieces[i].text] for i in built_pieces(pieces)}
    if lost := not_built(units, merges_of_halves(pieces)):
        raise ValueError(
            f"piece {pieces[min(lost)].text!r} would be given to a text of its own, but no merge builds it; "
            "keep the .model file, or leave the piece out"
        )


PIECES_NEEDED: Final[Mapping[str, Sequence[Callable[[Sequence[ModelPiece]], None]]]] = {
    "merges": (_pieces_are_used, _characters_are_pieces, _scores_decide),
    "tokenizer.json": (_pieces_are_used, _characters_are_pieces, _scores_decide, _pieces_are_built),
    "tokenizer.json without merges": (_pieces_are_used,),
}


def check_pieces(name: str, pieces: Sequence[ModelPiece]) -> None:
    """Check that the pieces of a SentencePiece model can be listed as merges, or written as ``tokenizer.json``.

    Raises:
        ValueError: they cannot; it says why, and what to do.

    >>> pieces = [ModelPiece(text, -len(text), PieceType.NORMAL) for text in ("a", "aa", "abc")]
    >>> check_pieces("merges", pieces)
    Traceback (most recent call last):
    ValueError: merges cannot be listed: piece 'abc' has 'b' in it, which is not a piece; keep the .model file
    """
    for check in PIECES_NEEDED[name]:
        check(pieces)
