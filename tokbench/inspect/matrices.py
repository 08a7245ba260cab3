"""Finds the embedding and the output matrix of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import InputError, Problem, close_name, did_you_mean
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
        InputError: a file or a name is wrong, or the embedding belongs to another vocabulary.
    """
    tensors = stored_tensors(path)
    name = _named(path, tensors, embedding) if embedding else _usual(path, tensors, vocab_size)
    for given in filter(None, (name, output and _named(path, tensors, output))):
        _check_shape(path, given, tensors[given], vocab_size)
    outputs = [other for other in tensors if _ends(other, _OUTPUT) and tensors[other].shape == tensors[name].shape]
    if output:
        outputs = [output]
    elif not outputs and _PART.search(path.name):
        message = "is one of several files, and the output matrix is not in it: give the index, which ends in .json"
        raise InputError([Problem(str(path), message)])
    tied = all(_equal(tensors[name], tensors[other]) for other in outputs[:1])
    return Matrices(name, tensors[name], tied)


def _check_shape(path: Path, name: str, tensor: StoredTensor, vocab_size: int) -> None:
    if not vocab_size <= _rows(tensor) <= vocab_size + MOST_EXTRA:
        shape = " x ".join(f"{n:,}" for n in tensor.shape)
        message = (
            f"the tensor {name!r} is {shape}, and the tokenizer has {vocab_size:,} ids: the matrix has a row for each "
            f"id, and at most {MOST_EXTRA:,} more"
        )
        raise InputError([Problem(str(path), message)])


def _named(path: Path, tensors: Mapping[str, StoredTensor], name: str) -> str:
    if name not in tensors:
        known = tensors if close_name(name, tensors) else _largest(tensors)
        raise InputError([Problem(str(path), f"unknown tensor {name!r}; {did_you_mean(name, known)}")])
    return name


def _largest(tensors: Mapping[str, StoredTensor]) -> list[str]:
    return sorted(tensors, key=lambda name: -_rows(tensors[name]))[:_NAMED]


def _usual(path: Path, tensors: Mapping[str, StoredTensor], vocab_size: int) -> str:
    """Return the tensor with a usual name; of several, one that fits the vocabulary."""
    usual = [name for name in tensors if _ends(name, _INPUT) and _rows(tensors[name])]
    fitting = [name for name in usual if vocab_size <= _rows(tensors[name]) <= vocab_size + MOST_EXTRA]
    names = usual if len(usual) == 1 else fitting
    if len(names) == 1:
        return names[0]
    if names or usual:
        message = f"several tensors may be the embedding: {', '.join(names or usual)}; name one with --tensor"
    else:
        largest = ", ".join(_largest(tensors)) or "none"
        message = f"no tensor has the usual name of an embedding; name one with --tensor; the largest: {largest}"
    raise InputError([Problem(str(path), message)])


def _ends(name: str, endings: tuple[str, ...]) -> bool:
    return any(name == ending or name.endswith(f".{ending}") for ending in endings)


def _rows(tensor: StoredTensor) -> int:
    """Return 0 unless it is a matrix."""
    return tensor.shape[0] if len(tensor.shape) == 2 else 0  # noqa: PLR2004 - rows and columns


def _equal(one: StoredTensor, other: StoredTensor) -> bool:
    if one.shape != other.shape:
        return False
    return all(np.array_equal(block, again) for block, again in zip(blocks(one), blocks(other), strict=True))
