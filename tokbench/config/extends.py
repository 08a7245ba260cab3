"""Reads a configuration and its bases, and merges them strictly.

Mappings merge key by key. Every other value, lists included, replaces the base's value. ``null`` removes a key of the
base. Each value keeps its file, line and column, and its relative paths start in the folder of that file.
"""

from __future__ import annotations

import copy
import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench.config.strict_yaml import MAX_BYTES, Located, read_yaml, value_at
from tokbench.config.suites import SUFFIXES, shipped_suites
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.files import not_text, read_regular
from tokbench.foundation.parsing import TextError, decode_utf8
from tokbench.results.blocks import ConfigFile

_KEY: Final = "extends"


def read_text(path: Path, shown: str) -> str:
    """Return the text of a configuration file; ``shown`` is its name in messages.

    Raises:
        InputError: the file cannot be read, is not a regular file, is too large, or is not UTF-8.
    """
    advice = "a configuration is a YAML file in UTF-8"
    try:
        data = read_regular(path, MAX_BYTES)
        return decode_utf8(data)
    except OSError as error:
        more = f"; {advice}" if error.errno in {errno.EINVAL, errno.EFBIG} else ""
        raise InputError([Problem(shown, f"cannot be read: {error.strerror}{more}")]) from error
    except TextError as error:
        kind = not_text(data)
        problem = Problem(shown, kind) if kind else error.at(shown)
        raise InputError([Problem(problem.where, f"{problem.message}; {advice}")]) from error


class Extended(NamedTuple):
    """A configuration merged with its bases, and the files of the bases."""

    located: Located
    bases: list[ConfigFile]


def read_extended(text: str, path: Path) -> Extended:
    """Read a configuration, and merge it with the bases in its key ``extends``.

    Raises:
        InputError: the text is not YAML. Problems of the bases are in ``located.problems``.
    """
    reader = _Reader(path)
    return Extended(reader.merged(read_yaml(text, str(path)), path, (_identity(path),)), list(reader.files.values()))


def _identity(path: Path) -> str:
    return os.path.realpath(path)


class _Base(NamedTuple):
    path: Path
    shown: str
    recorded: str


class _Reader:
    def __init__(self, main: Path) -> None:
        self._main = main
        self._read: dict[str, Located] = {}
        self.files: dict[str, ConfigFile] = {}

    def merged(self, own: Located, path: Path, chain: tuple[str, ...]) -> Located:
        """Return a document merged with its bases; ``chain`` has the files from the first one to this."""
        given = own.data.get(_KEY) if isinstance(own.data, dict) else None
        names = given if isinstance(given, list) else [] if given is None else [given]
        bases = [
            base
            for k, name in enumerate(names)
            if isinstance(name, str)  # the check of the whole reports other types
            and (base := self._base(name, own, (_KEY, k) if isinstance(given, list) else (_KEY,), path, chain))
        ]
        if not bases:
            return own
        merged = copy.deepcopy(bases[0])
        for over in [*bases[1:], own]:
            _merge(merged, over, ())
            merged.problems += over.problems
            merged.values[()] = over.values[()]
        merged.name = own.name
        return merged

    def _base(
        self, name: str, own: Located, at: tuple[str | int, ...], path: Path, chain: tuple[str, ...]
    ) -> Located | None:
        try:
            base = self._find(name, path)
            identity = _identity(base.path)
            _check_chain(identity, chain)
            if identity not in self._read:
                self._read[identity] = self._document(base, (*chain, identity))
        except InputError as error:
            where = own.where(at)
            own.problems += [Problem(problem.where or where, problem.message) for problem in error.problems]
            return None
        return self._read[identity]

    def _find(self, name: str, path: Path) -> _Base:
        """Return the file of a base named in ``path``, or raise an InputError."""
        beside = path.parent / name
        if not beside.is_file() and name in shipped_suites():
            suite = shipped_suites()[name]
            return _Base(suite.path, str(suite.path), name)
        if beside.is_dir() or not beside.exists():
            problem = "is a folder" if beside.is_dir() else "no such file"
            near = [file.name for file in beside.parent.glob("*") if file.suffix in SUFFIXES]
            hint = did_you_mean(Path(name).name, [*near, *shipped_suites()])
            raise InputError(f"cannot extend {name!r}: {problem}; {hint}")
        recorded = name if Path(name).is_absolute() else Path(os.path.relpath(beside, self._main.parent)).as_posix()
        return _Base(beside, os.path.normpath(beside), recorded)

    def _document(self, base: _Base, chain: tuple[str, ...]) -> Located:
        text = read_text(base.path, base.shown)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.files[chain[-1]] = ConfigFile(file=base.recorded, sha256=digest, text=text)
        document = read_yaml(text, base.shown)
        document.folders[base.shown] = base.path.parent.absolute()
        if not isinstance(document.data, dict):
            raise InputError(document.problems or [Problem(document.where(()), "not a mapping of keys to values")])
        document = self.merged(document, base.path, chain)
        if _KEY in document.data:
            document.remove((_KEY,))
        return document


def _check_chain(identity: str, chain: tuple[str, ...]) -> None:
    if identity in chain:
        circle = [*chain[chain.index(identity) :], identity]
        raise InputError(f"a configuration cannot extend itself: {' -> '.join(Path(base).name for base in circle)}")


def _merge(under: Located, over: Located, path: tuple[str | int, ...]) -> None:
    for key, value, present in list(_pairs(under, over, path)):
        at = (*path, key)
        if value is None and present is not _ABSENT:
            under.remove(at)
        elif value is None:
            known = value_at(under.data, path)
            message = f"null removes a key of the base, which has no {key!r} here; {did_you_mean(key, known)}"
            under.problems.append(Problem(over.where(at, key=True), message))
        elif isinstance(value, dict) and isinstance(present, dict):
            for places, theirs in ((under.keys, over.keys), (under.values, over.values)):
                if at in theirs:
                    places[at] = theirs[at]
            _merge(under, over, at)
        else:
            under.put(at, over, at)
    under.folders = {**over.folders, **under.folders}


_ABSENT: Final = object()


def _pairs(under: Located, over: Located, path: tuple[str | int, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Yield every key of a mapping of ``over``, its value, and the value of ``under`` or a mark."""
    mine, theirs = value_at(under.data, path), value_at(over.data, path)
    return ((key, value, mine.get(key, _ABSENT)) for key, value in theirs.items())
