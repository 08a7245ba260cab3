"""What numbers depend on, and so must be the same on every machine of a run."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tokbench.engine.identity import code_digest, installed_versions, plain_name, required_by
from tokbench.engine.workers.worker import WorkerContext
from tokbench.plugin.metrics import Job


class Surroundings(NamedTuple):
    """The versions that numbers depend on."""

    versions: Mapping[str, str]
    """By name of Python, a plugin or a library; empty if it is missing."""

    def differences(self, here: Surroundings) -> list[str]:
        """Return the differences to this machine.

        >>> Surroundings({"numpy": "2.1", "regex": ""}).differences(Surroundings({"numpy": "2.0", "regex": "1"}))
        ['numpy is 2.1 there and 2.0 here', 'regex is missing there and 1 here']
        """
        names = dict.fromkeys([*here.versions, *self.versions])
        pairs = [(name, self.versions.get(name, ""), here.versions.get(name, "")) for name in names]
        return [f"{name} is {a or 'missing'} there and {b or 'missing'} here" for name, a, b in pairs if a != b]


@dataclass(frozen=True)
class DescribeSurroundings(Job):
    """Asks for :class:`Surroundings`."""

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return ()

    def run(self, context: WorkerContext) -> Iterator[Surroundings]:
        plugins = [plugin for plugin in context.registry.plugins if not plugin.excluded]
        distributions = sorted({plugin.distribution for plugin in plugins if plugin.distribution})
        required = {name for distribution in distributions for name in required_by(distribution)}
        libraries = sorted(required - set(distributions))
        packages = sorted({plugin.module.partition(".")[0] for plugin in plugins if not plugin.reason} | {"tokbench"})
        versions = installed_versions()
        yield Surroundings({
            "Python": ".".join(platform.python_version_tuple()[:2]),
            **{name: versions.get(plain_name(name), "") for name in distributions},
            **{f"the plugin {plugin.name!r}": "broken" if plugin.reason else "usable" for plugin in plugins},
            **{f"the library {name}": versions.get(plain_name(name), "") for name in libraries},
            **{f"the code of {name}": _code(name) for name in packages},
        })  # fmt: skip


def _code(package: str) -> str:
    try:
        return code_digest(package)[:12]
    except LookupError:
        return ""
