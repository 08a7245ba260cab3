"""Validates plain data with a pydantic model, and reports every problem in words with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tokbench.config.strict_yaml import Located
from tokbench.foundation.errors import InputError, Problem, close_name, did_you_mean
from tokbench.foundation.validation_messages import wrong_value
from tokbench.tokenizers.options import GivenOptions

M = TypeVar("M", bound=BaseModel)

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class ConfigPart:
    """A part of a configuration to validate."""

    located: Located
    path: Place = ()
    base: Path = Path()
    """The folder at which a relative path starts if its file is unknown."""
    also: tuple[str, ...] = ()
    """Allowed besides the model's keys."""
    called: Place = ()
    """The end of ``path`` that messages repeat before an inner key."""


def validate(model: type[M], data: Any, part: ConfigPart, problems: list[Problem]) -> M | None:
    """Return the model, or ``None`` after adding all ``problems``.

    Validation is strict as in JSON: a list may become a tuple, and a string a path; but ``no`` does not become false,
    and ``"12"`` does not become 12. A relative path starts at the folder of its file.
    """
    context = {"base": part.base, "bases": _folders(data, part)}
    try:
        return model.model_validate_json(json.dumps(data), strict=True, context=context)
    except ValidationError as error:
        for where, key, message in _mistakes(model, data, error.errors(), part):
            problems.append(Problem(part.located.where((*part.path, *where), key=key), message))
        return None


def _folders(data: Any, part: ConfigPart) -> dict[str, Path]:
    folders, located = {}, part.located
    for key in data if isinstance(data, Mapping) and located.folders else ():
        place = (*part.path, key)
        place = place if place in located.values else (*part.path, "grid", key)
        folder = located.folders.get(located.place(place).name)
        if folder is not None:
            folders[key] = folder
    return folders


def validate_options(model: type[M], options: GivenOptions, what: str) -> M:
    """Return validated options that do not come from a file; ``what`` is their owner, for messages."""
    problems: list[Problem] = []
    data = json.loads(json.dumps(options, default=str))
    valid = validate(model, data, ConfigPart(Located(what)), problems)
    if valid is None:
        raise InputError([Problem(what, problem.message) for problem in problems])
    return valid


def _mistakes(
    model: type[BaseModel], data: Any, details: Sequence[ErrorDetails], part: ConfigPart
) -> Iterator[tuple[Place, bool, str]]:
    misspelt = dict(_misspelt(model, data, details))
    for path, wanted in misspelt.items():
        yield path, True, f"unknown key {path[-1]!r}; did you mean {wanted!r}?"
    for detail in details:
        kind, loc = detail["type"], detail["loc"]
        if kind == "missing" and isinstance(loc[-1], int):
            yield _path_in(data, loc), False, f"value {loc[-1] + 1} of the list is missing"
        elif kind == "missing":
            if loc not in {(*path[:-1], wanted) for path, wanted in misspelt.items()}:
                yield loc, False, f"the key {str(loc[-1])!r} is missing"
        elif kind == "extra_forbidden":
            if loc not in misspelt:
                known = _known_keys(model, loc) + (list(part.also) if len(loc) == 1 else [])
                yield loc, True, f"unknown key {str(loc[-1])!r}; {did_you_mean(str(loc[-1]), known)}"
        else:
            path = _path_in(data, loc)
            name = ".".join(map(str, (*part.called, *path)))
            message = wrong_value(detail)
            yield path, loc[-1:] == ("[key]",), f"{name}: {message}" if name else message


def _misspelt(model: type[BaseModel], data: Any, details: Sequence[ErrorDetails]) -> Iterator[tuple[Place, str]]:
    """Yield unknown keys that resemble a missing key, with that key."""
    taken: set[Place] = set()
    for loc in (detail["loc"] for detail in details if detail["type"] == "missing"):
        beside = data
        for part in _path_in(data, loc):
            beside = beside[part]
        if not isinstance(beside, Mapping):
            continue  # a list that is too short
        known = _known_keys(model, loc)
        unknown = [key for key in beside if key not in known and (*loc[:-1], key) not in taken]
        close = close_name(str(loc[-1]), unknown)
        if close:
            taken.add((*loc[:-1], close))
            yield (*loc[:-1], close), str(loc[-1])


def _path_in(data: Any, loc: Place) -> Place:
    """Return the part of a pydantic location that is in the data: without type names."""
    path: list[str | int] = []
    for part in loc:
        if isinstance(data, Mapping):
            inside = part in data
        else:
            inside = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside:
            path.append(part)
            data = data[part]
    return tuple(path)


def _known_keys(model: type[BaseModel], loc: Place) -> list[str]:
    inside: Any = model
    for part in loc[:-1]:
        fields = getattr(inside, "model_fields", {})
        by_alias = {info.alias or name: info for name, info in fields.items()}
        if part not in by_alias:
            return []
        inside = by_alias[str(part)].annotation
        inside = next((kind for kind in getattr(inside, "__args__", ()) if hasattr(kind, "model_fields")), inside)
    return [info.alias or name for name, info in getattr(inside, "model_fields", {}).items()]
