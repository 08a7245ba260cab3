"""The published names that can be used here and now."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from tokbench.foundation.failures import attempt
from tokbench.registry.plugins import Registry, missing
from tokbench.registry.tokenizer_names import Grammar

DOWNLOAD: Final = "it would be downloaded; name it with -t to do so"


class LocalNames(NamedTuple):
    """The published names of tokenizers that can be used at once, and the others."""

    usable: list[str]
    """Those that need neither a further package nor the network."""
    left_out: dict[str, list[str]]
    """The others, by reason."""


def local_names(registry: Registry) -> LocalNames:
    """Return the published names that can be used here and now, and why others cannot.

    >>> from tokbench.registry.plugins import load_registry
    >>> "qwen-3" in local_names(load_registry()).usable
    True
    """
    usable, left_out = [], dict[str, list[str]]()
    for name, candidates in Grammar(registry).published().items():
        first = registry.backends.get(candidates[0].backend)
        reason = missing(first)
        if reason is None:
            local = attempt(partial(first.local, first.load_options.model_validate(candidates[0].options)))
            reason = None if local is True else DOWNLOAD
        if reason is None:
            usable.append(name)
        else:
            left_out.setdefault(reason, []).append(name)
    return LocalNames(usable, dict(sorted(left_out.items(), key=lambda entry: -len(entry[1]))))
