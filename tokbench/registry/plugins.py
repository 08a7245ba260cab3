"""Finds the plugins that are installed, and keeps what they register.

Each entry point of the group ``tokbench`` is loaded by itself. Its registrations are added only if every step worked,
so a broken plugin is one line with its reason, and everything else runs.

Two environment variables choose among the plugins, in worker processes, too:

``TOKBENCH_PLUGINS=a,b``
    loads only these entry points, built-in ones included.
``TOKBENCH_NO_THIRD_PARTY=1``
    loads the entry points of tokbench and its own packages alone.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires, version
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import pluggy

from tokbench.foundation.errors import ContractError, InputError, did_you_mean, one_line
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.packages import OWN, elsewhere, is_own, packages
from tokbench.registry import hookspecs
from tokbench.registry.signatures import wrong_signatures

if TYPE_CHECKING:
    from tokbench.corpus.contract import CorpusSpec
    from tokbench.measuring.executor import ExecutorSpec
    from tokbench.measuring.family import MetricFamily
    from tokbench.measuring.study import StudySpec
    from tokbench.report.section import SectionSpec
    from tokbench.results.reporter import ReporterSpec
    from tokbench.tokenizers.backend import BackendSpec


@dataclass(frozen=True)
class BrokenPart:
    """A module of a plugin that cannot be imported. The rest of the plugin works."""

    module: str
    """Its full name, such as ``acme_tokenizers.metrics.usage``."""
    reason: str


def specs_of(module: Any) -> list[Any]:
    """Return what a module declares in ``SPEC``, ``SPECS`` and ``late_specs()``; a helper has none of them."""
    late = getattr(module, "late_specs", tuple)
    return [
        spec for spec in (getattr(module, "SPEC", None), *getattr(module, "SPECS", ()), *late()) if spec is not None
    ]


def declared(plugin: Any) -> tuple[list[Any], list[BrokenPart]]:
    """Return what a module declares; for a package that declares nothing, what each module in its folder does."""
    specs, broken = specs_of(plugin), list[BrokenPart]()
    if not specs and hasattr(plugin, "__path__"):
        for name in sorted(f"{plugin.__name__}.{module.name}" for module in iter_modules(plugin.__path__)):
            try:
                specs += specs_of(importlib.import_module(name))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a module raises on import
                broken.append(BrokenPart(name, one_line(error)))
    return specs, broken


ALLOWED: Final = "TOKBENCH_PLUGINS"
OWN_ONLY: Final = "TOKBENCH_NO_THIRD_PARTY"
ALL: Final = frozenset({"*"})
"""Lets all plugins run in this process."""

OWN_EXECUTORS: Final = ("inprocess", "workers")
"""Executors without a plugin."""


@dataclass(frozen=True)
class PluginStatus:
    """One entry point, and whether it can be used."""

    name: str
    """Of the entry point, or of a broken module."""
    distribution: str
    version: str
    reason: str = ""
    module: str = ""
    excluded: bool = False
    """An environment variable leaves it out on purpose."""

    def may_hold(self, name: str) -> bool:
        """Tell whether the plugin, or a part of its module's path, has this name, with - for _ or not."""
        parts = [self.name, *self.module.replace(":", ".").split(".")]
        return _plain(name) in map(_plain, parts)


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()


S = TypeVar("S")


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
        spec: the name of the class of such specs.
        own: names that need neither plugin nor spec.
    """

    def __init__(
        self,
        kind: str,
        spec: str,
        plugins: Sequence[PluginStatus] = (),
        own: Sequence[str] = (),
    ) -> None:
        self.kind = kind
        self.spec = spec
        self._plugins = plugins
        self._entries: dict[str, Registered[S]] = {}
        self._own = own

    def __iter__(self) -> Iterator[S]:
        return (entry.spec for entry in self._entries.values())

    @property
    def entries(self) -> Mapping[str, Registered[S]]:
        """By name."""
        return self._entries

    def get(self, name: str) -> S:
        """Return the spec of that name.

        Raises:
            InputError: no such spec; the message has the package that brings it, the nearest name, or the plugins
                that did not load.
        """
        entries = self.entries
        if name not in entries:
            raise InputError(self.why_unknown(name, self.kind, [*self._own, *entries]))
        return entries[name].spec

    def why_unknown(self, name: str, called: str, known: Iterable[str]) -> str:
        """Return which plugin or package may bring a name, what replaces it, or that it is unknown as ``called``."""
        if likely := self.not_loaded(name):
            return likely
        if said := elsewhere(self.kind, name):
            return said
        unloaded = [plugin for plugin in self._plugins if plugin.reason]
        near = did_you_mean(name, known)
        asked = "is your package installed? " if self.kind == "backend" and near.startswith("known") else ""
        return f"unknown {called} {name!r}; {asked}{near}{_not_loaded(unloaded)}"

    def not_loaded(self, name: str) -> str:
        """Return which plugin may hold a name and did not load, and why, or an empty string."""
        likely = next((plugin for plugin in self._plugins if plugin.reason and plugin.may_hold(name)), None)
        if likely is None:
            return ""
        msg = f"{self.kind} {name!r} may come from the plugin {likely.name!r} ({likely.module}), which did not load"
        return f"{msg}: {likely.reason}"

    def add(self, specs: Iterable[Any], plugin: PluginStatus) -> None:
        self._entries.update({spec.name: Registered(spec, plugin) for spec in specs})

    def check(self, specs: Iterable[Any]) -> None:
        """Check that specs can be added.

        Raises:
            ContractError: a name is in use, or comes twice, or a function does not take what it is called with.
        """
        seen: set[str] = set()
        for spec in specs:
            if spec.name in seen:
                raise ContractError(f"registers the {self.kind} {spec.name!r} twice")
            seen.add(spec.name)
            for wrong in wrong_signatures(spec):
                raise ContractError(f"the {self.kind} {spec.name!r}: {wrong}")
            if spec.name in self._own:
                raise ContractError(f"the {self.kind} {spec.name!r} is already there, from {OWN}")
            if spec.name in self._entries:
                holder = self._entries[spec.name].plugin
                origin = holder.distribution or holder.name
                raise ContractError(f"the {self.kind} {spec.name!r} is already there, from {origin}")


def _not_loaded(plugins: Sequence[PluginStatus]) -> str:
    broken = "; ".join(
        f"{plugin.name!r} ({plugin.module}): {plugin.reason}" for plugin in plugins if not plugin.excluded
    )
    excluded = len([plugin for plugin in plugins if plugin.excluded])
    left_out = f" (plugins left out by {ALLOWED} or {OWN_ONLY}: {excluded})" if excluded else ""
    return (f" (plugins that did not load: {broken})" if broken else "") + left_out


class Registry:
    """Everything that the plugins register: the specs of each kind, by name."""

    def __init__(self) -> None:
        self.plugins: list[PluginStatus] = []
        """Every entry point, each followed by its broken modules."""
        self.backends: Catalogue[BackendSpec] = Catalogue("backend", "BackendSpec", self.plugins)
        self.metrics: Catalogue[MetricFamily] = Catalogue("metric", "MetricFamily", self.plugins)
        self.studies: Catalogue[StudySpec] = Catalogue("study", "StudySpec", self.plugins)
        self.sections: Catalogue[SectionSpec] = Catalogue("section", "SectionSpec", self.plugins)
        self.corpora: Catalogue[CorpusSpec] = Catalogue("corpus source", "CorpusSpec", self.plugins)
        self.reporters: Catalogue[ReporterSpec] = Catalogue("report format", "ReporterSpec", self.plugins)
        self.executors: Catalogue[ExecutorSpec] = Catalogue("executor", "ExecutorSpec", self.plugins, own=OWN_EXECUTORS)

    def distributions_of(self, backend: BackendSpec) -> tuple[str, ...]:
        """Return the third parties from which a backend comes, or a tokenizer that it may load."""
        named = self.backends.entries if backend.wraps else (backend.name,)
        origins = (self.backends.entries[name].plugin.distribution for name in named)
        return tuple(dict.fromkeys(origin for origin in origins if not is_own(origin)))

    @property
    def catalogues(self) -> tuple[Catalogue[Any], ...]:
        return (self.backends, self.metrics, self.studies, self.sections, self.corpora, self.reporters, self.executors)


def load_registry(entries: Iterable[EntryPoint] | None = None, *, here: Collection[str] | None = None) -> Registry:
    """Load every entry point of the group ``tokbench``: tokbench's own first, then its packages', then all others.

    The modules of others are imported in a process of their distribution, and called there.

    Args:
        entries: load these, in this process.
        here: the distributions of others that may run in this process, all or none; further ones are left out.

    Raises:
        InputError: ``TOKBENCH_PLUGINS`` names an unknown entry point.
    """
    registry, foreign = Registry(), dict[str, list[PluginStatus]]()
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    here = ALL if entries is not None else here
    entries = entry_points(group=hookspecs.GROUP) if entries is None else entries
    ordered = sorted(entries, key=lambda ep: (_rank(ep), origin_of(ep), ep.name))
    allowed = _allowed([entry_point.name for entry_point in ordered])
    for entry_point in ordered:
        origin = origin_of(entry_point)
        excluded = _excluded(entry_point.name, origin.distribution, allowed)
        status = PluginStatus(entry_point.name, *origin, excluded, entry_point.value, bool(excluded))
        broken: list[PluginStatus] = []
        own = is_own(origin.distribution) or not origin.distribution or here == ALL
        if here is None and not own and not excluded:
            foreign.setdefault(origin.distribution, []).append(status)
            continue
        if not own and not excluded and origin.distribution not in (here or ()):
            continue
        if not excluded:
            try:
                broken = _register(registry, manager, entry_point, status)
            except BaseException as error:
                if own and isinstance(error, KeyboardInterrupt):
                    raise
                status = replace(status, reason=one_line(error))
        registry.plugins += [status, *broken]
    for distribution, statuses in foreign.items():
        _add_described(registry, distribution, statuses)
    return registry


def _add_described(registry: Registry, distribution: str, statuses: list[PluginStatus]) -> None:
    """Add what the plugins of another distribution register, as its own process describes it."""
    from tokbench.registry.foreign import DESCRIBED, Description, MemberPlace, host_of

    host = host_of(distribution, renewed=True)
    described: Description | Failure = attempt(lambda: host.call("describe", MemberPlace("", "", ""), distribution))
    if isinstance(described, Failure):
        registry.plugins += [replace(status, reason=described.reason) for status in statuses]
        return
    reasons = dict[str, str]()
    for part in described.specs:
        catalogue: Catalogue[Any] = getattr(registry, part.kind)
        status = next(status for status in statuses if status.name == part.plugin)
        try:
            spec = part.made(distribution)
            catalogue.check([spec])
        except (ContractError, TypeError, ValueError) as error:
            reasons[part.plugin] = one_line(error)
        else:
            catalogue.add([spec], status)
            DESCRIBED[part.kind, spec.name] = distribution
    registry.plugins += [replace(one, reason=one.reason or reasons.get(one.name, "")) for one in described.plugins]


def _rank(entry_point: EntryPoint) -> int:
    """Return 0 for a default plugin, 1 for one of tokbench's packages, 2 for others."""
    distribution = origin_of(entry_point).distribution
    return (distribution != OWN) + (not is_own(distribution))


def _allowed(names: Sequence[str]) -> frozenset[str] | None:
    wanted = [name.strip() for name in os.environ.get(ALLOWED, "").split(",") if name.strip()]
    for name in wanted:
        if name not in names:
            raise InputError(
                f"{ALLOWED} names the plugin {name!r}, which is not installed; {did_you_mean(name, names)}"
            )
    return frozenset(wanted) or None


def _excluded(name: str, distribution: str, allowed: frozenset[str] | None) -> str:
    if os.environ.get(OWN_ONLY, "") not in {"", "0"} and not is_own(distribution):
        return f"not part of tokbench, and {OWN_ONLY} is set"
    return "" if allowed is None or name in allowed else f"not in {ALLOWED}"


class Origin(NamedTuple):
    """The package that declares an entry point; empty if there is none."""

    distribution: str
    version: str


def origin_of(entry_point: EntryPoint) -> Origin:
    """Return the package that declares an entry point."""
    return _origin_of(entry_point.dist) if entry_point.dist else Origin("", "")


@cache
def _origin_of(distribution: Any) -> Origin:
    # Each of the two reads the whole metadata of the distribution, a README among them: once is enough.
    return Origin(distribution.name, distribution.version)


def _register(
    registry: Registry, manager: pluggy.PluginManager, entry_point: EntryPoint, status: PluginStatus
) -> list[PluginStatus]:
    """Load one plugin and add all that it registers, or nothing if any step fails. Return its broken parts."""
    plugin = entry_point.load()
    specs, broken = declared(plugin)
    if not specs and not broken:
        specs = _hooked(manager, entry_point, plugin)
    for catalogue, some in _by_class(registry, specs):
        catalogue.add(some, status)
    return [replace(status, name=part.module, module=part.module, reason=part.reason) for part in broken]


def _hooked(manager: pluggy.PluginManager, entry_point: EntryPoint, plugin: Any) -> list[Any]:
    """Call the hooks of a plugin, and return what it registers."""
    specs: list[Any] = []
    try:
        manager.register(plugin, entry_point.name)
        manager.check_pending()
        callers = manager.get_hookcallers(plugin)
        if not callers:
            raise ContractError(f"{entry_point.value} has no SPEC, no SPECS and no function marked with hookimpl")
        for caller in callers:
            caller(register=specs.append)
        return specs
    finally:  # the hooks of the next plugin are called by themselves
        if manager.has_plugin(entry_point.name):
            manager.unregister(name=entry_point.name)


def _by_class(registry: Registry, specs: Iterable[Any]) -> list[tuple[Catalogue[Any], list[Any]]]:
    """Give each spec to the catalogue of its class."""
    found: dict[str, list[Any]] = {}
    for spec in specs:
        found.setdefault(type(spec).__name__, []).append(spec)
    known = {catalogue.spec: catalogue for catalogue in registry.catalogues}
    for name in found:
        if name not in known:
            raise ContractError(f"SPEC or SPECS has a {name}; it may have {', '.join(known)}")
    for name, some in found.items():
        known[name].check(some)
    return [(known[name], some) for name, some in found.items()]


def missing(spec: Any) -> str | None:
    """Return which distributions a spec lacks or needs newer, and how to install them; ``None`` if it lacks none."""
    return lacking(spec.requires, spec.install)


def lacking(distributions: Sequence[str], install: str = "") -> str | None:
    """Return which distributions are not installed, or older than tokbench or one of its packages declares.

    >>> lacking(["numpy"]), lacking(["no-such"])
    (None, 'needs no-such: pip install no-such')
    """
    if absent := [name for name in distributions if not _version(name)]:
        return f"needs {' and '.join(absent)}: {install or 'pip install ' + ' '.join(absent)}"
    for distribution in distributions:
        least, there = _least_versions().get(_plain(distribution), "0"), version(distribution)
        if _numbers(there) < _numbers(least):
            newer = f"{distribution}>={least}"
            return f"needs {newer}, and {there} is installed: pip install '{newer}'"
    return None


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


@cache
def _least_versions() -> Mapping[str, str]:
    """Return the least version of each distribution that tokbench and its packages declare."""
    lines = [line for name in (OWN, *packages()) for line in _requirements(name)]
    found = (re.match(r"([\w.-]+?)(?:\[[^]]*\])? *>= *([\d.]+)", line) for line in lines)
    return {_plain(match[1]): match[2] for match in found if match}


def _requirements(distribution: str) -> list[str]:
    try:
        return requires(distribution) or []
    except PackageNotFoundError:
        return []


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
