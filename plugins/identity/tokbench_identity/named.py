"""Tokenizers by name, file or folder: what cannot be loaded ends with code 2."""

from __future__ import annotations

import tokbench
from tokbench import InputError, TokbenchError
from tokbench.plugin import Tokenizer


def load(tokenizer: str | Tokenizer) -> Tokenizer:
    """Return a tokenizer by name, or as it is; an InputError if it cannot be loaded.

    >>> load("utf8_bytes").encode("né")
    [110, 195, 169]
    """
    try:
        return tokbench.load(tokenizer)
    except InputError:
        raise
    except TokbenchError as error:
        raise InputError(str(error)) from error
    except Exception as error:
        raise InputError(f"{tokenizer} cannot be read: {type(error).__name__}: {error}; restore the file") from error
