"""The backend ``kitoken``: any byte-level vocabulary in kitoken.

kitoken gets the split, because its split for GPT-2 is not GPT-2's, and no special tokens, because they cut text even
when they are not to be recognised.

Its regular expressions abort the process on a million white-space characters in a row: tokbench's BPE encodes texts
with a tenth of that.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from tokbench_engines.engines.given import through_json, through_ranks
from tokbench_engines.engines.tokenizer import Engine, engine_spec
from tokbench_plugins.bpe import BPETokenizer, resolve_pattern
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

_LONGEST_SPACE: Final = 100_000
# Python's own module compiles it at once, regex in a tenth of a second. Its \s has four control characters more
# than Unicode's white space.
_TOO_LONG: Final = re.compile(rf"[^\S\x1c-\x1f]{{{_LONGEST_SPACE}}}")
_NOTE: Final = "a text with 100,000 white-space characters in a row is encoded by tokbench's BPE: kitoken would abort"


def _native(vocabulary: EngineVocabulary) -> Any:
    from kitoken import Kitoken

    if vocabulary.ranks is None or vocabulary.pattern is None:
        return through_json(vocabulary, Kitoken.from_tokenizers_file)
    native = through_ranks(vocabulary, Kitoken.from_tiktoken_file)
    definition = native.definition()
    pattern = {"pattern": {"Regex": resolve_pattern(vocabulary.pattern)}, "behavior": "Isolate"}
    definition["specials"] = []
    definition["config"]["split"] = [{"Pattern": pattern}]
    native.set_definition(definition)
    return native


def _engine(vocabulary: EngineVocabulary) -> Engine:
    native = _native(vocabulary)

    @cache
    def ours() -> BPETokenizer:
        return BPETokenizer(vocabulary.vocabulary, vocabulary.pattern)

    detours = 0

    def encode(text: str) -> list[int]:
        nonlocal detours
        if len(text) >= _LONGEST_SPACE and _TOO_LONG.search(text):
            detours += 1
            return ours().encode(text)
        ids: list[int] = native.encode(text)
        return ids

    return Engine(encode, native.decode, decode_many=native.decode_all, detours=lambda: detours, notes=(_NOTE,))


SPEC = engine_spec("kitoken", "OpenAI's encodings, or any byte-level BPE, in kitoken", _engine)
