"""Entry points -> what is usable, what is not, and why.

Each entry point of the group ``tokbench`` is loaded in a guarded step of its own: its registrations
are staged, and taken over only if all of it worked. So a broken plugin is a line with its reason,
and the rest runs.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import pluggy

from tokbench import hookspecs
from tokbench.contracts.backend import BackendSpec
from tokbench.errors import ContractError, InputError, did_you_mean, one_line

if TYPE_CHECKING:
    from tokbench.contracts.corpus import CorpusSpec
    from tokbench.contracts.metric import MetricFamily
    from tokbench.contracts.reporter import ReporterSpec

__all__ = ["EntryPoint", "PluginStatus", "Registered", "Registry", "load_registry", "missing"]


class EntryPoint(Protocol):
    """What is used of :class:`importlib.metadata.EntryPoint`."""

    @property
    def name(self) -> str:
        """Left of the equals sign."""

    @property
    def value(self) -> str:
        """Right of it: ``module`` or ``module:attribute``."""

    @property
    def dist(self) -> Any:
        """The distribution that declares it, with a name and a version; or ``None``."""

    def load(self) -> Any:
        """Import it."""


@dataclass(frozen=True)
class PluginStatus:
    """What became of one entry point; ``reason`` is empty if it is usable."""

    name: str
    distribution: str
    version: str
    reason: str = ""


class _Named(Protocol):
    @property
    def name(self) -> str:
        """What a configuration calls it."""


S = TypeVar("S", bound=_Named)


@dataclass(frozen=True)
class Registered(Generic[S]):
    """A spec and the plugin that brought it."""

    spec: S
    plugin: PluginStatus


class Shelf(Generic[S]):
    """The specs of one kind, by name.

    Args:
        kind: what messages call one of them.
        automatic: tells a spec that a run adds by itself, so that no configuration can name it.
    """

    def __init__(self, kind: str, automatic: Callable[[S], bool] = lambda _: False) -> None:
        self.kind = kind
        self._entries: dict[str, Registered[S]] = {}
        self._automatic = automatic

    def __iter__(self) -> Iterator[S]:
        """Yield every spec, automatic ones too."""
        return (each.spec for each in self._entries.values())

    @property
    def entries(self) -> Mapping[str, Registered[S]]:
        """Those that a configuration can name, by name."""
        return {name: each for name, each in self._entries.items() if not self._automatic(each.spec)}

    def get(self, name: str) -> S:
        """The spec of that name.

        Raises:
            InputError: there is none; the message names the nearest.
        """
        entries = self.entries
        if name not in entries:
            msg = f"unknown {self.kind} {name!r}; {did_you_mean(name, entries)}"
            raise InputError(msg)
        return entries[name].spec

    def clashes(self, specs: Iterable[S]) -> str:
        """Why these specs cannot be added; ``""`` if they can."""
        seen: set[str] = set()
        for spec in specs:
            if spec.name in seen:
                return f"registers the {self.kind} {spec.name!r} twice"
            seen.add(spec.name)
            if spec.name in self._entries:
                holder = self._entries[spec.name].plugin
                return f"the {self.kind} {spec.name!r} is already there, from {holder.distribution or holder.name}"
        return ""

    def add(self, specs: Iterable[S], plugin: PluginStatus) -> None:
        """Add specs that do not clash."""
        self._entries.update({spec.name: Registered(spec, plugin) for spec in specs})


@dataclass
class Registry:
    """All that plugins bring.

    Attributes:
        plugins: every entry point, usable or not.
        backends, metrics, corpora, reporters: by name.
    """

    plugins: list[PluginStatus] = field(default_factory=list)
    backends: Shelf[BackendSpec] = field(default_factory=lambda: Shelf("backend"))
    metrics: Shelf[MetricFamily] = field(default_factory=lambda: Shelf("metric", lambda family: family.automatic))
    corpora: Shelf[CorpusSpec] = field(default_factory=lambda: Shelf("corpus source"))
    reporters: Shelf[ReporterSpec] = field(default_factory=lambda: Shelf("report format"))


def load_registry(entry_points: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every entry point of the group, in order of distribution and name; tokbench's own come first."""
    if entry_points is None:
        entry_points = importlib.metadata.entry_points(group=hookspecs.GROUP)
    registry = Registry()
    ordered = sorted(entry_points, key=lambda ep: (_origin(ep)[0] != "tokbench", _origin(ep), ep.name))
    for entry_point in ordered:
        distribution, version = _origin(entry_point)
        try:
            _take(registry, entry_point, PluginStatus(entry_point.name, distribution, version))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's module raises on import
            status = PluginStatus(entry_point.name, distribution, version, one_line(error))
            registry.plugins.append(status)
    return registry


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    return _named(entry_point.dist) if entry_point.dist else ("", "")


@cache
def _named(distribution: Any) -> tuple[str, str]:
    """Name and version, once: to ask for either is to read the whole metadata, a README among them."""
    return distribution.name, distribution.version


def _take(registry: Registry, entry_point: EntryPoint, status: PluginStatus) -> None:
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    plugin = entry_point.load()
    manager.register(plugin, entry_point.name)
    manager.check_pending()
    if not manager.get_hookcallers(plugin):
        msg = f"{entry_point.value} has no function marked with tokbench.plugin.hookimpl"
        raise ContractError(msg)
    shelves: list[tuple[Shelf[Any], Any]] = [
        (registry.backends, manager.hook.register_backends),
        (registry.metrics, manager.hook.register_metrics),
        (registry.corpora, manager.hook.register_corpora),
        (registry.reporters, manager.hook.register_reporters),
    ]
    staged: list[tuple[Shelf[Any], list[Any]]] = []
    for shelf, hook in shelves:
        specs: list[Any] = []
        hook(register=specs.append)
        clash = shelf.clashes(specs)
        if clash:
            raise ContractError(clash)
        staged.append((shelf, specs))
    for shelf, specs in staged:
        shelf.add(specs, status)
    registry.plugins.append(status)


def missing(spec: BackendSpec) -> str:
    """Why a backend cannot be used here: the distributions it lacks and how to get them; ``""`` if none."""
    absent = []
    for distribution in spec.requires:
        try:
            importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            absent.append(distribution)
    if not absent:
        return ""
    install = spec.install or "pip install " + " ".join(absent)
    return f"needs {' and '.join(absent)}: {install}"
