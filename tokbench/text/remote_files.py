"""Files of a corpus at an address, such as ``s3://bucket/*.txt``: copied once, then read."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from tokbench.foundation.errors import InputError, Problem, one_line

_INSTALL: Final = "pip install 'tokbench[cloud]'"
_MAGIC: Final = frozenset("*?[")


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tokbench-files-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def fetch(address: str) -> list[Path]:
    """Copy the files of an address that fsspec reads to this machine, and return the copies, sorted by address.

    Raises:
        InputError: fsspec or what it needs for the address is not installed, no file matches, or a file cannot be read.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise _problem(address, f"an address needs fsspec: {_INSTALL}") from error
    try:
        system, path = url_to_fs(address)
        names = _matching(system, path)
    except ImportError as error:
        raise _problem(address, f"cannot be read: {one_line(error)}; install it with: {_INSTALL}") from error
    except Exception as error:
        raise _problem(address, f"cannot be read: {one_line(error)}") from error
    if not names:
        raise _problem(address, "no file matches; list what is there, and write its path or a glob pattern")
    scheme, root = address.partition("://")[0], Path(tempfile.mkdtemp(dir=_folder()))
    copies = []
    for name in names:
        copy = root.joinpath(scheme, *_parts(name))
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            system.get_file(name, str(copy))
        except Exception as error:
            raise _problem(
                f"{scheme}://{name.partition('://')[2] or name}", f"cannot be read: {one_line(error)}"
            ) from error
        copies.append(copy)
    return copies


def _matching(system: Any, path: str) -> list[str]:
    if _MAGIC.isdisjoint(path):
        return [path] if system.exists(path) else []
    return sorted(name for name, entry in system.glob(path, detail=True).items() if entry.get("type") != "directory")


def _parts(name: str) -> list[str]:
    """Return the folders and the name of a file, without ``..`` and query."""
    path = PurePosixPath(name.partition("://")[2].partition("?")[0] if "://" in name else name)
    return [part for part in path.parts if part not in {"/", "..", "."}]


def _problem(address: str, message: str) -> InputError:
    return InputError([Problem(address, message)])
