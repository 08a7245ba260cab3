"""The backend ``kitoken``: any byte-level vocabulary in kitoken.

Given bare ranks, kitoken guesses the split and special tokens from the vocabulary. Its split for GPT-2 is not
GPT-2's, and its special tokens cut text (``<|im_start|>`` is kept from the space before it) even when they are
not to be recognised. So it is given the split, and no special tokens.

Its regular expressions abort the process on a million white-space characters in a row: a text with a tenth of
that is left to tokbench's own BPE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import regex

from tokbench import plugin
from tokbench_plugins.engines.options import FileOptions

if TYPE_CHECKING:
    from tokbench_plugins.engines.tokenizer import EngineTokenizer
    from tokbench_plugins.engines.vocabulary import EngineVocabulary

_LONGEST_SPACE: Final = 100_000
_TOO_LONG: Final = regex.compile(rf"\s{{{_LONGEST_SPACE}}}")
_NOTE: Final = "a text with 100,000 white-space characters in a row is encoded by tokbench's BPE: kitoken would abort"


def _native(vocabulary: EngineVocabulary) -> Any:
    from kitoken import Kitoken

    from tokbench_plugins.bpe import resolve_pattern

    if vocabulary.ranks is None or vocabulary.pattern is None:
        return vocabulary.through_json(Kitoken.from_tokenizers_file)
    native = vocabulary.through_ranks(Kitoken.from_tiktoken_file)
    definition = native.definition()
    pattern = {"pattern": {"Regex": resolve_pattern(vocabulary.pattern)}, "behavior": "Isolate"}
    definition["specials"] = []
    definition["config"]["split"] = [{"Pattern": pattern}]
    native.set_definition(definition)
    return native


def _load(options: FileOptions) -> EngineTokenizer:
    from tokbench_plugins.bpe import BPETokenizer
    from tokbench_plugins.engines.options import load_vocabulary
    from tokbench_plugins.engines.tokenizer import Engine, EngineTokenizer, calling

    vocabulary = load_vocabulary(options)
    native = calling("kitoken", lambda: _native(vocabulary))
    ours: list[BPETokenizer] = []

    def encode(text: str) -> list[int]:
        if len(text) < _LONGEST_SPACE or not _TOO_LONG.search(text):
            ids: list[int] = native.encode(text)
            return ids
        if not ours:
            ours.append(BPETokenizer(vocabulary.vocabulary, vocabulary.pattern, engine="python"))
        return ours[0].encode(text)

    engine = Engine("kitoken", encode, native.decode, decode_many=native.decode_all, notes=(_NOTE,))
    return EngineTokenizer(engine, vocabulary, (_load, (options,)))


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``kitoken``."""
    register(
        plugin.BackendSpec(
            name="kitoken",
            summary="OpenAI's encodings, or any byte-level BPE, in kitoken",
            load=_load,
            load_options=FileOptions,
            requires=("kitoken",),
            install="pip install 'tokbench[engines]'",
        )
    )
