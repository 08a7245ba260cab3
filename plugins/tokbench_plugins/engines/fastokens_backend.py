"""The backend ``fastokens``: any byte-level vocabulary in fastokens, batches through its own arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tokbench import plugin
from tokbench_plugins.engines.options import FileOptions

if TYPE_CHECKING:
    from tokbench_plugins.engines.tokenizer import EngineTokenizer
    from tokbench_plugins.engines.vocabulary import EngineVocabulary

# Splits that it knows by the name of an encoding, and runs without a regular expression.
_PRESETS: Final = {"gpt4": "cl100k_base", "o200k": "o200k_base"}


def _native(vocabulary: EngineVocabulary) -> Any:
    from fastokens import Tokenizer

    from tokbench_plugins.bpe import resolve_pattern

    if vocabulary.ranks is None or vocabulary.pattern is None:
        return vocabulary.through_json(Tokenizer.from_file)
    split = (
        {"encoding": _PRESETS[vocabulary.pattern]}
        if vocabulary.pattern in _PRESETS
        else {"pattern": resolve_pattern(vocabulary.pattern)}
    )
    special = dict(vocabulary.special)
    return vocabulary.through_ranks(lambda path: Tokenizer.from_tiktoken(path, special_tokens=special, **split))


def _load(options: FileOptions) -> EngineTokenizer:
    import numpy as np

    from tokbench_plugins.engines.options import load_vocabulary
    from tokbench_plugins.engines.tokenizer import Engine, EngineTokenizer, calling

    vocabulary = load_vocabulary(options)
    native = calling("fastokens", lambda: _native(vocabulary))

    def encode(text: str) -> list[int]:
        ids: list[int] = native.encode_ordinary(text).ids
        return ids

    def encode_many(texts: list[str]) -> plugin.Encoded:
        ids, offsets = native.encode_batch_flat(texts, split_special_tokens=True)
        return plugin.Encoded(np.frombuffer(ids, "<u4"), np.frombuffer(offsets, "<u8").astype(np.int64))

    engine = Engine("fastokens", encode, native.decode, encode_many=encode_many)
    return EngineTokenizer(engine, vocabulary, (_load, (options,)))


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``fastokens``."""
    register(
        plugin.BackendSpec(
            name="fastokens",
            summary="OpenAI's encodings, or any byte-level BPE, in fastokens",
            load=_load,
            load_options=FileOptions,
            requires=("fastokens",),
            install="pip install 'tokbench[engines]'",
        )
    )
