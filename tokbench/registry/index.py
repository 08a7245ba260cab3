"""The index of what the plugins register, in words, for ``tokbench list``.

To import all plugins takes a third of a second, most of it for their libraries. So the store keeps the index, with the
state of all files that were imported. It does so only where tokbench alone brings plugins and all of them load: what
others register may rest on more than their code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, NamedTuple

from tokbench.foundation.store import open_store_if_usable
from tokbench.registry import hookspecs
from tokbench.registry.plugins import (
    ALLOWED,
    OWN,
    OWN_ONLY,
    Catalogue,
    PluginStatus,
    Registry,
    load_registry,
    origin_of,
)
from tokbench.registry.tokenizer_names import catalogue, unverified

_KIND_IN_STORE: Final = "plugin index"
_KINDS: Final = ("backends", "corpora", "executors", "metrics", "reporters", "studies")


class ListedPlugin(NamedTuple):
    """One name that a configuration may use."""

    name: str
    origin: str
    """The distribution or the plugin that registered it."""
    summary: str
    """One line about it."""
    requires: tuple[str, ...] = ()
    """The distributions that a backend needs."""
    install: str = ""
    """The command that installs them; empty for the plain one."""


class PluginIndex(NamedTuple):
    """Everything that the plugins register, in words."""

    plugins: Sequence[PluginStatus]
    """Every entry point."""
    listed: Mapping[str, Sequence[ListedPlugin]]
    """By kind (``backends``, ``published``, ``metrics`` and so on) the names in alphabetical order."""

    @classmethod
    def of(cls, registry: Registry) -> PluginIndex:
        """Return the index of a registry."""
        listed = {kind: _listed(getattr(registry, kind), needs=kind in {"backends", "executors"}) for kind in _KINDS}
        listed["published"] = _published(registry)
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


def _published(registry: Registry) -> list[ListedPlugin]:
    """Return the published names of tokenizers, each with what loads it."""
    listed, unproved = [], unverified(registry)
    for name, candidates in catalogue(registry).items():
        entries = [registry.backends.entries[candidate.backend] for candidate in candidates]
        origins = dict.fromkeys(entry.plugin.distribution or entry.plugin.name for entry in entries)
        summary = ", ".join(map(str, candidates)) + "; unverified" * (name in unproved)
        listed.append(ListedPlugin(name, ", ".join(origins), summary))
    return listed


class _FileState(NamedTuple):
    """A file whose change makes an index void."""

    path: str
    size: int
    time: int
    """The time of its last change, in nanoseconds."""

    @classmethod
    def of(cls, path: str) -> _FileState:
        """Return the present state of a file; its size is -1 if it is not there."""
        try:
            stat = os.stat(path)  # noqa: PTH116 - of hundreds of files
        except OSError:
            return cls(path, -1, 0)
        return cls(path, stat.st_size, stat.st_mtime_ns)


class _KeptIndex(NamedTuple):
    """An index in the store, and what it rests on."""

    plugins: PluginIndex
    files: Sequence[_FileState]


def plugin_index() -> PluginIndex:
    """Return what the plugins register, from the store if no file has changed that they consist of.

    >>> "compression" in [plugin.name for plugin in plugin_index().listed["metrics"]]
    True
    """
    entries = sorted(entry_points(group=hookspecs.GROUP), key=lambda entry_point: entry_point.name)
    store = (
        open_store_if_usable() if {origin_of(entry_point).distribution for entry_point in entries} == {OWN} else None
    )
    if store is None:
        return PluginIndex.of(load_registry(entries))
    key = _key(entries)
    kept: _KeptIndex | None = store.value(_KIND_IN_STORE, key)
    if kept and all(_FileState.of(state.path) == state for state in kept.files):
        return kept.plugins
    index = PluginIndex.of(load_registry(entries))
    if not any(plugin.reason and not plugin.excluded for plugin in index.plugins):
        paths = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        files = [_FileState.of(path) for path in paths if path]
        store.put_value(_KIND_IN_STORE, key, _KeptIndex(index, files))
    return index


def _key(entries: Sequence[EntryPoint]) -> dict[str, object]:
    """Return what decides which plugins are loaded, and from where."""
    described = [[entry_point.name, entry_point.value, *origin_of(entry_point)] for entry_point in entries]
    chosen = [os.environ.get(ALLOWED, ""), os.environ.get(OWN_ONLY, "")]
    return {"entries": described, "chosen": chosen, "python": sys.version, "path": sys.path}
