"""The backend ``rs_bpe``: OpenAI's vocabularies in rs-bpe, a relative of ``bpe_openai`` with its own threads."""

from __future__ import annotations

from tokbench_engines.engines.given import PackageOptions
from tokbench_engines.engines.tokenizer import Engine, engine_spec
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary


def _engine(vocabulary: EngineVocabulary) -> Engine:
    from rs_bpe.bpe import openai

    native = getattr(openai, vocabulary.encoding)()
    return Engine(native.encode, native.decode, given=len(vocabulary.ranks or ()), count=native.count)


SPEC = engine_spec("rs_bpe", "OpenAI's vocabularies in rs-bpe", _engine, PackageOptions)
