"""Byte-level BPE in the files of other programs, both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tokbench.foundation.errors import BackendError
from tokbench_plugins.bpe.formats.gguf_file import write_gguf_file
from tokbench_plugins.bpe.formats.gpt2_files import read_gpt2_files, write_gpt2_files
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.formats.tiktoken_ranks import (
    DEFAULT_SPLIT,
    RANKS_FILES,
    known_split,
    ranks_of,
    read_pattern,
    read_ranks,
    read_ranks_file,
    write_pattern,
    write_ranks,
)
from tokbench_plugins.bpe.formats.tokenizer_json import read_tokenizer_json, write_tokenizer_json


def _write_ranks(path: Path, parts: Parts) -> None:
    try:
        write_ranks(path, ranks_of(parts.vocabulary, parts.pattern))
    except ValueError as error:
        raise BackendError(f"{path}: cannot be written as .tiktoken: {error}") from error
    write_pattern(path, parts.pattern)


def _write_gpt2(folder: Path, parts: Parts) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_gpt2_files(folder / "encoder.json", folder / "vocab.bpe", parts)
    write_pattern(folder / "vocab.bpe", parts.pattern)


EXPORTS: Mapping[str, tuple[str, Callable[[Path, Parts], None]]] = {
    "tiktoken": (".tiktoken", _write_ranks),
    "huggingface": (".tokenizer.json", write_tokenizer_json),
    "gpt2": ("", _write_gpt2),
    "gguf": (".gguf", write_gguf_file),
}
"""By name: the ending of the file's name (GPT-2's two files make a folder), and the function that writes it."""

__all__ = [
    "DEFAULT_SPLIT",
    "EXPORTS",
    "RANKS_FILES",
    "Parts",
    "known_split",
    "ranks_of",
    "read_gpt2_files",
    "read_pattern",
    "read_ranks",
    "read_ranks_file",
    "read_tokenizer_json",
    "write_gpt2_files",
    "write_ranks",
    "write_tokenizer_json",
]
