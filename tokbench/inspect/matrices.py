"""Finds the embedding and the output matrix of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import InputError, Problem
from tokbench.inspect.tensor_file import StoredTensor, stored_tensors

MOST_EXTRA: Final = 1024
"""Rows beyond the ids: models fill up to a round number."""

_INPUT: Final = (
    "embed_tokens.weight",
    "wte.weight",
    "word_embeddings.weight",
    "embed_in.weight",
    "tok_embeddings.weight",
    "embeddings.weight",
    "embedding.weight",
    "shared.weight",
)
_OUTPUT: Final = ("lm_head.weight", "embed_out.weight", "output.weight", "head.weight")
_PART: Final = re.compile(r"-\d+-of-\d+\.safetensors$")
_BLOCK: Final = 4096
_NAMED: Final = 8


def blocks(tensor: StoredTensor) -> Iterator[NDArray[np.float32]]:
    """Yield the rows, some at a time: float32[k, width]."""
    for start in range(0, tensor.shape[0], _BLOCK):
        yield tensor.rows(slice(start, start + _BLOCK))


@dataclass(frozen=True, slots=True)
class Matrices:
    """Matrices with a row for each id."""

    name: str
    """Of the input embedding."""
    embedding: StoredTensor
    tied: bool
    """Whether it is the output, too."""


def find_matrices(path: Path, vocab_size: int, embedding: str | None = None, output: str | None = None) -> Matrices:
    """Find matrices by name, or by their usual names; a model without an output matrix, or with equal ones, is tied.

    Raises:
        InputError: a file or a name is wrong, or no matrix has a row for each id.
    """
    tensors = stored_tensors(path)
    fitting = [name for name, tensor in tensors.items() if vocab_size <= _rows(tensor) <= vocab_size + MOST_EXTRA]
    name = _chosen(path, fitting, vocab_size, embedding)
    if output:
        outputs = [_chosen(path, fitting, vocab_size, output)]
    else:
        outputs = [other for other in fitting if _ends(other, _OUTPUT) and tensors[other].shape == tensors[name].shape]
    if not outputs and _PART.search(path.name):
        message = "is one of several files, and the output matrix is not in it: give the index, which ends in .json"
        raise InputError([Problem(str(path), message)])
    tied = all(_equal(tensors[name], tensors[other]) for other in outputs[:1])
    return Matrices(name, tensors[name], tied)


def _chosen(path: Path, fitting: Sequence[str], vocab_size: int, name: str | None) -> str:
    """Return the tensor with a name, or else the one with a usual name."""
    names = [name] if name else [one for one in fitting if _ends(one, _INPUT)]
    if len(names) == 1 and names[0] in fitting:
        return names[0]
    wrong = f"the tensor {name!r} is not one of them" if name else "name the embedding with --tensor"
    rows = f"tensors with a row for each of the {vocab_size:,} ids, and at most {MOST_EXTRA:,} more"
    raise InputError([Problem(str(path), f"{wrong}; {rows}: {', '.join(fitting[:_NAMED]) or 'none'}")])


def _ends(name: str, endings: tuple[str, ...]) -> bool:
    return any(name == ending or name.endswith(f".{ending}") for ending in endings)


def _rows(tensor: StoredTensor) -> int:
    """Return 0 unless it is a matrix."""
    return tensor.shape[0] if len(tensor.shape) == 2 else 0  # noqa: PLR2004 - rows and columns


def _equal(one: StoredTensor, other: StoredTensor) -> bool:
    if one.shape != other.shape:
        return False
    return all(np.array_equal(block, again) for block, again in zip(blocks(one), blocks(other), strict=True))
