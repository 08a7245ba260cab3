"""Finds configurations: files, folders of files, and the suites of tokbench by name."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Final

from tokbench.foundation.errors import InputError, Problem, close_name, one_line
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.files import read_regular
from tokbench.foundation.packages import elsewhere

SUFFIXES: Final = (".yaml", ".yml")

GROUPS: Final = ("tokbench", "tokbench.commands")
"""The entry points of plugins and of commands."""

_LONGEST: Final = 1 << 20
"""Bytes of a suite."""

_log = logging.getLogger(__name__)

_PACKAGE: Final = Path(__file__).parents[1]
_FOLDERS: Final = (_PACKAGE / "configs", _PACKAGE.parent / "configs")
"""In a wheel, and in the repository of an editable installation."""


@dataclass(frozen=True)
class Suite:
    """A configuration that ships with tokbench."""

    name: str
    path: Path
    summary: str
    """The first sentence of the comment at its head."""
    needs_data: bool
    """It reads files from the folder ``TOKBENCH_TEST_DATA``."""


@cache
def shipped_suites() -> dict[str, Suite]:
    """Return the suites of tokbench and of the packages of plugins by name, sorted; tokbench's own win."""
    own = next((folder for folder in _FOLDERS if (folder / "quickstart.yaml").is_file()), None)
    files = [path for folder in (*_folders_of_packages(), own) if folder for path in folder.glob("*.yaml")]
    suites = {}
    for path in sorted(files, key=lambda path: path.stem):
        try:
            suites[path.stem] = _suite(path)
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("%s is left out: it cannot be read as a suite: %s", path, one_line(error))
    return suites


def _folders_of_packages() -> Iterator[Path]:
    """Yield the folder ``configs`` in each installed package of plugins."""
    modules = {point.value.partition(".")[0]: None for group in GROUPS for point in entry_points(group=group)}
    for module in modules:
        spec = attempt(partial(find_spec, module)) if module != _PACKAGE.name else None
        if isinstance(spec, Failure):
            _log.warning("the suites of %s are left out: %s", module, spec.reason)
            continue
        yield from (Path(folder) / "configs" for folder in (spec and spec.submodule_search_locations) or ())


def _suite(path: Path) -> Suite:
    lines = read_regular(path, _LONGEST).decode().splitlines()
    comment = list(takewhile(lambda line: line.startswith("#"), lines))
    text = " ".join(line.removeprefix("#").strip() for line in comment)
    sentence = re.match(r"(.+?[.?])(?= |$)", text)
    needs_data = any("TOKBENCH_TEST_DATA" in line for line in lines[len(comment) :] if not line.startswith("#"))
    return Suite(path.stem, path, sentence[1] if sentence else "", needs_data)


def find_suite(name: str) -> Suite:
    """Return a suite of tokbench, or raise an InputError with the names of all."""
    suites = shipped_suites()
    if name not in suites:
        close = close_name(name, suites)
        hint = f"did you mean {close!r}? " if close else ""
        unknown = f"no shipped suite is called {name!r}; {hint}Known: {', '.join(suites)}"
        message = elsewhere("suite", name) or unknown
        raise InputError([Problem("", message)])
    return suites[name]


def find_config(given: Path) -> Path:
    """Return the file of a configuration given as a path or as the name of a suite.

    An existing path wins. Anything with a folder or the suffix of a configuration is a path.

    Raises:
        InputError: no such suite, or the path is a folder.
    """
    if given.is_dir():
        raise InputError([Problem(str(given), f"is a folder, not a configuration{_of_this_name(given)}")])
    if given.exists() or given.is_symlink():
        return given
    if len(given.parts) == 1 and given.suffix not in SUFFIXES:
        try:
            return find_suite(str(given)).path
        except InputError as error:
            raise InputError([Problem(str(given), f"no such file, and {error}")]) from None
    if len(given.parts) == 1 and given.stem in shipped_suites():
        raise InputError([Problem(str(given), f"no such file; the shipped suite is called {given.stem!r}")])
    return given


def _of_this_name(folder: Path) -> str:
    known = str(folder) in shipped_suites()
    return f"; 'tokbench new {folder}' writes the shipped suite of this name to a file" if known else ""


def find_configs(given: Sequence[Path]) -> list[Path]:
    """Return configurations, each folder replaced by its YAML files but those with ``_`` or ``.`` in front, sorted.

    Raises:
        InputError: a folder has no such file.
    """
    configs: list[Path] = []
    for path in given:
        if not path.is_dir():
            configs.append(path)
            continue
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.name[0] not in "._")
        if not files:
            message = "a folder without a configuration: no file ends with .yaml or .yml (those with _ do not count)"
            raise InputError([Problem(str(path), message + _of_this_name(path))])
        configs += files
    return configs
