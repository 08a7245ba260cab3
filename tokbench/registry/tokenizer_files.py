"""Files of tokenizers: a file's name and first bytes choose among the backends that load it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.files import open_regular
from tokbench.registry.plugins import missing

if TYPE_CHECKING:
    from tokbench.tokenizers.backend import BackendSpec, FileKind

FOLDER: Final = "/"
"""The last character of a name that means a folder."""

_HEAD: Final = 4096


class Reader(NamedTuple):
    """A backend, and the kind of files as which it reads one."""

    spec: BackendSpec
    kind: FileKind


def readers_of(name: str, path: Path, backends: Iterable[BackendSpec]) -> list[Reader]:
    """Return the backends that read a file, the preferred one first; ``name`` tells its kind.

    A kind with marks goes before one without, and a longer ending before a shorter one. Then installed backends go
    first, those that are made for such files, and the rest by precedence.

    Raises:
        InputError: no backend reads such a file, it is empty, or it cannot be read.
    """
    backends = list(backends)
    folder = path.is_dir()
    name, head = (FOLDER, FOLDER.encode()) if folder else (name, _head(name, path))
    if not head:
        raise InputError([Problem(name, "the file is empty")])
    readers = [Reader(spec, kind) for spec in backends for kind in spec.files if kind.fits(name, head)]
    if not readers:
        what = "a folder" if folder else "a file of this name"
        known = ", ".join(sorted(endings(backends) - {FOLDER}))
        raise InputError(
            [Problem(str(path) if folder else name, f"no backend reads {what}; files that are read: {known}")]
        )
    readers.sort(key=_rank)
    if refusal := readers[0].kind.refusal:
        raise InputError([Problem(name, refusal)])
    return [reader for reader in readers if not reader.kind.refusal]


def endings(backends: Iterable[BackendSpec]) -> set[str]:
    """Return the ends of the names of all files that some backends read."""
    return {kind.ending for spec in backends for kind in spec.files if kind.ending and not kind.refusal}


def _rank(reader: Reader) -> tuple[bool, int, bool, bool, int, str]:
    spec, kind = reader
    return not kind.marks, -len(kind.ending), missing(spec) is not None, kind.also, -spec.precedence, spec.name


def _head(name: str, path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(_HEAD)
    except OSError as error:
        raise InputError([Problem(name, f"cannot be read: {error.strerror or error}")]) from error
