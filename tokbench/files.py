"""Reading of files with the reason in the error, and writing of files whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from tokbench.errors import BackendError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that neither a reader nor a crash ever sees half of it.

    Args:
        path: where to; an existing file is replaced. The folder must exist.
        data: all of the content.

    Raises:
        OSError: the folder does not exist, cannot be written, or is full; it names the file.
    """
    # In the same folder, because a rename is atomic only within one file system.
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the new name with no content
        unfinished.replace(path)
    except OSError as error:
        # The error itself names the unfinished file, or none.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        unfinished.unlink(missing_ok=True)


def read_file(path: Path) -> bytes:
    """Return the bytes of a file.

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
