"""Write the JSON schema of ``results.json`` from the dataclasses and their docstrings: ``python .ci/results_schema.py``."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter

from tokbench import results
from tokbench.registry.plugins import load_registry
from tokbench.results.blocks import RawState
from tokbench.results.cells import Cell, CellKind, CellTable
from tokbench.results.model import SCHEMA, Results
from tokbench.results.study_blocks import BlockType

Json = dict[str, Any]

FILE: Final = Path(results.__file__).parent / "schema.json"

_ENTRY: Final = re.compile(r"^ {4}(\w[\w, ]*): ", re.MULTILINE)
"""The names at the beginning of an entry under ``Attributes:``."""


def json_schema(blocks: Iterable[BlockType[Any]] = ()) -> Json:
    """Return the JSON schema of ``results.json``, with the blocks of some studies; every key has a description."""
    kinds = list(blocks)
    schema: Json = TypeAdapter(Results).json_schema(mode="serialization")
    _describe(schema, Results)
    table = TypeAdapter(CellTable).json_schema(mode="serialization")
    schema["$defs"] |= table.pop("$defs") | {CellTable.__name__: table}
    del schema["$defs"][Cell.__name__]
    numbers = schema["properties"]["cells"]["description"]
    schema["properties"]["cells"] = {"$ref": f"#/$defs/{CellTable.__name__}", "description": numbers}
    for block in kinds:
        body = TypeAdapter(block.kind).json_schema(mode="serialization")
        schema["$defs"] |= body.pop("$defs", {})
        schema["properties"]["studies"].setdefault("properties", {})[block.study] = {
            "type": "object",
            "description": f"the block of the study {block.study!r}, and its version",
            "properties": {"version": {"const": block.version}, "body": body},
            "required": ["version", "body"],
        }
    # RawStates describes itself as a list of RawState, which no type says, and cells are written as a table.
    written = [Results, RawState, CellTable, *(block.kind for block in kinds)]
    classes = {cls.__name__: cls for cls in _classes_within(*written)}
    for name, definition in schema["$defs"].items():
        _describe(definition, classes[name])
    # A kind leaves out what has its default value.
    schema["$defs"][CellKind.__name__]["required"] = [part.name for part in fields(CellKind) if part.default is MISSING]
    schema["properties"] = {"schema": {"const": SCHEMA, "description": "this schema"}} | schema["properties"]
    schema["required"] = ["schema", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def schema_text() -> str:
    """Return the text of the schema, with the blocks of the studies that are installed."""
    blocks = (spec.block for spec in load_registry().studies if spec.block)
    return json.dumps(json_schema(blocks), indent=1, ensure_ascii=False) + "\n"


def _classes_within(*hints: object) -> set[type]:
    classes: set[type] = set()
    waiting = list(hints)
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        if isinstance(hint, type) and hint not in classes:
            classes.add(hint)
            waiting += get_type_hints(hint).values()
    return classes


def _describe(schema: Json, cls: type) -> None:
    head, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n\nAttributes:\n")
    parts = _ENTRY.split(rest)[1:]
    listed = [
        (name, text)
        for names, text in zip(parts[::2], parts[1::2], strict=True)
        for name in names.split(", ")
    ]  # fmt: skip
    if is_dataclass(cls.__base__):
        _describe(schema, cls.__base__)
    schema["description"] = " ".join(head.split())
    said = dict([*listed, *_field_docs(cls)])
    for name, definition in schema.get("properties", {}).items():
        # What a name says by itself needs no docstring.
        definition["description"] = " ".join(said.get(name, definition.get("description", f"The {name}.")).split())


def _field_docs(cls: type) -> Iterator[tuple[str, str]]:
    try:
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return
    for field, below in pairwise(getattr(tree, "body", [])):
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, str):
            yield field.target.id, text


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
