"""Finds the plugins that are installed, and keeps what they register.

Each entry point of the group ``tokbench`` is loaded by itself. Its registrations are collected first, and added only if
every step worked. So a broken plugin is one line with its reason, and everything else runs.

Two environment variables choose among the plugins, in worker processes, too:

``TOKBENCH_PLUGINS=a,b``
    loads these entry points and no others, built-in ones included.
``TOKBENCH_NO_THIRD_PARTY=1``
    loads the entry points of the distribution ``tokbench`` alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar

import pluggy

from tokbench.foundation.errors import ContractError, InputError, did_you_mean, one_line
from tokbench.registry import hookspecs

if TYPE_CHECKING:
    from tokbench.corpus.contract import CorpusSpec
    from tokbench.measuring.family import MetricFamily
    from tokbench.measuring.study import StudySpec
    from tokbench.registry.parts import BrokenPart
    from tokbench.report.section import SectionSpec
    from tokbench.results.reporter import ReporterSpec
    from tokbench.tokenizers.backend import BackendSpec

_ALLOWED: Final = "TOKBENCH_PLUGINS"
_OWN_ONLY: Final = "TOKBENCH_NO_THIRD_PARTY"
_OWN: Final = "tokbench"
"""The distribution that brings the built-in plugins."""

_INDEX: Final = "plugins"
_KINDS: Final = ("backends", "corpora", "metrics", "reporters", "studies")


@dataclass(frozen=True)
class PluginStatus:
    """One entry point, and whether it can be used.

    Attributes:
        name: the name of the entry point, or of a module of the plugin that cannot be imported.
        distribution, version: the package that declares it; empty if there is none.
        reason: why it cannot be used; empty if it can.
        module: the object that the entry point names, such as ``acme_tokenizers.backend``.
        excluded: whether it was left out on purpose, by an environment variable.
    """

    name: str
    distribution: str
    version: str
    reason: str = ""
    module: str = ""
    excluded: bool = False

    def may_hold(self, name: str) -> bool:
        """Return whether the plugin, or a part of its module's path, has this name.

        >>> PluginStatus("acme", "acme", "1.0", module="acme_tokenizers.word_pieces").may_hold("word-pieces")
        True
        """
        parts = [self.name, *self.module.replace(":", ".").split(".")]
        return _plain(name) in map(_plain, parts)


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()


class _Named(Protocol):
    @property
    def name(self) -> str:
        """The word by which a configuration names it."""


S = TypeVar("S", bound=_Named)


@dataclass(frozen=True)
class Registered(Generic[S]):
    """A spec and the plugin that registered it."""

    spec: S
    plugin: PluginStatus


class Catalogue(Generic[S]):
    """The registered specs of one kind, by name.

    Args:
        kind: what messages call such a spec, as in ``unknown backend``.
        plugins: all plugins of the registry; the list grows while they are loaded.
        automatic: tells which specs a run adds by itself; a configuration cannot name these.
    """

    def __init__(
        self, kind: str, plugins: Sequence[PluginStatus] = (), automatic: Callable[[S], bool] = lambda _: False
    ) -> None:
        self.kind = kind
        self._plugins = plugins
        self._entries: dict[str, Registered[S]] = {}
        self._automatic = automatic

    def __iter__(self) -> Iterator[S]:
        """Yield every spec, automatic ones too."""
        return (each.spec for each in self._entries.values())

    @property
    def entries(self) -> Mapping[str, Registered[S]]:
        """The specs that a configuration can name, by name."""
        return {name: each for name, each in self._entries.items() if not self._automatic(each.spec)}

    def get(self, name: str) -> S:
        """Return the spec of that name.

        Raises:
            InputError: there is no such spec. The message names the plugin that may hold it and did not load, or else
                the nearest name and all plugins that did not load.
        """
        entries = self.entries
        if name in entries:
            return entries[name].spec
        if likely := self.not_loaded(name):
            raise InputError(likely)
        unloaded = [plugin for plugin in self._plugins if plugin.reason]
        raise InputError(f"unknown {self.kind} {name!r}; {did_you_mean(name, entries)}{_not_loaded(unloaded)}")

    def not_loaded(self, name: str) -> str:
        """Return which plugin may hold a name and did not load, and why; an empty string if there is none."""
        likely = next((plugin for plugin in self._plugins if plugin.reason and plugin.may_hold(name)), None)
        if likely is None:
            return ""
        msg = f"{self.kind} {name!r} may come from the plugin {likely.name!r} ({likely.module}), which did not load"
        return f"{msg}: {likely.reason}"

    def add(self, specs: Iterable[S], plugin: PluginStatus) -> None:
        """Add specs for which :meth:`check` found nothing wrong."""
        self._entries.update({spec.name: Registered(spec, plugin) for spec in specs})

    def check(self, specs: Iterable[S]) -> None:
        """Check that specs can be added.

        Raises:
            ContractError: a name is taken, or comes twice.
        """
        seen: set[str] = set()
        for spec in specs:
            if spec.name in seen:
                raise ContractError(f"registers the {self.kind} {spec.name!r} twice")
            seen.add(spec.name)
            if spec.name in self._entries:
                holder = self._entries[spec.name].plugin
                origin = holder.distribution or holder.name
                raise ContractError(f"the {self.kind} {spec.name!r} is already there, from {origin}")


def _not_loaded(plugins: Sequence[PluginStatus]) -> str:
    """Return the end of a message about an unknown name: the plugins that did not load, and why."""
    broken = "; ".join(f"{each.name!r} ({each.module}): {each.reason}" for each in plugins if not each.excluded)
    excluded = len([each for each in plugins if each.excluded])
    left_out = f" (plugins left out by {_ALLOWED} or {_OWN_ONLY}: {excluded})" if excluded else ""
    return f" (plugins that did not load: {broken})" * bool(broken) + left_out


class Registry:
    """Everything that the plugins register.

    Attributes:
        plugins: every entry point, whether it can be used or not, each with its broken modules behind it.
        backends, metrics, studies, sections, corpora, reporters: the specs, by name.
    """

    def __init__(self) -> None:
        self.plugins: list[PluginStatus] = []
        self.backends: Catalogue[BackendSpec] = Catalogue("backend", self.plugins)
        self.metrics: Catalogue[MetricFamily] = Catalogue("metric", self.plugins, lambda family: family.automatic)
        self.studies: Catalogue[StudySpec] = Catalogue("study", self.plugins)
        self.sections: Catalogue[SectionSpec] = Catalogue("section", self.plugins)
        self.corpora: Catalogue[CorpusSpec] = Catalogue("corpus source", self.plugins)
        self.reporters: Catalogue[ReporterSpec] = Catalogue("report format", self.plugins)


def load_registry(found: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every entry point of the group ``tokbench``, in order of distribution and name; tokbench's own come first.

    Args:
        found: the entry points; ``None`` for those that are installed.

    Raises:
        InputError: ``TOKBENCH_PLUGINS`` names an entry point that does not exist.
    """
    registry = Registry()
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    found = entry_points(group=hookspecs.GROUP) if found is None else found
    ordered = sorted(found, key=lambda ep: (_origin(ep)[0] != _OWN, _origin(ep), ep.name))
    allowed = _allowed([entry_point.name for entry_point in ordered])
    for entry_point in ordered:
        origin = _origin(entry_point)
        excluded = _excluded(entry_point.name, origin[0], allowed)
        status = PluginStatus(entry_point.name, *origin, excluded, entry_point.value, bool(excluded))
        broken: list[PluginStatus] = []
        if not excluded:
            try:
                broken = _register(registry, manager, entry_point, status)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin's module raises on import
                status = replace(status, reason=one_line(error))
        registry.plugins += [status, *broken]
    return registry


def import_own_plugins() -> None:
    """Import the modules of the built-in plugins, and register nothing.

    A broken one is left to :func:`load_registry`, which says why.
    """
    for entry_point in entry_points(group=hookspecs.GROUP):
        if _origin(entry_point)[0] == _OWN:
            with suppress(Exception, SystemExit):
                entry_point.load()


def _allowed(names: Sequence[str]) -> frozenset[str] | None:
    """Return the entry points that ``TOKBENCH_PLUGINS`` allows; ``None`` if it is empty or not set."""
    wanted = [name.strip() for name in os.environ.get(_ALLOWED, "").split(",") if name.strip()]
    for name in wanted:
        if name not in names:
            raise InputError(
                f"{_ALLOWED} names the plugin {name!r}, which is not installed; {did_you_mean(name, names)}"
            )
    return frozenset(wanted) or None


def _excluded(name: str, distribution: str, allowed: frozenset[str] | None) -> str:
    """Return why the environment excludes an entry point; an empty string if it does not."""
    if os.environ.get(_OWN_ONLY, "") not in {"", "0"} and distribution != _OWN:
        return f"not part of tokbench, and {_OWN_ONLY} is set"
    return "" if allowed is None or name in allowed else f"not in {_ALLOWED}"


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    return _name_and_version(entry_point.dist) if entry_point.dist else ("", "")


@cache
def _name_and_version(distribution: Any) -> tuple[str, str]:
    # Each of the two reads the whole metadata of the distribution, a README among them: once is enough.
    return distribution.name, distribution.version


def _register(
    registry: Registry, manager: pluggy.PluginManager, entry_point: EntryPoint, status: PluginStatus
) -> list[PluginStatus]:
    """Load one plugin and add what it registers; nothing is added if any step fails. Return its broken parts."""
    plugin = entry_point.load()
    try:
        manager.register(plugin, entry_point.name)
        manager.check_pending()
        if not manager.get_hookcallers(plugin):
            raise ContractError(f"{entry_point.value} has no function marked with tokbench.plugin.hookimpl")
        collected = _collected(registry, manager)
        broken: list[BrokenPart] = []
        manager.hook.register_broken(register=broken.append)
    finally:  # the hooks of the next plugin are called by themselves
        if manager.has_plugin(entry_point.name):
            manager.unregister(name=entry_point.name)
    for catalogue, specs in collected:
        catalogue.add(specs, status)
    return [replace(status, name=part.module, module=part.module, reason=part.reason) for part in broken]


def _collected(registry: Registry, manager: pluggy.PluginManager) -> list[tuple[Catalogue[Any], list[Any]]]:
    """Return what the hooks register, by catalogue, after a check that it can be added."""
    hooks: list[tuple[Catalogue[Any], Any]] = [
        (registry.backends, manager.hook.register_backends),
        (registry.metrics, manager.hook.register_metrics),
        (registry.studies, manager.hook.register_studies),
        (registry.sections, manager.hook.register_sections),
        (registry.corpora, manager.hook.register_corpora),
        (registry.reporters, manager.hook.register_reporters),
    ]
    collected: list[tuple[Catalogue[Any], list[Any]]] = []
    for catalogue, hook in hooks:
        specs: list[Any] = []
        hook(register=specs.append)
        catalogue.check(specs)
        collected.append((catalogue, specs))
    return collected


class ListedPlugin(NamedTuple):
    """One name that a configuration may use, as ``tokbench list`` shows it.

    Attributes:
        name: the name.
        origin: the distribution or the plugin that registered it.
        summary: one line about it.
        requires: the distributions that a backend needs.
        install: the command that installs them; empty for the plain one.
    """

    name: str
    origin: str
    summary: str
    requires: tuple[str, ...] = ()
    install: str = ""


class PluginIndex(NamedTuple):
    """Everything that the plugins register, in words.

    Attributes:
        plugins: every entry point.
        listed: by kind (``backends``, ``corpora``, ``metrics``, ``reporters``, ``studies``) the names in
            alphabetical order.
    """

    plugins: list[PluginStatus]
    listed: dict[str, list[ListedPlugin]]

    @classmethod
    def of(cls, registry: Registry) -> PluginIndex:
        """Return the index of a registry."""
        listed = {kind: _listed(getattr(registry, kind), needs=kind == "backends") for kind in _KINDS}
        return cls(registry.plugins, listed)


def _listed(catalogue: Catalogue[Any], *, needs: bool) -> list[ListedPlugin]:
    return [
        ListedPlugin(
            name,
            entry.plugin.distribution or entry.plugin.name,
            entry.spec.summary,
            tuple(entry.spec.requires) if needs else (),
            entry.spec.install if needs else "",
        )
        for name, entry in sorted(catalogue.entries.items())
    ]


def plugin_index() -> PluginIndex:
    """Return what the plugins register, from the store if no file has changed that they consist of.

    To import all plugins takes half a second, and their libraries are most of it. The index is kept only where tokbench
    alone brings plugins and all of them load: what others register may rest on more than their code.

    >>> "compression" in [each.name for each in plugin_index().listed["metrics"]]
    True
    """
    from tokbench.foundation.store import open_store

    found = sorted(entry_points(group=hookspecs.GROUP), key=lambda entry_point: entry_point.name)
    store = open_store() if {_origin(each)[0] for each in found} == {_OWN} else None
    if store is None:
        return PluginIndex.of(load_registry(found))
    entries = [[each.name, each.value, *_origin(each)] for each in found]
    chosen = [os.environ.get(_ALLOWED, ""), os.environ.get(_OWN_ONLY, "")]
    key = {"entries": entries, "chosen": chosen, "python": sys.version, "path": sys.path}
    kept = store.get(_INDEX, key)
    if kept and (index := _index_of(kept)):
        return index
    index = PluginIndex.of(load_registry(found))
    if not any(each.reason and not each.excluded for each in index.plugins):
        store.put(_INDEX, key, _kept_index(index))
    return index


def _state_of(path: str) -> list[object]:
    """Return size and time of a file; ``None`` for both if it is not there."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - of hundreds of files
    except OSError:
        return [path, None, None]
    return [path, stat.st_size, stat.st_mtime_ns]


def _kept_index(index: PluginIndex) -> bytes:
    """Return an index as JSON, with the state of the files of all modules that were imported."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    plugins = [vars(each) for each in index.plugins]
    states = [_state_of(path) for path in sorted(filter(None, files))]
    listed = {kind: [each._asdict() for each in names] for kind, names in index.listed.items()}
    return json.dumps({"files": states, "plugins": plugins, "listed": listed}).encode()


def _index_of(kept: bytes) -> PluginIndex | None:
    """Return the index that :func:`_kept_index` wrote; ``None`` if a file has changed since."""
    plain = json.loads(kept)
    if any(_state_of(state[0]) != state for state in plain["files"]):
        return None
    listed = {
        kind: [ListedPlugin(**{**each, "requires": tuple(each["requires"])}) for each in names]
        for kind, names in plain["listed"].items()
    }
    return PluginIndex([PluginStatus(**each) for each in plain["plugins"]], listed)


class _Requiring(Protocol):
    @property
    def requires(self) -> tuple[str, ...]:
        """The distributions that must be installed."""

    @property
    def install(self) -> str:
        """The command that installs them; empty for the plain one."""


def missing(spec: _Requiring) -> str | None:
    """Return which distributions a backend or a report format lacks, and how to install them; ``None`` for none.

    >>> from tokbench.tokenizers.backend import BackendSpec
    >>> missing(BackendSpec(name="x", summary="", requires=("no-such-library",)))
    'needs no-such-library: pip install no-such-library'
    """
    absent = []
    for distribution in spec.requires:
        try:
            version(distribution)
        except PackageNotFoundError:
            absent.append(distribution)
    if not absent:
        return None
    install = spec.install or "pip install " + " ".join(absent)
    return f"needs {' and '.join(absent)}: {install}"
