"""The names that a module hands on, with the places of their definitions: what the reference lists."""

from __future__ import annotations

import ast
import importlib
import inspect
import reprlib
from pathlib import Path

from included import ROOT


def public_names(module: str) -> dict[str, str]:
    """Return the full name of each definition by the name under which a module hands it on.

    A name that is imported is one that the module hands on; one that is assigned stands for another one.

    Args:
        module: such as ``tokbench.plugin``.
    """
    path = ROOT / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    places: dict[str, str] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tokbench."):
            places.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in places:
            [target] = node.targets
            places[ast.unparse(target)] = places.pop(node.value.id)
    listed = getattr(importlib.import_module(module), "__all__", None) or places
    return {name: places.get(name, f"{module}.{name}") for name in listed if not name.startswith("_")}


def reference(module: str, rooms: list[str]) -> str:
    """Return Markdown by which mkdocstrings describes the classes and functions of a module; constants are a table.

    What users of ``tokbench`` import, too, stands on the page of ``tokbench`` alone.

    Args:
        module: the module.
        rooms: the folders of tokbench whose definitions are meant, such as ``corpus``; empty for all.
    """
    blocks, constants = [], []
    elsewhere = set() if module == "tokbench" else set(public_names("tokbench").values())
    for name, place in sorted(public_names(module).items(), key=lambda item: item[0].lower()):
        if place in elsewhere or (rooms and place.split(".")[1] not in rooms):
            continue
        definition = getattr(importlib.import_module(module), name)
        if inspect.isclass(definition) or inspect.isfunction(definition):
            blocks.append(f"::: {place}\n    options:\n      heading: {name}\n      toc_label: {name}\n")
        else:
            value = reprlib.repr(definition).replace("|", "\\|").replace("`", "'")
            constants.append(f"| `{name}` | `{value}` |")
    if constants:
        blocks += ["## Constants and types", "", "| name | value |", "|---|---|", *constants, ""]
    return "\n".join(blocks)
