"""What tiktoken knows of its encodings: which files it keeps, and which models have one."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from tokbench.tokenizers.facts import CAUTION
from tokbench.tokenizers.options import GivenOptions

_PUBLISHER: Final = "https://openaipublic.blob.core.windows.net/"
_SHARED: Final = {"o200k_harmony": "o200k_base", "p50k_edit": "p50k_base"}
"""Encodings with the file of another."""
_GPT2: Final = ("gpt-2/encodings/main/vocab.bpe", "gpt-2/encodings/main/encoder.json")


def is_cached(encoding: str) -> bool:
    """Return whether tiktoken's files of an encoding are on this machine."""
    files = _GPT2 if encoding == "gpt2" else (f"encodings/{_SHARED.get(encoding, encoding)}.tiktoken",)
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    kept = Path(tempfile.gettempdir(), "data-gym-cache") if folder is None else Path(folder)
    names = (hashlib.sha1(f"{_PUBLISHER}{file}".encode(), usedforsecurity=False).hexdigest() for file in files)
    return all(Path(kept, name).is_file() for name in names)


MODEL: Any = Field(default="", description="with encoding: the model for which tiktoken's own table has it; noted")


def encoding_of_model(model: str) -> GivenOptions | None:
    """Return the options of the encoding that tiktoken's own table has for a model.

    >>> encoding_of_model("gpt-5"), encoding_of_model("gpt-x")
    ({'encoding': 'o200k_base', 'model': 'gpt-5'}, None)
    """
    from tiktoken.model import encoding_name_for_model

    try:
        return {"encoding": encoding_name_for_model(model), "model": model}
    except KeyError:
        return None


def model_notes(encoding: str | None, model: str) -> tuple[str, ...]:
    """Return that a model is counted by tiktoken's table, or nothing without one."""
    return (f"{CAUTION}counted as {encoding}, by tiktoken's table",) if model else ()
