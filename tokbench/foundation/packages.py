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


@cache
def packages() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the names that each package registers, by package and kind.

    >>> packages()["tokbench-cluster"]
    {'executor': ['dask']}
    """
    read: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def is_own(distribution: str) -> bool:
    """Tell whether a distribution is tokbench or one of its packages."""
    return distribution == OWN or distribution in packages()


def bringing(kind: str, name: str) -> str:
    """Return the package that brings a name, or an empty string.

    >>> bringing("executor", "dask")
    'tokbench-cluster'
    """
    return next((package for package, kinds in packages().items() if name in kinds.get(kind, ())), "")


def install(package: str) -> str:
    """Return the command that installs a package.

    >>> install("tokbench-cluster")
    'pip install tokbench-cluster (in a clone: pip install -e plugins/cluster)'
    """
    return f"pip install {package} (in a clone: pip install -e plugins/{package.removeprefix(f'{OWN}-')})"
