"""Reads matrices from safetensors files, a few rows at a time.

Format: eight bytes (length of the header), the header in JSON, numbers, little-endian. Several files have an index in
JSON. The package safetensors gives NumPy no BF16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.files import read_regular
from tokbench.foundation.parsing import parse_json

_PREFIX: Final = 8
_LONGEST: Final = 100_000_000
"""Bytes of the header, by the format."""

_DTYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor that is not read yet."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    start: int
    """Byte in the file."""

    def rows(self, wanted: slice | list[int]) -> NDArray[np.float32]:
        """Return float32[k, width], or raise InputError for a dtype such as a quantized model has."""
        if self.dtype not in _DTYPES:
            message = f"has numbers of dtype {self.dtype}, and these can be read: {', '.join(_DTYPES)}"
            raise InputError([Problem(str(self.path), message)])
        stored = np.memmap(self.path, _DTYPES[self.dtype], "r", self.start, self.shape)[wanted]
        if self.dtype == "BF16":  # the upper half of a float32
            return (stored.astype(np.uint32) << 16).view(np.float32)
        return np.asarray(stored, dtype=np.float32)


def stored_tensors(path: Path) -> dict[str, StoredTensor]:
    """Return tensors by name, of one file or an index, or raise InputError for what is neither."""
    if path.suffix != ".json":
        return _of_file(path)
    files = _of_index(path)
    by_file = {name: _of_file(path.parent / name) for name in sorted(set(files.values()))}
    return {name: by_file[file][name] for name, file in files.items() if name in by_file[file]}


def _of_index(path: Path) -> dict[str, str]:
    try:
        files = parse_json(read_regular(path))["weight_map"]
        return {str(name): str(file) for name, file in files.items()}
    except OSError as error:
        raise _unread(path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = "is not an index of safetensors files: it has no 'weight_map' with the file of each tensor"
        raise InputError([Problem(str(path), message)]) from error


def _of_file(path: Path) -> dict[str, StoredTensor]:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_PREFIX), "little")
            header = file.read(length) if length <= min(size - _PREFIX, _LONGEST) else b""
    except OSError as error:
        raise _unread(path, error) from error
    try:
        entries = parse_json(header)
        start = _PREFIX + length
        return {name: _entry(path, entry, start, size) for name, entry in entries.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = "is not a safetensors file, or a part of one: its header does not fit what follows"
        raise InputError([Problem(str(path), message)]) from error


def _entry(path: Path, entry: dict[str, Any], start: int, size: int) -> StoredTensor:
    """Raise ValueError for a tensor outside of the file, or with a wrong length."""
    first, end = (int(offset) for offset in entry["data_offsets"])
    dtype, shape = str(entry["dtype"]), tuple(int(n) for n in entry["shape"])
    if not 0 <= first <= end <= size - start:
        raise ValueError(first, end)
    if dtype in _DTYPES and end - first != math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize:
        raise ValueError(shape)
    return StoredTensor(path, dtype, shape, start + first)


def _unread(path: Path, error: OSError) -> InputError:
    return InputError([Problem(str(path), f"cannot be read: {error.strerror}")])
