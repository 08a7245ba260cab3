"""The JSON schema of ``results.json``, generated from the dataclasses and their docstrings."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import MISSING, fields
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter

from tokbench.results.blocks import RawState
from tokbench.results.cells import Cell
from tokbench.results.model import SCHEMA, Results

Json = dict[str, Any]

_ENTRY: Final = re.compile(r"^ {4}(\w[\w, ]*): ", re.MULTILINE)
"""The names at the beginning of an entry under ``Attributes:``."""


def json_schema() -> Json:
    """Return the JSON schema of ``results.json``; every key has a description.

    >>> json_schema()["$defs"]["Cell"]["properties"]["unit"]["description"]
    'its unit. Where words are counted, the unit names the definition of a word.'
    """
    schema: Json = TypeAdapter(Results).json_schema(mode="serialization")
    _describe(schema, Results)
    # RawStates describes itself as a list of RawState, which no type says.
    classes = {each.__name__: each for each in _classes_within(Results, RawState)}
    for name, definition in schema["$defs"].items():
        _describe(definition, classes[name])
    # A cell leaves out what has its default value.
    schema["$defs"]["Cell"]["required"] = [each.name for each in fields(Cell) if each.default is MISSING]
    schema["properties"] = {"schema": {"const": SCHEMA, "description": "this schema"}} | schema["properties"]
    schema["required"] = ["schema", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def schema_text() -> str:
    """Return the text of the file ``schema.json`` beside this module."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _classes_within(*hints: object) -> set[type]:
    """Return the classes that types are made of, those of the attributes included."""
    found: set[type] = set()
    waiting = list(hints)
    while waiting:
        each = waiting.pop()
        waiting += get_args(each)
        if isinstance(each, type) and each not in found:
            found.add(each)
            waiting += get_type_hints(each).values()
    return found


def _describe(schema: Json, cls: type) -> None:
    """Carry the docstring of a class and of its attributes into its schema."""
    head, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n\nAttributes:\n")
    schema["description"] = " ".join(head.split())
    parts = _ENTRY.split(rest)[1:]
    for names, text in zip(parts[::2], parts[1::2], strict=True):
        for name in names.split(", "):
            schema["properties"][name]["description"] = " ".join(text.split())
