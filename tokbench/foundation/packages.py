"""The packages of tokbench that are not in the default one, and what each brings: ``packages.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

OWN: Final = "tokbench"
"""The distribution of the core and the default plugins."""

FILE: Final = Path(__file__).with_name("packages.json")

GONE: Final = Path(__file__).with_name("gone.json")
"""By kind, the names that the last version had, each with what replaces it; the next version empties it."""


@cache
def packages() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the names that each package registers, by package and kind.

    >>> packages()["tokbench-maintain"]
    {'command': ['referee']}
    """
    read: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def is_own(distribution: str) -> bool:
    """Tell whether a distribution is tokbench or one of its packages."""
    return distribution == OWN or distribution in packages()


def bringing(kind: str, name: str) -> str:
    """Return the package that brings a name, or an empty string.

    >>> bringing("command", "pin")
    'tokbench-identity'
    """
    return next((package for package, kinds in packages().items() if name in kinds.get(kind, ())), "")


def elsewhere(kind: str, name: str) -> str:
    """Return which package brings a name, or what replaces one that the last version had; empty for any other.

    >>> elsewhere("command", "pin").partition(" (")[0]
    "command 'pin' comes with the package tokbench-identity: pip install tokbench-identity"
    >>> elsewhere("study", "validity")
    "study 'validity' is gone: rank results.csv by the recipe in plugins/models/docs/metrics.md"
    """
    if package := bringing(kind, name):
        return f"{kind} {name!r} comes with the package {package}: {install(package)}"
    gone: dict[str, dict[str, str]] = json.loads(GONE.read_text(encoding="utf-8"))
    replacement = gone.get(kind, {}).get(name, "")
    return f"{kind} {name!r} is gone: {replacement}" if replacement else ""


def install(package: str) -> str:
    """Return the command that installs a package.

    >>> install("tokbench-models")
    'pip install tokbench-models (in a clone: pip install -e plugins/models)'
    """
    return f"pip install {package} (in a clone: pip install -e plugins/{package.removeprefix(f'{OWN}-')})"
