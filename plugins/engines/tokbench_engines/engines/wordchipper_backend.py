"""The backend ``wordchipper``: OpenAI's encodings in wordchipper.

If wordchipper cannot download an encoding, it runs on 256 bytes without a warning. So the file is put into its folder
first, and the size of the vocabulary is checked.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench_engines.engines.tokenizer import Engine, engine_spec
from tokbench_plugins.bpe.formats import write_ranks
from tokbench_plugins.bpe.special import SPECIAL_OPTION
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

_FOLDER: Final = "WORDCHIPPER_CACHE_DIR"


class WordchipperLoadOptions(plugin.Options):
    """The vocabulary."""

    encoding: Literal["cl100k_base", "o200k_base", "r50k_base"] = Field(
        description="r50k_base (that of GPT-2), cl100k_base or o200k_base"
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


@contextmanager
def _cache_folder(folder: str) -> Iterator[None]:
    before = os.environ.get(_FOLDER)
    os.environ[_FOLDER] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before


def _native(vocabulary: EngineVocabulary) -> Any:
    from wordchipper import Tokenizer, TokenizerOptions  # type: ignore[attr-defined]  # its stubs lack its main class

    name = vocabulary.encoding
    assert vocabulary.ranks is not None
    options = TokenizerOptions.default()
    options.set_parallel(False)
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder, _cache_folder(folder):
        path = Path(folder, "openai", name, f"{name}.tiktoken")
        path.parent.mkdir(parents=True)
        write_ranks(path, vocabulary.ranks)
        native = Tokenizer.from_pretrained(f"openai:{name}", options)
    if len(native.vocab) < len(vocabulary.ranks):
        raise plugin.BackendError(
            f"wordchipper loaded {len(native.vocab)} tokens of {name} instead of {len(vocabulary.ranks)}"
        )
    return native


def _engine(vocabulary: EngineVocabulary) -> Engine:
    from wordchipper import SpecialFilter

    native = _native(vocabulary)
    encode = partial(native._tok.encode, special_filter=SpecialFilter.include_none())  # noqa: SLF001 - without its Python layer
    return Engine(encode, native.decode_bytes, decode_many=native.decode_bytes_batch)


SPEC = engine_spec("wordchipper", "OpenAI's encodings in wordchipper", _engine, WordchipperLoadOptions)
