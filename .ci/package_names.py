"""Write what the installed packages bring: ``python .ci/package_names.py``."""

import json
from importlib.metadata import entry_points

from tokbench.config.suites import shipped_suites
from tokbench.foundation.packages import FILE, OWN
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import catalogue


def brought():
    """Yield the package, the kind and the name of what every installed package brings and no other does."""
    registry = load_registry()
    for some in registry.catalogues:
        for name, entry in some.entries.items():
            yield entry.plugin.distribution, some.kind, name
    for name, candidates in catalogue(registry).items():
        origins = {registry.backends.entries[candidate.backend].plugin.distribution for candidate in candidates}
        if len(origins) == 1:
            yield origins.pop(), "tokenizer", name
    for suite in shipped_suites().values():
        module = suite.path.parents[1].name
        yield module.replace("_", "-"), "suite", suite.name
    for point in entry_points(group="tokbench.commands"):
        yield point.dist.name, "command", point.name


def installed():
    """Return what ``packages.json`` should say of the packages that are installed."""
    found = {}
    for package, kind, name in sorted(brought()):
        if package.startswith(f"{OWN}-"):
            found.setdefault(package, {}).setdefault(kind, []).append(name)
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(installed(), indent=1) + "\n", encoding="utf-8")
