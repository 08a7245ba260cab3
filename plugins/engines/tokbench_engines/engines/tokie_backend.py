r"""The backend ``tokie``: any byte-level vocabulary in tokie.

Its splits are hand-written and differ from the regular expressions; a note of the tokenizer says how.
"""

from __future__ import annotations

from typing import Final

from tokbench_engines.engines.given import through_json
from tokbench_engines.engines.tokenizer import Engine, engine_spec
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

_NOTE: Final = (
    "its ids are not tiktoken's everywhere: tokie cuts texts of more than 65,536 bytes where no split is, breaks white "
    "space between line breaks ('\\n \\n'), takes letter-like numbers (U+2167, U+24B6) for other classes, with o200k "
    "takes variation selectors for symbols (' \u2764\ufe0f'), and follows another version of Unicode"
)


def _engine(vocabulary: EngineVocabulary) -> Engine:
    from tokie import Tokenizer

    native = through_json(vocabulary, Tokenizer.from_json)

    def encode(text: str) -> list[int]:
        ids: list[int] = native.encode(text, add_special_tokens=False).ids
        return ids

    return Engine(encode, native.decode_bytes, notes=(_NOTE,))


SPEC = engine_spec("tokie", "OpenAI's encodings, or any byte-level BPE, in tokie", _engine)
