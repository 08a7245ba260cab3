"""The tokenizer in the metadata of a GGUF file, read and written by llama.cpp's package ``gguf``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tokbench.plugin import BackendError

_KEY = "tokenizer.ggml."


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


def write_gguf(path: Path, content: GGUFTokenizer) -> None:
    """Write a file with a tokenizer and without tensors."""
    from gguf import GGUFWriter

    writer = GGUFWriter(path, "llama")
    for field in fields(content):
        value = getattr(content, field.name)
        if isinstance(value, bool):
            writer.add_bool(_KEY + field.name, value)
        elif isinstance(value, int):
            writer.add_uint32(_KEY + field.name, value)
        elif isinstance(value, tuple) and value:
            writer.add_array(_KEY + field.name, list(value))
        elif isinstance(value, str) and value:
            writer.add_string(_KEY + field.name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_gguf(path: Path) -> GGUFTokenizer:
    """Return the tokenizer of a file; tensors are not read."""
    from gguf import GGUFReader

    try:
        path.open("rb").close()
        entries = GGUFReader(path).fields
        content: dict[str, Any] = {}
        for field in fields(GGUFTokenizer):
            if _KEY + field.name in entries:
                value = entries[_KEY + field.name].contents()
                content[field.name] = tuple(value) if isinstance(value, list) else value
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror}") from error
    except Exception as error:
        raise BackendError(f"{path}: a damaged GGUF file: {type(error).__name__}: {error}") from error
    if not content.get("tokens"):
        raise BackendError(f"{path}: a GGUF file without a tokenizer: it has no {_KEY}tokens")
    tokenizer = GGUFTokenizer(**content)
    for name in ("token_type", "scores"):
        given = len(getattr(tokenizer, name))
        if given not in {0, len(tokenizer.tokens)}:
            raise BackendError(f"{path}: {_KEY}{name} has {given} entries, {_KEY}tokens {len(tokenizer.tokens)}")
    return tokenizer
