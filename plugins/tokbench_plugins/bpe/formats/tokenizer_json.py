"""Hugging Face's ``tokenizer.json``, written: ``tokenizers.Tokenizer.from_file`` gives the same ids.

One difference remains, in use and not in the file: ``tokenizers`` recognises special tokens in any text,
unless ``tokenizer.encode_special_tokens = True`` is set.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tokbench.plugin import BackendError, write_atomically
from tokbench_plugins.bpe.fast.encode import not_merged
from tokbench_plugins.bpe.formats.byte_names import named_merges, names_of
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import PATTERNS, resolve_pattern

_BYTE_LEVEL: Final = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}


def write_tokenizer_json(path: Path, parts: Parts) -> None:
    """Write a file, as a whole or not at all.

    Args:
        path: where to; an existing file is replaced.
        parts: what to write.

    Raises:
        BackendError: the format cannot hold it; the message says what and why.
        OSError: the file cannot be written.
    """
    try:
        content = tokenizer_json(parts)
    except ValueError as error:
        raise BackendError(f"{path}: cannot be written as tokenizer.json: {error}") from error
    write_atomically(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def tokenizer_json(parts: Parts) -> dict[str, Any]:
    """Return the content of the file.

    Raises:
        ValueError: the format cannot hold it.
    """
    names = names_of(parts)
    vocabulary = parts.vocabulary
    if vocabulary.whole_chunks and (lost := not_merged(vocabulary) - vocabulary.whole_chunks):
        # 'ignore_merges' looks up every chunk first, and knows no exception.
        raise ValueError(f"{vocabulary.tokens[min(lost)]!r} (id {min(lost)}) would be given to a chunk of these bytes")
    special = sorted(parts.special.ids.items(), key=lambda entry: entry[1])
    if [token_id for _, token_id in special] != list(range(len(names), len(names) + len(special))):
        # The library ignores the ids of added tokens and numbers them after the vocabulary, unless the vocabulary
        # has them, too.
        names.update(special)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added_token(name, token_id) for name, token_id in special],
        "normalizer": None,
        "pre_tokenizer": _pre_tokenizer(parts.pattern),
        "post_processor": None,
        "decoder": {**_BYTE_LEVEL, "use_regex": False},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": bool(vocabulary.whole_chunks),
            "vocab": names,
            "merges": named_merges(vocabulary),
        },
    }


def _added_token(name: str, token_id: int) -> dict[str, Any]:
    switches = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": name, **switches, "special": True}


def _pre_tokenizer(pattern: str | None) -> dict[str, Any]:
    """Return what splits: GPT-2's pattern is built in, any other comes before a bare change of alphabet."""
    if pattern is None:
        return {**_BYTE_LEVEL, "use_regex": False}
    expression = resolve_pattern(pattern)
    if expression == PATTERNS["gpt2"]:
        return {**_BYTE_LEVEL, "use_regex": True}
    check_shared_dialect(expression)
    split = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, {**_BYTE_LEVEL, "use_regex": False}]}
