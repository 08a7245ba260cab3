"""Templates of groups, such as ``{lang}-{meta.source}``: their one grammar, and how they are filled."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.text.faults import Place
from tokbench.text.find import group_names
from tokbench.text.rows import first_field, value_of

_INSIDE: Final = re.compile(r"[^.\[\]]+((?:\.[^.\[\]]+|\[[^\[\]]+\])*)")
"""A field, and what it reaches into."""
_NUMBERS: Final = re.compile(r"(?:\[\d+\])*")
FILE_FIELDS: Final = tuple(group_names(Path("a/b.c")))
"""What the template of a file may hold."""


def check_template(template: str, known: Collection[str] = ()) -> str:
    """Return the template of a group, if it only inserts ``known`` fields, or any.

    A field inside another is ``{meta.lang}`` or ``{meta[lang]}``; ``{stem[0]}`` is a first letter.

    Raises:
        ValueError: a field is unknown, or is to be converted or padded.
    """
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(
            f"{template!r} has a brace without its partner; write {{{{ or }}}} for a brace itself"
        ) from error
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if form or conversion:
            message = f"must insert fields as they are: remove what follows : or ! inside {{{name}}}"
            raise ValueError(f"{template!r} {message}")
        field = _INSIDE.fullmatch(name)
        if not field or (known and not (first_field(name) in known and _NUMBERS.fullmatch(field[1]))):
            listed = ", ".join(f"{{{name}}}" for name in known)
            message = f"may hold {listed} only" if known else "may hold {field} and {field.inside} only"
            raise ValueError(f"{template!r} {message}, and not {{{name}}}")
    return template


def template_at(template: str, place: str) -> str:
    """Return the template of a place, if it is one; an InputError with the place otherwise."""
    try:
        return check_template(template)
    except ValueError as error:
        raise InputError([Problem(place, str(error))]) from error


@lru_cache(maxsize=64)
def _parts(template: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((literal, name) for literal, name, _, _ in string.Formatter().parse(check_template(template)))


def template_fields(template: str) -> list[str]:
    """Return the fields that a checked template inserts, as they are written.

    >>> template_fields("{lang}-{meta.source}")
    ['lang', 'meta.source']
    """
    return list(dict.fromkeys(name for _, name in _parts(template) if name))


def fill_template(template: str, values: Mapping[str, Any], where: Place) -> str:
    """Return the group that a checked template gives.

    Raises:
        InputError: with ``where()``: there is no such field.

    >>> row = {"meta": {"lang": "de", "tags": ["news"]}, "n": 1}
    >>> fill_template("{meta.lang}-{meta[tags][0]}-{n}", row, str)
    'de-news-1'
    """
    try:
        return "".join(
            literal if name is None else f"{literal}{value_of(values, name)}" for literal, name in _parts(template)
        )
    except KeyError as error:
        name = str(error.args[0])
        message = f"has no field {name!r} for the group {template!r}; {did_you_mean(name, map(str, values))}"
        raise InputError([Problem(where(), message)]) from None


def file_group(template: str, path: Path, place: str) -> str:
    """Return the group that a template gives a file whose documents have no fields.

    Raises:
        InputError: with the place: the template holds what a file's name has not.

    >>> file_group("{parent}-{language}", Path("src/a.py"), "a.py")
    'src-python'
    """
    try:
        check_template(template, FILE_FIELDS)
    except ValueError as error:
        raise InputError([Problem(place, f"has no fields, so the group {error}")]) from error
    return fill_template(template, group_names(path), lambda: place)
