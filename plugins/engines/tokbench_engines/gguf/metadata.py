"""The tokenizer in the metadata of a GGUF file, read and written by llama.cpp's package ``gguf``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tokbench.plugin import BackendError
from tokbench_plugins.sentencepiece.proto import PieceType

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
