"""The tokenizer's part of a model file of llama.cpp, written by its package ``gguf``."""

from __future__ import annotations

from pathlib import Path

from tokbench.foundation.errors import BackendError
from tokbench.registry.plugins import lacking
from tokbench_plugins.bpe.formats.byte_names import named_merges, names_of
from tokbench_plugins.bpe.formats.conditions import GGUF_SPLITS, check_format
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import resolve_pattern

_NORMAL, _CONTROL, _UNUSED = 1, 3, 5


def write_gguf_file(path: Path, parts: Parts) -> None:
    """Write a file without tensors."""
    if absent := lacking(("gguf",)):
        raise BackendError(f"{path}: to write GGUF {absent}")
    from gguf import GGUFWriter

    try:
        check_format("gguf", parts)
    except ValueError as error:
        raise BackendError(f"{path}: cannot be written as GGUF: {error}") from error
    by_id = {token_id: name for name, token_id in names_of(parts).items()} | dict(parts.special.names)
    ids = range(max(by_id) + 1)
    writer = GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(GGUF_SPLITS[resolve_pattern(str(parts.pattern))])
    writer.add_token_list([by_id.get(token_id, f"[unused{token_id}]") for token_id in ids])
    kinds = [_CONTROL if i in parts.special.names else _NORMAL if i in by_id else _UNUSED for i in ids]
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(merge) for merge in named_merges(parts.vocabulary)])
    for role, name in parts.roles.items():
        getattr(writer, f"add_{role}_token_id")(parts.special.ids[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
