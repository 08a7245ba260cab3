"""A trained BPE as one JSON file, and every way in which such a file can be damaged.

::

    {"format": "tokbench-bpe/1", "kind": "regex_bpe", "pattern": "...", "merges": [[104, 105], ...],
     "sha256": "..."}

The format comes first, so that a later version can be told from damage. ``pattern`` is the regular
expression itself, not its name, and ``null`` for naive BPE. ``sha256`` is taken of all that stands
before it, written as compact JSON: the file may be reformatted, but not changed. The same merges and
pattern always give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from tokbench import BackendError, write_atomically
from tokbench_plugins.bpe.patterns import resolve_pattern
from tokbench_plugins.bpe.vocabulary import Pair, check_merges
from tokbench_plugins.files import read_file

__all__ = ["FILE_SUFFIX", "Artefact", "Kind", "read_artefact", "write_artefact"]

Kind = Literal["naive_bpe", "regex_bpe"]

FILE_SUFFIX: Final = ".bpe.json"
_FORMAT: Final = "tokbench-bpe/1"
_KEYS: Final = ("format", "kind", "pattern", "merges", "sha256")


class Artefact(NamedTuple):
    """What the file says.

    Attributes:
        merges: the merges in order of rank.
        pattern: the regular expression of the split, ``None`` for naive BPE.
    """

    merges: list[Pair]
    pattern: str | None


def _kind(pattern: str | None) -> Kind:
    return "naive_bpe" if pattern is None else "regex_bpe"


def _compact(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"))


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(_compact(content).encode()).hexdigest()


def write_artefact(path: Path, merges: Sequence[Pair], pattern: str | None) -> None:
    """Write the file as a whole or not at all: whoever reads ``path`` never sees half of it.

    Args:
        path: where to; an existing file is replaced. The folder must exist.
        merges: the merges in order of rank.
        pattern: the regular expression of the split, ``None`` for naive BPE.

    Raises:
        OSError: the folder does not exist, cannot be written, or is full.
    """
    content = {"format": _FORMAT, "kind": _kind(pattern), "pattern": pattern, "merges": list(map(list, merges))}
    text = _compact({**content, "sha256": _digest(content)}) + "\n"
    write_atomically(path, text.encode("ascii"))


def read_artefact(path: Path, kind: Kind) -> Artefact:
    """Read a file back.

    Args:
        path: the file.
        kind: the backend that reads it.

    Raises:
        BackendError: there is no such file, it is damaged, or it was saved by another backend; the
            message names the file and the reason.

    >>> read_artefact(Path("nowhere.bpe.json"), "naive_bpe")
    Traceback (most recent call last):
    tokbench.errors.BackendError: nowhere.bpe.json: No such file or directory
    """
    try:
        content = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise BackendError(f"{path}: not JSON: {error}; train again or restore the file") from error
    try:
        return _checked(content, kind)
    except ValueError as error:
        raise BackendError(f"{path}: {error}") from error


def _checked(content: Any, kind: Kind) -> Artefact:
    """The content if nothing is wrong with it; raises ValueError with the reason otherwise."""
    if not isinstance(content, dict) or "format" not in content:
        raise ValueError("not a file saved by tokbench's BPE: it has no 'format'")
    if content["format"] != _FORMAT:
        raise ValueError(f"format {content['format']!r} is unknown; this version of tokbench reads {_FORMAT!r}")
    if tuple(content) != _KEYS:
        raise ValueError(f"damaged: its keys are {', '.join(content)} instead of {', '.join(_KEYS)}")
    body = {key: content[key] for key in _KEYS[:-1]}
    if _digest(body) != content["sha256"]:
        raise ValueError("damaged: its content does not match its sha256; train again or restore the file")
    pattern = content["pattern"]
    if not (pattern is None or isinstance(pattern, str)) or content["kind"] != _kind(pattern):
        raise ValueError(f"kind {content['kind']!r} does not go with pattern {pattern!r}")
    if content["kind"] != kind:
        raise ValueError(f"saved by another backend; load it with 'backend: {content['kind']}'")
    if pattern is not None:
        resolve_pattern(pattern)
    return Artefact(_pairs(content["merges"]), pattern)


def _pairs(merges: Any) -> list[Pair]:
    if not isinstance(merges, list):
        raise ValueError("its merges are not a list")  # noqa: TRY004 - a fault of the file, not of a caller
    pairs: list[Pair] = []
    for rank, pair in enumerate(merges):
        match pair:
            case [int(left), int(right)] if not isinstance(left, bool) and not isinstance(right, bool):
                pairs.append((left, right))
            case _:
                raise ValueError(f"merge {rank} is {pair!r}, not two ids")
    check_merges(pairs)
    return pairs
