"""Reads YAML strictly, and keeps the place of each value.

It refuses duplicate keys, anchors and aliases (and so alias bombs), tags, several documents, and more than a megabyte
or a hundred levels. Plain scalars follow the core schema of YAML 1.2: ``no`` is a
string.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple

import yaml

from tokbench.foundation.errors import InputError, Problem

MAX_BYTES: Final = 1 << 20
_MAX_DEPTH: Final = 100

_WORDS: Final[dict[str, bool | None]] = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INT = re.compile(r"[-+]?[0-9]+")
_BASED_INT = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HALF: Final = "holds half of a surrogate pair, which is not Unicode text; write the character itself"
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

Path = tuple[str | int, ...]


class FilePlace(NamedTuple):
    """A place in a file; line and column count from 1, and are 0 for a value of the command line.

    >>> print(FilePlace("run.yaml", 3, 5), FilePlace("--set name=x", 0, 0))
    run.yaml:3:5 --set name=x
    """

    name: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}" if self.line else self.name


@dataclass
class Located:
    """A YAML document as plain data, with the place of every key and value.

    The values may come from several files: see :mod:`tokbench.config.extends`.
    """

    name: str
    data: Any = None
    """Dicts, lists, strings, numbers, booleans, ``None``."""
    keys: dict[Path, FilePlace] = field(default_factory=dict)
    values: dict[Path, FilePlace] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    folders: dict[str, FilePath] = field(default_factory=dict)
    """By file name, the folder in which its relative paths start."""

    def place(self, path: Path) -> FilePlace:
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, FilePlace(self.name, 1, 1))

    def where(self, path: Path, *, key: bool = False) -> str:
        """Return ``file:line:column`` of a value or its key; if missing, of the nearest value around it."""
        return str(self.keys[path] if key and path in self.keys else self.place(path))

    def put(self, path: Path, source: Located, at: Path = ()) -> None:
        """Replace or add the value at a path by another document's value at ``at``, with all places.

        Everything around the path must exist. A replaced key keeps its order in its mapping, and the position behind
        the last value of a list adds one.

        >>> one, two = read_yaml("a: {b: 1, c: 2}", "one.yaml"), read_yaml("{x: [3, 4]}", "two.yaml")
        >>> one.put(("a", "b"), two, ("x",))
        >>> one.data, one.where(("a", "b", 1)), one.where(("a", "c"))
        ({'a': {'b': [3, 4], 'c': 2}}, 'two.yaml:1:9', 'one.yaml:1:14')
        """
        value = copy.deepcopy(value_at(source.data, at))
        self._forget(path)
        if not path:
            self.data = value
        elif isinstance(around := value_at(self.data, path[:-1]), list) and path[-1] == len(around):
            around.append(value)
        else:
            around[path[-1]] = value
        for inner in paths_in(value):
            for mine, theirs in ((self.keys, source.keys), (self.values, source.values)):
                if (*at, *inner) in theirs:
                    mine[*path, *inner] = theirs[*at, *inner]
        self.folders = {**source.folders, **self.folders}

    def remove(self, path: Path) -> None:
        """Remove a key from a mapping, or a value from a list, and its places."""
        around, last = path[:-1], path[-1]
        if isinstance(last, int):
            end = len(value_at(self.data, around)) - 1
            for k in range(last, end):
                self.put((*around, k), self, (*around, k + 1))
            path = (*around, end)
        self._forget(path)
        del value_at(self.data, around)[path[-1]]

    def _forget(self, path: Path) -> None:
        try:
            value = value_at(self.data, path)
        except (KeyError, IndexError):
            return
        for inner in paths_in(value):
            self.keys.pop((*path, *inner), None)
            self.values.pop((*path, *inner), None)


def value_at(data: Any, path: Path) -> Any:
    """Return the value at a path of keys and indices."""
    for part in path:
        data = data[part]
    return data


def paths_in(data: Any) -> Iterator[Path]:
    """Yield the path of every value in some data, the whole first."""
    yield ()
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for part, value in inside:
        for path in paths_in(value):
            yield (part, *path)


def read_yaml(text: str, name: str) -> Located:
    r"""Read one YAML document.

    Raises:
        InputError: the text is too large, or not YAML. Everything else that is refused is in ``problems``.

    >>> located = read_yaml("a: 1\nb: [yes, true]\na: 2\n", "run.yaml")
    >>> located.data
    {'a': 1, 'b': ['yes', True]}
    >>> print(*located.problems)
    run.yaml:3:1: key 'a' is given twice (first at line 1)
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InputError([Problem(name, f"larger than {MAX_BYTES:,} bytes: not a configuration")])
    located = Located(name)
    try:
        loader = yaml.SafeLoader(text)
        _Reader(located, iter(loader.get_event, None)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        problem = _brace_of_variable(text, mark) or f"not YAML: {error.problem or error.context}"
        raise InputError([Problem(place, problem)]) from error
    except yaml.YAMLError as error:
        raise InputError([Problem(name, f"not YAML: {' '.join(str(error).split())}")]) from error
    except (ValueError, OverflowError) as error:  # the parser lets these through
        mark = loader.get_mark()
        raise InputError([Problem(f"{name}:{mark.line + 1}:{mark.column + 1}", f"not YAML: {error}")]) from error
    return located


def _brace_of_variable(text: str, mark: yaml.Mark | None) -> str:
    if mark is None or text[max(0, mark.index - 1) : mark.index + 1] != "${":
        return ""
    begin = max(text.rfind(end, 0, mark.index) for end in " ,[\n") + 1
    written = re.match(r"([^\s,{}$\]]|\$\{\w*\}|\$)+", text[begin:])
    value = written[0] if written else "${NAME}"
    return f'not YAML: inside {{...}} and [...] a value with ${{...}} needs quotes; write "{value}"'


class _Reader:
    """Builds the data from parser events, so that aliases are refused before they expand."""

    def __init__(self, located: Located, events: Iterator[yaml.Event]) -> None:
        self._located = located
        self._events = events

    def document(self) -> None:
        next(self._events)  # stream start
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            self._refuse(event, "the file is empty")
            return
        self._located.data = self._value((), next(self._events))
        next(self._events)  # document end
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            self._refuse(event, "a second document begins here; one file is one run")

    def _refuse(self, event: yaml.Event, message: str) -> None:
        self._located.problems.append(Problem(str(self._place(event)), message))

    def _value(self, path: Path, event: yaml.Event) -> Any:
        self._located.values[path] = self._place(event)
        if len(path) > _MAX_DEPTH:
            problem = f"nested deeper than {_MAX_DEPTH} levels"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)  # type: ignore[arg-type]
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, f"alias *{event.anchor}: anchors and aliases are refused; write the value out")
            return None
        if anchor := getattr(event, "anchor", None):
            self._refuse(event, f"anchor &{anchor}: anchors and aliases are refused; write the value out")
        if tag := getattr(event, "tag", None):
            self._refuse(event, f"tag {tag}: tags are refused; a configuration is plain data")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        assert isinstance(event, yaml.ScalarEvent)
        if _SURROGATE.search(event.value):
            self._refuse(event, _HALF)
            return None
        try:
            return plain_scalar(event.value) if event.style is None else event.value
        except ValueError as error:
            self._refuse(event, f"{error}; if it is text, write it in quotes")
            return None

    def _mapping(self, path: Path) -> dict[str, Any]:
        mapping = dict[str, object]()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = event.value if isinstance(event, yaml.ScalarEvent) else None
            if key is None:
                self._refuse(event, "a key must be a plain word")
                self._value((*path, "?"), event)
                self._value((*path, "?"), next(self._events))
                continue
            if _SURROGATE.search(key):
                self._refuse(event, _HALF)
                self._value((*path, "?"), next(self._events))
                continue
            if key in mapping:
                first = self._located.keys[*path, key]
                self._refuse(event, f"key {key!r} is given twice (first at line {first.line})")
                self._value((*path, "?"), next(self._events))
                continue
            self._located.keys[*path, key] = self._place(event)
            mapping[key] = self._value((*path, key), next(self._events))
        return mapping

    def _sequence(self, path: Path) -> list[Any]:
        sequence: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            sequence.append(self._value((*path, len(sequence)), event))
        return sequence

    def _place(self, event: yaml.Event) -> FilePlace:
        mark: Any = event.start_mark
        return FilePlace(self._located.name, mark.line + 1, mark.column + 1)


def plain_scalar(text: str) -> Any:
    """Return the value of a plain scalar by the core schema; a ValueError if a number is too large.

    >>> [plain_scalar(text) for text in ("12", "true", "no", "[a")]
    [12, True, 'no', '[a']
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _BASED_INT.fullmatch(text):
        return int(text, 0)
    if not _FLOAT.fullmatch(text):
        return text
    if math.isinf(number := float(text)):
        raise ValueError(f"the number {text} is too large")
    return number
