"""Imports the modules of a plugin's folder one by one, so that a broken one fails alone."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from tokbench.foundation.errors import one_line


@dataclass(frozen=True)
class BrokenPart:
    """A module of a plugin that cannot be imported. The rest of the plugin works."""

    module: str
    """Its full name, such as ``acme_tokenizers.metrics.usage``."""
    reason: str


class Parts(NamedTuple):
    """The modules of a folder."""

    modules: list[ModuleType]
    broken: list[BrokenPart]


def specs_of(module: Any) -> list[Any]:
    """Return what a module declares in ``SPEC``, ``SPECS`` and ``late_specs()``; a helper has none of them."""
    late = getattr(module, "late_specs", tuple)
    return [
        spec for spec in (getattr(module, "SPEC", None), *getattr(module, "SPECS", ()), *late()) if spec is not None
    ]


def parts_of(package: ModuleType) -> Parts:
    """Import the modules and packages in the folder of a package, one by one."""
    parts = Parts([], [])
    for name in sorted(f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__)):
        try:
            parts.modules.append(importlib.import_module(name))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a module raises on import
            parts.broken.append(BrokenPart(name, one_line(error)))
    return parts


def declared(plugin: Any) -> tuple[list[Any], list[BrokenPart]]:
    """Return what a module declares; for a package that declares nothing, what each module in its folder does."""
    specs = specs_of(plugin)
    if specs or not hasattr(plugin, "__path__"):
        return specs, []
    parts = parts_of(plugin)
    for module in parts.modules:
        try:
            specs += specs_of(module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever late_specs imports
            parts.broken.append(BrokenPart(module.__name__, one_line(error)))
    return specs, parts.broken
