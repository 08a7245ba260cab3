"""The backend ``gpt2_files``: byte-level BPE from ``encoder.json`` and ``vocab.bpe``, or their later names."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.backend import SplitPattern
from tokbench_plugins.bpe.engines import BULK_ENGINE, BulkEngine
from tokbench_plugins.bpe.formats import read_gpt2_files, read_pattern
from tokbench_plugins.bpe.patterns import SPLIT_NAMES
from tokbench_plugins.bpe.special import SPECIAL_OPTION

_PAIRS: Final = {"vocab.json": "merges.txt", "encoder.json": "vocab.bpe"}


class GPT2FilesLoadOptions(plugin.Options):
    """Options of the two files; of ``vocab.json`` and ``merges.txt``, or their first names, one says the other."""

    encoder: plugin.LocalPath = Field(description="encoder.json (or vocab.json): the ids by token")
    vocab: plugin.LocalPath = Field(description="vocab.bpe (or merges.txt): the merges in order of rank")
    pattern: SplitPattern | None = Field(
        default=None,
        description=f"the pre-tokenization split: {SPLIT_NAMES} or a regular expression; default: as exported "
        "(vocab.bpe.pattern), or gpt2",
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION
    engine: BulkEngine = BULK_ENGINE

    @model_validator(mode="before")
    @classmethod
    def _other_file(cls, given: Any) -> Any:
        for ids, merges in _PAIRS.items():
            for one, end, other, other_end in (("encoder", ids, "vocab", merges), ("vocab", merges, "encoder", ids)):
                path = str(given.get(one, ""))
                if path.endswith(end) and other not in given:
                    return {**given, other: f"{path.removesuffix(end)}{other_end}"}
        if ("encoder" in given) != ("vocab" in given):
            raise ValueError("the ids and the merges are two files: name the folder, with vocab.json and merges.txt")
        return given


def _load(options: GPT2FilesLoadOptions) -> BPETokenizer:
    parts = read_gpt2_files(options.encoder, options.vocab, options.pattern or read_pattern(options.vocab) or "gpt2")
    ids = max([len(parts.vocabulary.tokens) - 1, *parts.special.names]) + 1
    special = parts.special.with_more(options.special_tokens, ids)
    tokenizer = BPETokenizer(parts.vocabulary, parts.pattern, special, engine=options.engine)
    tokenizer.identity = repr(parts.pattern)
    return tokenizer


SPEC = plugin.BackendSpec(
    name="gpt2_files",
    summary="byte-level BPE from GPT-2's encoder.json and vocab.bpe (vocab.json and merges.txt)",
    load=_load,
    load_options=GPT2FilesLoadOptions,
    main="encoder",
    files=(
        plugin.FileKind(".json", "encoder", marks=r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*[,}]'),
        plugin.FileKind("merges.txt", "vocab"),
        plugin.FileKind(".bpe", "vocab"),
        plugin.FileKind("", "vocab", marks="#version"),
    ),
)
