"""The tokenizer in the metadata of a GGUF file, read and written by ``gguf``, and as a SentencePiece model."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tokbench.plugin import BackendError
from tokbench_plugins.sentencepiece.proto import ModelKind, ModelPiece, PieceType

_KEY = "tokenizer.ggml."
_OTHER_KEYS = {
    "general_name": "general.name",
    "normalizer_lowercase": f"{_KEY}normalizer.lowercase",
    "normalizer_strip_accents": f"{_KEY}normalizer.strip_accents",
}


def _key(name: str) -> str:
    return _OTHER_KEYS.get(name, _KEY + name)


@dataclass(frozen=True)
class GGUFTokenizer:
    """Entries named after the end of their key: ``tokens`` is ``tokenizer.ggml.tokens``."""

    model: str = ""
    pre: str = ""
    tokens: tuple[str, ...] = ()
    """By id; for byte-level BPE spelled in GPT-2's alphabet."""
    token_type: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    merges: tuple[str, ...] = ()
    """In order of rank, two tokens with a space between them."""
    add_space_prefix: bool = True
    remove_extra_whitespaces: bool = False
    precompiled_charsmap: tuple[int, ...] = ()
    unknown_token_id: int | None = None
    normalizer_lowercase: bool = True
    normalizer_strip_accents: bool | None = None
    """By default as ``normalizer_lowercase``."""
    general_name: str = ""
    """Of the model; llama.cpp treats Phi-3's tokens by it."""

    @property
    def typed_tokens(self) -> list[tuple[str, int]]:
        """The name and the type of each token."""
        return list(zip(self.tokens, self.token_type or [PieceType.NORMAL] * len(self.tokens), strict=True))

    @property
    def defined(self) -> dict[str, int]:
        """The user-defined tokens by name."""
        return {name: i for i, (name, kind) in enumerate(self.typed_tokens) if kind == PieceType.USER_DEFINED}


def write_gguf(path: Path, content: GGUFTokenizer) -> None:
    """Write a file with a tokenizer and without tensors."""
    from gguf import GGUFWriter

    writer = GGUFWriter(path, "llama")
    for field in fields(content):
        value = getattr(content, field.name)
        if isinstance(value, bool):
            writer.add_bool(_key(field.name), value)
        elif isinstance(value, int):
            writer.add_uint32(_key(field.name), value)
        elif isinstance(value, tuple) and value:
            writer.add_array(_key(field.name), list(value))
        elif isinstance(value, str) and value:
            writer.add_string(_key(field.name), value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _entries(path: Path) -> dict[str, Any]:
    from gguf import GGUFReader

    class Bounded(GGUFReader):
        """Ends at the end of the file, however long an array says that it is."""

        def _get(self, offset: Any, *how: Any, **more: Any) -> Any:
            if int(offset) >= len(self.data):
                raise ValueError("an array or text is longer than the file")
            return super()._get(offset, *how, **more)

    if path.exists() and not path.is_file():
        raise OSError(0, "not a regular file; give a GGUF file")
    fields: dict[str, Any] = Bounded(path).fields
    return fields


def read_gguf(path: Path) -> GGUFTokenizer:
    """Return the tokenizer of a file; tensors are not read."""
    try:
        entries = _entries(path)
        content: dict[str, Any] = {}
        for field in fields(GGUFTokenizer):
            if _key(field.name) in entries:
                value = entries[_key(field.name)].contents()
                content[field.name] = tuple(value) if isinstance(value, list) else value
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror}") from error
    except Exception as error:
        raise BackendError(f"{path}: a damaged GGUF file: {error}; get it again") from error
    if not content.get("tokens"):
        raise BackendError(f"{path}: a GGUF file without a tokenizer: it has no {_KEY}tokens")
    tokenizer = GGUFTokenizer(**content)
    for name in ("token_type", "scores"):
        given = len(getattr(tokenizer, name))
        if given not in {0, len(tokenizer.tokens)}:
            raise BackendError(f"{path}: {_KEY}{name} has {given} entries, {_KEY}tokens {len(tokenizer.tokens)}")
    return tokenizer


def write_model(
    pieces: Iterable[ModelPiece],
    kind: ModelKind,
    *,
    rules: bytes = b"",
    adds_space: bool = True,
    joins_spaces: bool = False,
) -> bytes:
    """Return the content of a model file.

    >>> from tokbench_plugins.sentencepiece.proto import kind_of, read_normalizer, read_pieces
    >>> pieces = [ModelPiece("<unk>", 0.0, PieceType.UNKNOWN), ModelPiece("a", -1.5, PieceType.NORMAL)]
    >>> model = write_model(pieces, ModelKind.BPE)
    >>> kind_of(model), read_pieces(model)[1], read_normalizer(model)[2:]
    (<ModelKind.BPE: 2>, ModelPiece(text='a', score=-1.5, type=<PieceType.NORMAL: 1>), (True, False))
    """
    pieces = list(pieces)
    fallback = any(piece.type == PieceType.BYTE for piece in pieces)
    trainer = _number(3, kind) + _number(35, fallback)
    normalizer = _bytes(2, rules) + _number(3, adds_space) + _number(4, joins_spaces)
    listed = (
        _bytes(1, piece.text.encode()) + bytes([2 << 3 | 5]) + struct.pack("<f", piece.score) + _number(3, piece.type)
        for piece in pieces
    )
    fields = *(_bytes(1, piece) for piece in listed), _bytes(2, trainer), _bytes(3, normalizer)
    return b"".join(fields)


def _number(field: int, value: int) -> bytes:
    return _as_varint(field << 3) + _as_varint(value)


def _bytes(field: int, data: bytes) -> bytes:
    return _as_varint(field << 3 | 2) + _as_varint(len(data)) + data


def _as_varint(value: int) -> bytes:
    data = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - seven bits a byte
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])
