"""Changes that a command makes to a configuration: a limit of documents, fewer tokenizers, other values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench.config.strict_yaml import FilePlace, Located, paths_in, read_yaml, value_at
from tokbench.foundation.errors import InputError, Problem, did_you_mean, shortened

_LONGEST_NAME: Final = 80

_INDICES: Final = re.compile(r"(.+?)((?:\[\d+\])+)")

_METRICS: Final = ("metrics",)

_NOT_INSIDE: Final = "{0} {1}; set it as a whole: --set '{0}=...'"


@dataclass(frozen=True)
class Overrides:
    """The options of a command that change a configuration; all are recorded in the results.

    Raises:
        InputError: the limit is less than 1.

    >>> Overrides(limit=0)
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: limit: 0 is too few documents; give 1 or more
    """

    limit: int | None = None
    """The most documents of each group to measure, and to train on; ``None`` for all."""
    only: tuple[str, ...] = ()
    """Of tokenizers, or of entries that make several; empty for all."""
    settings: tuple[str, ...] = ()
    """YAML values by dotted path, such as ``metrics.fertility.unit=icu``."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise InputError([Problem("limit", f"{self.limit} is too few documents; give 1 or more")])


def apply_settings(located: Located, settings: Sequence[str]) -> None:
    """Replace values of a configuration, and add problems with the setting as their place.

    A path follows keys, positions in lists, which count from 0, and under ``metrics`` the names of families. The
    position behind the last value adds one. ``null`` removes what is there, and is a value where nothing is.

    >>> located = read_yaml("{metrics: [compression, fertility], corpora: {c: {groups: [en, fr]}}}", "run.yaml")
    >>> apply_settings(located, ["metrics.fertility.unit=icu", "metrics.compression=null", "corpora.c.groups[1]=de"])
    >>> located.data
    {'metrics': [{'fertility': {'unit': 'icu'}}], 'corpora': {'c': {'groups': ['en', 'de']}}}
    """
    for setting in settings:
        try:
            _Setting(setting).apply(located)
        except InputError as error:
            located.problems += error.problems


Steps = tuple[str | int, ...]


class _Step(NamedTuple):
    key: str | int
    rest: Steps


class _Setting:
    """One setting: a path and a value."""

    def __init__(self, setting: str) -> None:
        self._name = f"--set {shortened(setting, _LONGEST_NAME)}"
        key, equals, text = setting.partition("=")
        if not equals or not all(key.split(".")):
            raise self._error("write it as PATH=VALUE, such as metrics.fertility.unit=icu or corpora.pud.groups[0]=de")
        if not text.strip():
            raise self._error('the value is missing; write "" for an empty text, null to remove the key')
        try:
            value = read_yaml(text, self._name)
        except InputError as error:
            raise self._error(error.problems[0].message) from error
        if value.problems:
            raise self._error(value.problems[0].message)
        self._path = tuple(step for word in key.split(".") for step in _steps(word))
        self._value = value.data

    def _error(self, message: str) -> InputError:
        return InputError([Problem(self._name, message)])

    def apply(self, located: Located) -> None:
        if not isinstance(located.data, dict):
            return  # reported elsewhere
        if self._path[0] == "extends":
            raise self._error("--set cannot change 'extends'; write a file with 'extends', and run it")
        path: Steps = ()
        step = self._step(located.data, path, self._path)
        while step.rest:
            path = self._entered(located, path, step)
            step = self._step(value_at(located.data, path), path, step.rest)
        inside, path = value_at(located.data, path), (*path, step.key)
        if self._value is None and step.key in (inside if isinstance(inside, dict) else range(len(inside))):
            located.remove(path)
        else:
            located.put(path, self._document(self._value))

    def _step(self, inside: Any, path: Steps, steps: Steps) -> _Step:
        """Return the key or position with which ``steps`` go on from a path, and the rest of them."""
        adds = self._value is not None and len(steps) == 1
        if isinstance(steps[0], int):
            if not isinstance(inside, list):
                raise self._error(_NOT_INSIDE.format(_written(path), "is not a list"))
            if steps[0] >= len(inside) + adds:
                raise self._error(f"{_written(path)} has {len(inside)} values, [0] the first; [{len(inside)}] adds one")
            return _Step(steps[0], steps[1:])
        families = path == _METRICS and isinstance(inside, list)
        if not families and isinstance(inside, list):
            raise self._error(f"{_written(path)} is a list; write {_written((*path, 0))} for its first value")
        if not families and not isinstance(inside, dict):
            raise self._error(_NOT_INSIDE.format(_written(path), "has no keys inside"))
        known = [_family(item) for item in inside] if families else inside
        words = [str(step) for step in takewhile(lambda step: isinstance(step, str), steps)]
        # A name may have dots in it.
        n = next((n for n in range(len(words), 0, -1) if ".".join(words[:n]) in known), 1)
        name, rest = ".".join(words[:n]), steps[n:]
        if name not in known and path in _NAMES and (families or not adds):
            hint = did_you_mean(name, [label for label in known if label])
            raise self._error(_NAMES[path].format(repr(name), hint=hint, path=path[0], name=name))
        if not families:
            return _Step(name, rest)
        return _Step(known.index(name), (name, *rest) if rest or self._value is not None else ())

    def _entered(self, located: Located, path: Steps, step: _Step) -> Steps:
        """Return the path with a key; a missing mapping or list there is made."""
        inside, inner = value_at(located.data, path), (*path, step.key)
        there = inside.get(step.key) if isinstance(inside, dict) else inside[step.key]
        if path == _METRICS and there == step.rest[0]:
            located.put(inner, self._document({there: {}}))
        elif there is None:
            located.put(inner, self._document([] if isinstance(step.rest[0], int) else {}))
        return inner

    def _document(self, value: Any) -> Located:
        place = FilePlace(self._name, 0, 0)
        places = dict.fromkeys(paths_in(value), place)
        return Located(self._name, value, dict(places), places, folders={self._name: Path.cwd()})


_NAMES: Final[dict[Steps, str]] = {
    ("corpora",): "the configuration has no {} here; {hint} (--set '{path}.{name}={{...}}' adds one)",
    ("tokenizers",): "the configuration has no {} here; {hint} (--set '{path}.{name}={{...}}' adds one)",
    ("study",): "the configuration has no study {}; add it with --set 'study.{name}={{}}'",
    _METRICS: "the run has no metric {}; {hint} (--set 'metrics=[...]' replaces the list)",
}
"""Where keys are names, and what is said of a missing one."""


def _steps(word: str) -> Steps:
    """Return the key and the positions in a part of a path.

    >>> _steps("groups[1][0]"), _steps("[0]"), _steps("a[b]")
    (('groups', 1, 0), ('[0]',), ('a[b]',))
    """
    match = _INDICES.fullmatch(word)
    return (match[1], *map(int, match[2][1:-1].split("]["))) if match else (word,)


def _written(path: Steps) -> str:
    """Return a path as one writes it.

    >>> _written(("metrics", 1, "fertility", "units", 0))
    'metrics[1].fertility.units[0]'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _family(item: Any) -> str:
    if isinstance(item, dict) and len(item) == 1:
        return str(next(iter(item)))
    return item if isinstance(item, str) else ""
