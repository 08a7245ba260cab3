"""Reads JSON files of other programs strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file
from tokbench.foundation.parsing import TextError, parse_json


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the content of a file whose outermost value is an object."""
    try:
        content = parse_json(read_file(path, text=True))
    except TextError as error:
        raise BackendError(f"{error.at(path)}; get the file again") from error
    if not isinstance(content, dict):
        raise BackendError(f"{path}: not a JSON object but {type(content).__name__}; is it the right file?")
    return content


def ids_by_name(value: Any, where: str) -> dict[str, int]:
    """Return a value if it is an object of integers, else raise ValueError; ``where`` names it in messages."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is not an object")  # noqa: TRY004 - a fault of the file, not of a caller
    for name, token_id in value.items():
        if type(token_id) is not int:
            raise ValueError(f"{where}[{name!r}] is {token_id!r}, not an id")
    return value
