"""The identity of what a run works with: all that can change a result.

No version number is trusted alone: the source code of plugins is hashed, and so are the files that options name.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokbench.corpus.words.icu import icu_version
from tokbench.foundation.packages import OWN
from tokbench.measuring.family import MetricFamily
from tokbench.registry.plugins import PluginStatus
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.options import Options

if TYPE_CHECKING:
    from tokbench.measuring.study import StudySpec  # imports the plan, which workers do without

_LARGE: Final = 64 << 20
"""Larger files in a folder, such as a model's weights, are distinguished by size and time."""

_LONGEST_PATH: Final = 4096

_OWN_PACKAGES: Final = ("tokbench", "tokbench_plugins")
_REQUIREMENT: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_IGNORED_EXTRAS: Final = re.compile(r"extra\s*==\s*['\"](cluster|dev|tests?|testing|docs?)['\"]")


def file_digest(path: Path) -> str:
    """Return the sha256 of a file, or of the names and contents of all that is in a folder, but for hidden files."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for entry in files_in(path):
        status = entry.stat()
        large = status.st_size > _LARGE
        content = f"{status.st_size} {status.st_mtime_ns}" if large else file_digest(entry)
        digest.update(f"{entry.relative_to(path).as_posix()}\0{content}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of its folders in order, without hidden ones and compiled Python."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        yield from (Path(path, name) for name in sorted(files) if not name.startswith("."))


def options_identity(options: Options) -> dict[str, object]:
    """Return options as plain data, each file with its sha256; its folder does not count, its name does."""
    plain: dict[str, object] = options.model_dump(mode="json")
    given = options.model_dump()
    return {name: _value(given[name], value) for name, value in plain.items()}


def _value(given: Any, plain: Any) -> object:
    if isinstance(given, Mapping) and isinstance(plain, dict):
        pairs = zip(given, given.values(), plain.values(), strict=True)
        return {str(key): _value(one, other) for key, one, other in pairs}
    if isinstance(given, list | tuple) and isinstance(plain, list):
        return [_value(one, other) for one, other in zip(given, plain, strict=True)]
    if isinstance(given, Path) and given.exists():
        return {"name": given.name, "sha256": file_digest(given)}
    if isinstance(given, str) and _names_file(given):
        return {"text": given, "sha256": file_digest(Path(given))}
    return sorted(plain, key=repr) if isinstance(given, set | frozenset) else plain


def _names_file(text: str) -> bool:
    """Tell whether a text is the path of a file: an option may name one without saying so by its type."""
    if not 0 < len(text) <= _LONGEST_PATH or "\0" in text or "\n" in text:
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


class Identities:
    """The identities of plugins in one run: the code of their distributions, and the versions of what these require.

    Methods raise ``OSError`` for a file that cannot be read, ``LookupError`` for code without a source. Nothing is kept
    from run to run, because workers of the next run import the code that is there then.
    """

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._libraries: dict[str, dict[str, str]] = {}

    @cached_property
    def _installed(self) -> dict[str, str]:
        return installed_versions()

    def surroundings(self) -> dict[str, object]:
        """Return what decides the states of all metrics and tokenizers."""
        return {**interpreter(), "icu": icu_version(), "tokbench": self._made_of(OWN, _OWN_PACKAGES)}

    def family(self, family: MetricFamily, options: Options, plugin: PluginStatus | None) -> dict[str, object]:
        """Return the identity of a metric family with its options; the runner's own have no plugin."""
        details = {"family": family.name, "version": family.version, "options": options_identity(options)}
        return {**details, "plugin": self._plugin(plugin, family.text, family.make) if plugin else {}}

    def study(self, spec: StudySpec, plugin: PluginStatus) -> dict[str, object]:
        return {"study": spec.name, "plugin": self._plugin(plugin, spec.run)}

    def backend(self, spec: BackendSpec, plugin: PluginStatus) -> dict[str, object]:
        further = self._versions(spec.requires)
        plugin_identity = self._plugin(plugin, spec.load, spec.train)
        return {**self.surroundings(), "backend": spec.name, "plugin": plugin_identity, "requires": further}

    def _plugin(self, plugin: PluginStatus, *parts: Callable[..., object] | None) -> dict[str, object]:
        modules = [_module_of(part) for part in parts if part] + [plugin.module.partition(":")[0]]
        return self._made_of(plugin.distribution, [name for module in modules if (name := module.partition(".")[0])])

    def _made_of(self, distribution: str, packages: Iterable[str]) -> dict[str, object]:
        for name in packages:
            if name not in self._digests:
                self._digests[name] = code_digest(name)
        if distribution not in self._libraries:
            self._libraries[distribution] = self._versions([distribution, *required_by(distribution)])
        return {"code": {name: self._digests[name] for name in packages}, "libraries": self._libraries[distribution]}

    def _versions(self, names: Iterable[str]) -> dict[str, str]:
        return {
            name: self._installed[plain_name(name)]
            for name in sorted(set(names))
            if plain_name(name) in self._installed
        }


def code_digest(package: str) -> str:
    """Return the sha256 of a top-level package or module, with what is next to it if that is its own project's.

    Next to an installed package are other distributions, which count by version.
    """
    path = source_of(package)
    if package in _OWN_PACKAGES or path.parent.name in {"site-packages", "dist-packages"}:
        return file_digest(path)
    code = [
        beside
        for beside in sorted(path.parent.iterdir())
        if beside.suffix == ".py" or (beside / "__init__.py").is_file()
    ]
    return hashlib.sha256("".join(f"{beside.name}\0{file_digest(beside)}\0" for beside in code).encode()).hexdigest()


def interpreter() -> dict[str, str]:
    """Return what runs the code."""
    python = f"{platform.python_implementation()} {sys.version.split()[0]}"
    return {"python": python, "unicode": unicodedata.unidata_version, "machine": platform.machine()}


def _module_of(part: Callable[..., object]) -> str:
    while isinstance(part, partial):
        part = part.func
    return str(getattr(part, "__module__", ""))


def source_of(name: str) -> Path:
    """Return the file or folder of a top-level module, or raise LookupError."""
    spec = find_spec(name)
    if spec and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    if spec and spec.origin and Path(spec.origin).is_file():
        return Path(spec.origin)
    raise LookupError(f"the source of {name} is not a file")


def required_by(distribution: str) -> list[str]:
    """Return the names of the distributions that one requires, extras too, but for developers, tests and clusters."""
    try:
        lines = requires(distribution) or [] if distribution else []
    except PackageNotFoundError:
        return []
    names = (_REQUIREMENT.match(line) for line in lines if not _IGNORED_EXTRAS.search(line))
    return [match[0] for match in names if match]


def installed_versions() -> dict[str, str]:
    """Return the versions of all installed distributions by :func:`plain_name`, from the names of their folders.

    ``importlib.metadata`` takes a quarter of a second for fifty.
    """
    versions: dict[str, str] = {}
    for folder in sys.path:
        for path in sorted(Path(folder or ".").glob("*.dist-info")):
            name, _, version = path.stem.partition("-")
            versions.setdefault(plain_name(name), version)
    return versions


def plain_name(name: str) -> str:
    """Return the one spelling of a distribution's name.

    >>> plain_name("Splintr.rs"), plain_name("splintr-rs")
    ('splintr_rs', 'splintr_rs')
    """
    return re.sub(r"[-_.]+", "_", name).lower()
