"""The folder in which tiktoken keeps the files of its encodings."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

_PUBLISHER: Final = "https://openaipublic.blob.core.windows.net/"
_GPT2: Final = ("gpt-2/encodings/main/vocab.bpe", "gpt-2/encodings/main/encoder.json")


def is_cached(encoding: str) -> bool:
    """Return whether tiktoken's files of an encoding are on this machine."""
    files = _GPT2 if encoding == "gpt2" else (f"encodings/{encoding}.tiktoken",)
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    kept = Path(tempfile.gettempdir(), "data-gym-cache") if folder is None else Path(folder)
    names = (hashlib.sha1(f"{_PUBLISHER}{file}".encode(), usedforsecurity=False).hexdigest() for file in files)
    return all(Path(kept, name).is_file() for name in names)
