"""The backend ``bpe_openai``: GitHub's linear-time BPE with OpenAI's vocabularies, from the package ``bpe-openai``.

Its Python layer refuses texts of 1,000,000 characters or 200,000 tokens; the compiled encoder is called instead.
"""

from __future__ import annotations

import warnings
from typing import Final

from tokbench_engines.engines.given import PackageOptions
from tokbench_engines.engines.tokenizer import Engine, engine_spec
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

_NOTE: Final = "bpe-openai's own Python layer refuses 1,000,000 characters; its compiled encoder is used without it"


def _engine(vocabulary: EngineVocabulary) -> Engine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised when it reads its own files
        from bpe_openai import _bindings

    native = _bindings.tokenizer_for_encoding(vocabulary.encoding)
    return Engine(native.encode, native.decode, given=len(vocabulary.ranks or ()), count=native.count, notes=(_NOTE,))


SPEC = engine_spec("bpe_openai", "OpenAI's vocabularies in GitHub's linear-time BPE", _engine, PackageOptions)
