"""Imports the modules of a plugin's folder one by one, so that a broken one fails alone."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pkgutil import iter_modules
from typing import Any

from tokbench.foundation.errors import one_line


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
