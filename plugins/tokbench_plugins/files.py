"""Reading the files of tokenizers."""

from __future__ import annotations

from pathlib import Path

from tokbench import BackendError

__all__ = ["read_file"]


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        BackendError: it cannot be read; the message names the file and the reason.

    >>> read_file(Path("nowhere.model"))
    Traceback (most recent call last):
    tokbench.errors.BackendError: nowhere.model: No such file or directory
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror}") from error
