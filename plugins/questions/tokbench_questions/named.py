"""Tokenizers by name, file or folder: all questions load them here, so that what cannot be loaded ends with code 2."""

from __future__ import annotations

from pathlib import Path

import tokbench
from tokbench import InputError, TokbenchError
from tokbench.plugin import Tokenizer


def file_of(name: str) -> str:
    """Return the tokenizer.json or tokenizer.model of a folder; any other name as it is."""
    files = (Path(name) / file for file in ("tokenizer.json", "tokenizer.model"))
    return next((str(file) for file in files if file.is_file()), name)


def load(tokenizer: str | Tokenizer) -> Tokenizer:
    """Return a tokenizer by name, or as it is; an InputError if it cannot be loaded.

    >>> load("utf8_bytes").encode("né")
    [110, 195, 169]
    """
    try:
        return tokbench.load(file_of(tokenizer) if isinstance(tokenizer, str) else tokenizer)
    except InputError:
        raise
    except TokbenchError as error:
        raise InputError(str(error)) from error
