"""A SentencePiece model as ``tokenizer.json``, after Hugging Face's converters.

Other than theirs, it has no dummy prefix after a special token, as SentencePiece itself encodes such a text in pieces.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tokbench_plugins.bpe.formats.conditions import check_pieces, merges_of_halves
from tokbench_plugins.bpe.formats.tokenizer_json import pipeline
from tokbench_plugins.sentencepiece.proto import (
    SPACE,
    ModelKind,
    ModelPiece,
    PieceType,
    kind_of,
    read_normalizer,
    read_pieces,
    read_trainer,
)


def tokenizer_json(model: bytes) -> dict[str, Any]:
    """Return the content of the file.

    Raises:
        ValueError: the model cannot be converted.
    """
    pieces, kind, trainer, normalizer = read_pieces(model), kind_of(model), read_trainer(model), read_normalizer(model)
    if kind not in _MODELS or trainer.space_is_suffix:
        raise ValueError(
            "models of words or with treat_whitespace_as_suffix have no tokenizer.json; keep the .model file"
        )
    check_pieces("tokenizer.json" if kind is ModelKind.BPE else "tokenizer.json without merges", pieces)
    defined = [piece.text for piece in pieces if piece.type is PieceType.USER_DEFINED]
    special = {piece.text: i for i, piece in enumerate(pieces) if piece.type is PieceType.CONTROL}
    fallback = [{"type": "ByteFallback"}] * trainer.byte_fallback
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] * normalizer.adds_space
    splits = list(_splits(defined, adds_space=normalizer.adds_space))
    return pipeline(
        {**_MODELS[kind](pieces), "byte_fallback": trainer.byte_fallback},
        special,
        normalizer={"type": "Sequence", "normalizers": list(_normalizers(model))},
        pre_tokenizer={"type": "Sequence", "pretokenizers": splits},
        decoder={"type": "Sequence", "decoders": [_replace(SPACE, " "), *fallback, {"type": "Fuse"}, *strip]},
    )


def _replace(old: str, new: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def _normalizers(model: bytes) -> Iterator[dict[str, Any]]:
    normalizer = read_normalizer(model)
    if normalizer.rules:
        yield {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(normalizer.rules).decode()}
    if normalizer.joins_spaces:
        yield _replace(" {2,}", " ", "Regex")
        yield _replace(rf"[ {SPACE}]+\z", "", "Regex")
        if not normalizer.adds_space:
            yield _replace(r"\A ", "", "Regex")
    else:
        yield _replace(" ", SPACE)


def _splits(defined: Sequence[str], *, adds_space: bool) -> Iterator[dict[str, Any]]:
    # The first puts a space before a text without one, and the second makes all spaces marks.
    for mark, scheme in [(" ", "first")] * adds_space + [(SPACE, "never")]:
        yield {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme, "split": False}
    if defined:
        pattern = "|".join(map(re.escape, sorted(defined, key=len, reverse=True)))
        yield {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _unknown(pieces: Sequence[ModelPiece]) -> int:
    return next(i for i, piece in enumerate(pieces) if piece.type is PieceType.UNKNOWN)


def _unigram(pieces: Sequence[ModelPiece]) -> dict[str, Any]:
    return {"type": "Unigram", "unk_id": _unknown(pieces), "vocab": [[piece.text, piece.score] for piece in pieces]}


def _characters(pieces: Sequence[ModelPiece]) -> dict[str, Any]:
    return {
        "type": "BPE",
        "unk_token": pieces[_unknown(pieces)].text,
        "fuse_unk": True,
        "ignore_merges": any(piece.type is PieceType.USER_DEFINED for piece in pieces),
        "vocab": {piece.text: i for i, piece in enumerate(pieces)},
        "merges": [],
    }


def _bpe(pieces: Sequence[ModelPiece]) -> dict[str, Any]:
    merges = [(pieces[left].text, pieces[right].text) for left, right, _ in merges_of_halves(pieces)]
    return {**_characters(pieces), "merges": merges}


_MODELS: Final = {ModelKind.UNIGRAM: _unigram, ModelKind.BPE: _bpe, ModelKind.CHAR: _characters}
