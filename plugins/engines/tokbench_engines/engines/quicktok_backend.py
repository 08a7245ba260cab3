"""The backend ``quicktok``: OpenAI's encodings and Llama 3's in the package ``quicktok-v1``.

The package ``quicktok`` is another library with a module of the same name.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from pydantic import Field

from tokbench import plugin
from tokbench.plugin import BackendError, Encoded
from tokbench_engines.engines.tokenizer import Engine, engine_spec, newer_unicode
from tokbench_plugins.bpe.special import SPECIAL_OPTION
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

_LLAMA_NOTE: Final = (
    "with llama3 its ids differ in words around tokens that no two others make, many of them Russian: of ' считал' it "
    "makes ' счита' and 'л', where Meta's own file gives ' счит' and 'ал'"
)


class QuicktokLoadOptions(plugin.Options):
    """Its vocabulary."""

    encoding: Literal["cl100k_base", "llama3", "o200k_base"] = Field(description="cl100k_base, o200k_base or llama3")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def _engine(vocabulary: EngineVocabulary) -> Engine:
    import quicktok

    if not hasattr(quicktok, "get_encoding"):
        raise BackendError(
            "the module 'quicktok' is that of another package: pip uninstall quicktok, then pip install quicktok-v1"
        )
    native = quicktok.get_encoding(vocabulary.encoding)

    def encode(text: str) -> list[int]:
        if not isinstance(text, str):  # it would take bytes
            raise TypeError(f"a text is a str, not {type(text).__name__}")
        ids: list[int] = native.encode_ordinary(text)
        return ids

    def encode_many(texts: list[str]) -> Encoded:
        ids, offsets = native.encode_batch(texts, 1)  # on one thread
        return Encoded(ids, np.asarray(offsets, np.int64))

    return Engine(
        encode,
        native.decode_bytes,
        encode_many,
        given=len(vocabulary.ranks or ()),
        count=native.count,
        notes=(newer_unicode("quicktok"), *((_LLAMA_NOTE,) if vocabulary.encoding == "llama3" else ())),
    )


SPEC = engine_spec(
    "quicktok", "OpenAI's encodings and Llama 3's in quicktok", _engine, QuicktokLoadOptions, package="quicktok-v1"
)
