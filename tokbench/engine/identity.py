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
from functools import partial
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokbench.corpus.words.icu import icu_version
from tokbench.measuring.family import MetricFamily
from tokbench.registry.plugins import PluginStatus
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.options import Options

if TYPE_CHECKING:
    from tokbench.measuring.study import StudySpec  # imports the plan, which workers do without

_LARGE: Final = 64 << 20
"""Larger files in a folder, such as a model's weights, are distinguished by size and time."""

_LONGEST_PATH: Final = 4096

_ROOT: Final = Path(__file__).parents[1]

_LOADING: Final = ("tokenizers", "foundation/files.py")
"""The files of the package ``tokbench`` that every tokenizer uses."""

_PLUGINS: Final = ("formats", "metrics", "sources", "studies")
"""Rooms of plugins, which have identities of their own."""

_SHOWING: Final = ("api.py", "cli", "comparison", "notebook", "pytest_plugin.py", "report", "serve", "testing")
"""Rooms and files that show numbers or ask for them. States of metrics depend on all others."""

_IMPORT: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
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
    """The identities of plugins in one run.

    Methods raise ``OSError`` for a file that cannot be read, ``LookupError`` for code without a source. Nothing is kept
    from run to run, because workers of the next run import the code that is there then.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}
        self._required: dict[str, list[str]] = {}
        self._loading = self._core(_LOADING)
        self._measuring = ""
        self._installed = installed_versions()

    def surroundings(self) -> dict[str, object]:
        """Return what decides the states of all metrics and tokenizers."""
        self._measuring = self._measuring or self._core(measuring_parts())
        icu = icu_version()
        return {**interpreter(), "tokbench": self._measuring, "libraries": self._libraries("tokbench"), "icu": icu}

    def family(self, family: MetricFamily, options: Options, plugin: PluginStatus | None) -> dict[str, object]:
        """Return the identity of a metric family with its options; the runner's own have no plugin."""
        return {
            "family": family.name,
            "version": family.version,
            "options": options_identity(options),
            "code": self._code(plugin, family.text, family.make) if plugin else {},
            "libraries": self._libraries(plugin.distribution) if plugin else {},
        }

    def study(self, spec: StudySpec, plugin: PluginStatus) -> dict[str, object]:
        code, libraries = self._code(plugin, spec.run), self._libraries(plugin.distribution)
        return {"study": spec.name, "code": code, "libraries": libraries}

    def backend(self, spec: BackendSpec, plugin: PluginStatus) -> dict[str, object]:
        return {
            **interpreter(),
            "backend": spec.name,
            "code": self._code(plugin, spec.load, spec.train),
            "libraries": self._libraries(plugin.distribution, spec.requires),
            "tokbench": self._loading,
        }

    def _code(self, plugin: PluginStatus, *parts: Callable[..., object] | None) -> dict[str, str]:
        """Return the sha256 of the source code of a plugin, by package or module.

        It is all files of the packages that hold the plugin's module and its parts, with what these import from next to
        them, unless that is a folder of installed packages. Built-in metric families count by their own file or folder.
        """
        modules = [_module_of(part) for part in parts if part]
        if not plugin.module.startswith("tokbench."):
            modules.append(plugin.module.partition(":")[0])
        digests: dict[str, str] = {}
        for module in dict.fromkeys(modules):
            if module not in self._known:
                built_in = module.startswith("tokbench.")
                self._known[module] = self._built_in(module) if built_in else self._packages(module.partition(".")[0])
            digests |= self._known[module]
        return digests

    def _built_in(self, module: str) -> dict[str, str]:
        name = ".".join(module.split(".")[:3])
        path = _ROOT.joinpath(*name.split(".")[1:])
        return {name: file_digest(path if path.is_dir() else path.with_suffix(".py"))}

    def _packages(self, name: str) -> dict[str, str]:
        digests: dict[str, str] = {}
        waiting = [name] if name else []
        while waiting:
            name = waiting.pop()
            if name in digests:
                continue
            path = source_of(name)
            digests[name] = file_digest(path)
            if path.parent.name not in {"site-packages", "dist-packages"}:
                waiting += [imported for imported in _imported(path) if _beside(path, imported)]
        return digests

    def _core(self, parts: tuple[str, ...]) -> str:
        digest = hashlib.sha256()
        for part in parts:
            path = _ROOT / part
            for file in [path] if path.is_file() else files_in(path):
                name = file.relative_to(_ROOT).as_posix()
                digest.update(f"{name}\0{file_digest(file)}\0".encode())
        return digest.hexdigest()

    def _libraries(self, distribution: str, further: Iterable[str] = ()) -> dict[str, str]:
        if distribution not in self._required:
            self._required[distribution] = required_by(distribution)
        names = {distribution, *further, *self._required[distribution]}
        return {
            name: self._installed[plain_name(name)] for name in sorted(names) if plain_name(name) in self._installed
        }


def measuring_parts() -> tuple[str, ...]:
    """Return the files and folders of the package ``tokbench`` that decide states of metrics, by name.

    >>> {"engine", "foundation", "measuring", "registry"} < set(measuring_parts())
    True
    >>> {"metrics", "report"} & set(measuring_parts())
    set()
    """
    parts = {path.name for path in _ROOT.iterdir() if path.is_dir() or path.suffix == ".py"}
    return tuple(sorted(parts - {*_PLUGINS, *_SHOWING, "__pycache__"}))


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


def _imported(path: Path) -> set[str]:
    files = [path] if path.is_file() else [file for file in files_in(path) if file.suffix == ".py"]
    return {name.decode() for file in files for name in _IMPORT.findall(file.read_bytes())}


def _beside(path: Path, name: str) -> bool:
    return (path.parent / f"{name}.py").is_file() or (path.parent / name / "__init__.py").is_file()


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
