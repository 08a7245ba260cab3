"""Changes that a command makes to a configuration: a limit of documents, fewer tokenizers, other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokbench.config.strict_yaml import FilePlace, Located, paths_in, read_yaml
from tokbench.foundation.errors import InputError, Problem, did_you_mean, shortened

_LONGEST_NAME: Final = 80


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
    quick: bool = False
    """Applies the configuration's ``quick`` settings first."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise InputError([Problem("limit", f"{self.limit} is too few documents; give 1 or more")])


def apply_settings(located: Located, settings: Sequence[str]) -> None:
    """Replace values of a configuration, and add problems with the setting as their place.

    A path follows keys, and under ``metrics`` the names of families. ``null`` removes a key or a family.

    >>> located = read_yaml("metrics: [compression, fertility]", "run.yaml")
    >>> apply_settings(located, ["metrics.fertility.unit=icu", "limits.step=5", "metrics.compression=null"])
    >>> located.data
    {'metrics': [{'fertility': {'unit': 'icu'}}], 'limits': {'step': 5}}
    """
    for setting in settings:
        _apply(located, setting, f"--set {shortened(setting, _LONGEST_NAME)}")


def apply_quick(located: Located) -> tuple[str, ...]:
    """Apply the settings under ``quick`` in a configuration, add problems with their place, and return the settings."""
    given = located.data.get("quick") if isinstance(located.data, dict) else None
    settings = tuple(setting for setting in given if isinstance(setting, str)) if isinstance(given, list) else ()
    if not settings:
        message = "the configuration has no 'quick'; write --limit 20, or add: quick: [metrics.speed.rounds=6]"
        located.problems.append(Problem("--quick", message))
    places = [located.where(("quick", k)) for k in range(len(settings))]
    for setting, place in zip(settings, places, strict=True):
        _apply(located, setting, f"{place} ({shortened(setting, _LONGEST_NAME)})")
    return settings


def _apply(located: Located, setting: str, name: str) -> None:
    try:
        _Setting(setting, name).apply(located)
    except InputError as error:
        located.problems += error.problems


class _Setting:
    """One setting: a dotted path and a value. Messages call it by its name."""

    def __init__(self, setting: str, name: str) -> None:
        self._name = name
        key, equals, text = setting.partition("=")
        if not equals or not all(key.split(".")):
            raise self._error("write it as PATH=VALUE, such as metrics.fertility.unit=icu")
        if not text.strip():
            raise self._error('the value is missing; write "" for an empty text, null to remove the key')
        try:
            value = read_yaml(text, self._name)
        except InputError as error:
            raise self._error(error.problems[0].message) from error
        if value.problems:
            raise self._error(value.problems[0].message)
        self._parts = key.split(".")
        self._value = value.data

    def _error(self, message: str) -> InputError:
        return InputError([Problem(self._name, message)])

    def apply(self, located: Located) -> None:
        if not isinstance(located.data, dict):
            return  # reported elsewhere
        if self._parts[0] == "extends":
            raise self._error("--set cannot change 'extends'; write a file with 'extends', and run it")
        path: tuple[str | int, ...] = ()
        parts, inside = self._parts, located.data
        while len(parts) > (taken := self._taken(inside, path, parts)):
            path, inside = self._enter(located, path, inside, ".".join(parts[:taken]))
            parts = parts[taken:]
        last = ".".join(parts)
        if path == ("metrics",) and isinstance(inside, list):
            self._set_metric(located, inside, last)
        elif not isinstance(inside, dict):
            raise self._error(self._no_mapping(path))
        elif self._value is not None:
            located.put((*path, last), self._document(self._value))
        elif last in inside:
            located.remove((*path, last))
        else:
            raise self._error(f"null removes a key, but {last!r} does not exist here; {did_you_mean(last, inside)}")

    def _taken(self, inside: Any, path: tuple[str | int, ...], parts: Sequence[str]) -> int:
        known = [_family(item) for item in inside] if path == ("metrics",) and isinstance(inside, list) else inside
        if not isinstance(known, list | dict):
            return 1
        return next((n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in known), 1)

    def _enter(
        self, located: Located, path: tuple[str | int, ...], inside: Any, key: str
    ) -> tuple[tuple[str | int, ...], Any]:
        """Return the path of a key and its value; a missing mapping is made."""
        if path == ("metrics",) and isinstance(inside, list):
            k = self._index(inside, key)
            if not isinstance(inside[k], dict) or inside[k][key] is None:
                located.put((*path, k), self._document({key: {}}))
            return (*path, k, key), inside[k][key]
        if not isinstance(inside, dict):
            raise self._error(self._no_mapping(path))
        if path == ("study",) and key not in inside:
            raise self._error(f"the configuration has no study {key!r}; add it with --set 'study.{key}={{}}'")
        if inside.get(key) is None:
            if path in {("corpora",), ("tokenizers",)}:
                add = f"--set '{path[0]}.{key}={{...}}' adds one"
                raise self._error(f"the configuration has no {key!r} here; {did_you_mean(key, inside)} ({add})")
            located.put((*path, key), self._document({}))
        return (*path, key), inside[key]

    def _set_metric(self, located: Located, families: list[Any], name: str) -> None:
        k = self._index(families, name)
        if self._value is not None:
            located.put(("metrics", k), self._document({name: self._value}))
            return
        rest = Located(located.name, folders=located.folders)
        rest.put((), located, ("metrics",))
        rest.data = []
        for item in (item for item in range(len(families)) if item != k):
            rest.data.append(None)
            rest.put((len(rest.data) - 1,), located, ("metrics", item))
        located.put(("metrics",), rest)

    def _index(self, families: Sequence[Any], name: str) -> int:
        known = [_family(item) for item in families]
        if name not in known:
            hint = did_you_mean(name, [label for label in known if label])
            raise self._error(f"the run has no metric {name!r}; {hint} (--set 'metrics=[...]' replaces the list)")
        return known.index(name)

    def _no_mapping(self, path: tuple[str | int, ...]) -> str:
        there = ".".join(str(part) for part in path if isinstance(part, str))
        return f"{there} has no keys inside; set it as a whole: --set '{there}=...'"

    def _document(self, value: Any) -> Located:
        place = FilePlace(self._name, 0, 0)
        places = dict.fromkeys(paths_in(value), place)
        return Located(self._name, value, dict(places), places, folders={self._name: Path.cwd()})


def _family(item: Any) -> str:
    if isinstance(item, dict) and len(item) == 1:
        return str(next(iter(item)))
    return item if isinstance(item, str) else ""
