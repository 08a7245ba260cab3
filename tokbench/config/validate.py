"""Validates plain data with a pydantic model, and reports every problem in words with its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tokbench.config.strict_yaml import Located
from tokbench.contracts.options import GivenOptions
from tokbench.errors import InputError, Problem, did_you_mean

M = TypeVar("M", bound=BaseModel)


def validate(
    model: type[M],
    data: Any,
    located: Located,
    path: tuple[str | int, ...],
    base: Path,
    problems: list[Problem],
    also: tuple[str, ...] = (),
) -> M | None:
    """Return the model, or ``None`` after adding everything that is wrong to ``problems``.

    Validation is strict in the way of JSON: a list may become a tuple, and a string a path; but ``no`` does not become
    false, and ``"12"`` does not become 12. ``also`` names further keys that are allowed beside those of the model.
    """
    try:
        return model.model_validate_json(json.dumps(data), strict=True, context={"base": base})
    except ValidationError as error:
        for detail in error.errors():
            where = (*path, *detail["loc"])
            unknown = detail["type"] == "extra_forbidden"
            problems.append(Problem(located.where(where, key=unknown), _message(model, detail, also)))
        return None


def validate_options(model: type[M], options: GivenOptions, what: str) -> M:
    """Return validated options that do not come from a file.

    Args:
        model: the options class.
        options: the options.
        what: the owner of the options, for messages.

    Raises:
        InputError: an option is wrong; the error lists all problems.
    """
    problems: list[Problem] = []
    data = json.loads(json.dumps(options, default=str))
    valid = validate(model, data, Located(what), (), Path(), problems)
    if valid is None:
        raise InputError([Problem(what, problem.message) for problem in problems])
    return valid


def _message(model: type[BaseModel], detail: ErrorDetails, also: tuple[str, ...]) -> str:
    name = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        known = _known_keys(model, detail["loc"]) + (list(also) if len(detail["loc"]) == 1 else [])
        return f"unknown key {str(detail['loc'][-1])!r}; {did_you_mean(str(detail['loc'][-1]), known)}"
    if detail["type"] == "missing":
        return f"the key {str(detail['loc'][-1])!r} is missing"
    text = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "value_error":
        return f"{name}: {text}" if name else text
    text = text[:1].lower() + text[1:]
    given = detail["input"]
    hint = "; write true or false" if detail["type"] == "bool_type" and isinstance(given, str) else ""
    shown = json.dumps(given, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 40 else shown[:37] + "..."  # noqa: PLR2004
    return f"{name}: {text}, but is {shown}{hint}" if name else f"{text}, but is {shown}{hint}"


def _known_keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Return the keys that are allowed where an unknown one was found."""
    inside: Any = model
    for part in loc[:-1]:
        fields = getattr(inside, "model_fields", {})
        by_alias = {info.alias or name: info for name, info in fields.items()}
        if part not in by_alias:
            return []
        inside = by_alias[str(part)].annotation
        inside = next((each for each in getattr(inside, "__args__", ()) if hasattr(each, "model_fields")), inside)
    return [info.alias or name for name, info in getattr(inside, "model_fields", {}).items()]
