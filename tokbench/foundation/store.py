"""The store: finished work in files, found by what it was made from.

An entry has a *kind* (``"training"``), a *key* (what the work was made from) and the result's bytes. Its file is named
by the SHA-256 of the key, and begins with a line of JSON with kind, key and the result's SHA-256. Damaged entries are
reported, deleted and made again. Runs may share a store, and die.

Results are pickles: who can write into the store can run code. A folder that others own or can write to is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import pickle
import shlex
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

import platformdirs

from tokbench.foundation.errors import InputError
from tokbench.foundation.files import open_regular, write_atomically
from tokbench.foundation.parsing import parse_size

Key: TypeAlias = Mapping[str, object]
"""All that can change a result, as values for JSON."""

FOLDER: Final = "TOKBENCH_STORE"
SIZE: Final = "TOKBENCH_STORE_SIZE"
OFF: Final = "TOKBENCH_NO_STORE"

DEFAULT_SIZE: Final = 10 * 1024**3
"""Bytes, without ``TOKBENCH_STORE_SIZE``."""

_LONGEST_HEAD: Final = 1 << 24

_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH

_STALE: Final = 3600.0
"""Seconds after which an unfinished file belongs to a dead run."""

_log = logging.getLogger(__name__)


class Damaged(Exception):  # noqa: N818 - a finding about a file
    """A file of the store has wrong content; the argument is the reason."""


@dataclass(frozen=True)
class StoredEntry:
    """A result in the store."""

    path: Path
    kind: str
    """Such as ``training``."""
    key: Key
    size: int
    used: float
    """Seconds since 1970 of the last use."""


class Store:
    """A folder of finished work, made for the first result.

    Args:
        folder: where.
        limit: bytes of all entries, kept by :meth:`prune`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     before = store.get("training", {"vocab_size": 300})
    ...     store.put("training", {"vocab_size": 300}, b"ids")
    ...     before, store.get("training", {"vocab_size": 300}), [entry.key for entry in store.entries()]
    (None, b'ids', [{'vocab_size': 300}])
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_SIZE) -> None:
        self.folder = folder
        self.limit = limit
        self._refused = False

    def _path(self, kind: str, text: str) -> Path:
        digest = hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()
        return self.folder / kind / digest[:2] / digest[2:]

    def get(self, kind: str, key: Key) -> bytes | None:
        """Return a result or ``None``; delete and log a damaged entry."""
        path = self._path(kind, canonical(key))
        try:
            data = _read(path, kind, canonical(key))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a file, its work is done again
            self._drop(path, str(error))
            return None
        with suppress(OSError):  # a store that cannot be written can be read
            os.utime(path)
        return data

    def value(self, kind: str, key: Key, of: type = object) -> Any | None:
        """Return a result of :meth:`put_value`; ``None`` if missing, not loadable, or not ``of`` this type."""
        data = self.get(kind, key)
        if data is None:
            return None
        try:
            result = pickle.loads(data)  # noqa: S301 - only this user can write to the file
            if not isinstance(result, of):
                raise Damaged(f"it holds {type(result).__name__}, and not {of.__name__}")  # noqa: TRY301
        except Exception as error:  # noqa: BLE001 - unpickling may raise anything; the work is done again
            self._drop(self._path(kind, canonical(key)), f"{type(error).__name__}: {error}")
            return None
        return result

    def put_value(self, kind: str, key: Key, result: object) -> None:
        """Keep a pickle; raise any exception of pickling."""
        self.put(kind, key, pickle.dumps(result, pickle.HIGHEST_PROTOCOL))

    def put(self, kind: str, key: Key, data: bytes) -> None:
        """Keep a result; report once if the store cannot be written."""
        text = canonical(key)
        path = self._path(kind, text)
        head = {"kind": kind, "key": json.loads(text), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        line = json.dumps(head, ensure_ascii=False).encode() + b"\n"
        if len(line) > _LONGEST_HEAD or len(line) + len(data) > self.limit:
            return  # the end of the run would delete it
        try:
            for folder in (self.folder, path.parent.parent, path.parent):  # whatever the umask, of this user alone
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Half an entry is noticed, and its work done again.
            write_atomically(path, line + data, survive_power_cut=False, mode=0o600)
        except OSError as error:
            if not self._refused:
                self._refused = True
                said = f"{error.filename}: {error.strerror}"
                _log.warning("cannot write to the store: %s; free disk space or set %s", said, FOLDER)

    def remove(self, kind: str, key: Key) -> None:
        with suppress(OSError):
            self._path(kind, canonical(key)).unlink()

    def result(self, kind: str, key: Key, make: Callable[[], Any]) -> Any:
        """Return a result from the store, or make it, picklable and not ``None``, and keep it."""
        result = self.value(kind, key)
        if result is None:
            result = make()
            self.put_value(kind, key, result)
        return result

    def _drop(self, path: Path, reason: str) -> None:
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        _log.warning("store entry %s is damaged (%s): it is deleted and computed again", path, reason)

    def _files(self) -> Iterator[Path]:
        for path in sorted(self.folder.glob("*/??/*")):
            if not path.name.startswith("."):
                yield path

    def entries(self) -> Iterator[StoredEntry]:
        """Yield sound entries by kind."""
        for path in self._files():
            with suppress(OSError, Damaged), io.BufferedReader(open_regular(path)) as file:
                head, status = _head(file), path.stat()
                yield StoredEntry(path, str(head["kind"]), head["key"], status.st_size, status.st_mtime)

    def prune(self, limit: int | None = None) -> tuple[int, int]:
        """Delete the least recently used entries beyond ``limit`` bytes; return their number and bytes."""
        now = time.time()
        for path in self.folder.glob("*/??/.*.tmp"):
            with suppress(OSError):
                if now - path.stat().st_mtime > _STALE:
                    path.unlink()
        sizes = []
        for path in self._files():
            with suppress(OSError):
                status = path.lstat()
                sizes.append((status.st_mtime, status.st_size, path))
        too_much = sum(size for _, size, _ in sizes) - (self.limit if limit is None else limit)
        deleted, freed = 0, 0
        for _, size, path in sorted(sizes):
            if freed >= too_much:
                break
            with suppress(OSError):
                path.unlink()
                deleted, freed = deleted + 1, freed + size
        return deleted, freed


def canonical(key: Key) -> str:
    """Return JSON with sorted names, or raise TypeError.

    >>> canonical({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return json.dumps(key, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest_of(key: Key) -> str:
    """Return the sha256 of a key.

    >>> digest_of({"a": 1})[:12]
    '015abd7f5cc5'
    """
    return hashlib.sha256(canonical(key).encode()).hexdigest()


def _head(file: IO[bytes]) -> Mapping[str, Any]:
    """Return the first line of an entry, or raise Damaged."""
    try:
        head = json.loads(file.readline(_LONGEST_HEAD))
        sound = isinstance(head["key"], dict) and {"kind", "bytes", "sha256"} <= head.keys()
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Damaged(f"its first line is damaged: {error}") from None
    if not sound:
        raise Damaged("its first line does not describe an entry")
    return head  # type: ignore[no-any-return]


def _read(path: Path, kind: str, key: str) -> bytes:
    """Return the result of an entry; raise OSError, or Damaged if it does not hold what its first line says."""
    with io.BufferedReader(open_regular(path)) as file:
        head = _head(file)
        data = file.read()
    if (head["kind"], canonical(head["key"])) != (kind, key):
        raise Damaged("it is the entry of other work")
    if len(data) != head["bytes"] or hashlib.sha256(data).hexdigest() != head["sha256"]:
        raise Damaged("its bytes have changed since they were written")
    return data


def default_folder() -> Path:
    """Return ``TOKBENCH_STORE``, or a folder in the platform's place for caches."""
    named = os.environ.get(FOLDER)
    return (
        Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("tokbench", appauthor=False)) / "store"
    )


def open_store() -> Store | None:
    """Return the environment's store; ``None`` if ``TOKBENCH_NO_STORE`` is set.

    Raises:
        InputError: ``TOKBENCH_STORE_SIZE`` is not a size, or the store is a file, or a folder of others.
    """
    if os.environ.get(OFF):
        return None
    folder = default_folder()
    if refusal := _refusal(folder):
        raise InputError(f"the store {folder} {refusal}, or use --no-store")
    try:
        limit = parse_size(os.environ[SIZE]) if os.environ.get(SIZE) else DEFAULT_SIZE
    except ValueError as error:
        raise InputError(f"{SIZE}: {error}") from None
    return Store(folder, limit)


def open_store_if_usable() -> Store | None:
    """Return ``None`` where :func:`open_store` refuses."""
    try:
        return open_store()
    except InputError:
        return None


def _refusal(folder: Path) -> str:
    """Return why a folder cannot be a store, and the fix; empty if it can."""
    try:
        status = folder.stat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"cannot be read ({error.strerror}); set {FOLDER} to a folder of your own"
    if not stat.S_ISDIR(status.st_mode):
        return f"is not a folder; set {FOLDER} to one"
    if not hasattr(os, "geteuid"):  # where there is no POSIX, permissions are of another kind
        return ""
    if status.st_uid == os.geteuid() and not status.st_mode & _OTHERS:
        return ""
    mode = stat.S_IMODE(status.st_mode)
    return (
        f"can be written to by others (mode {mode:04o}); type: chmod -R go-w {shlex.quote(str(folder))}, or set "
        f"{FOLDER} to a folder of your own"
    )
