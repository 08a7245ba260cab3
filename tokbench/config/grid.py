"""Expands an entry with lists of values into several tokenizers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tokbench.config.model import TokenizerEntry
from tokbench.tokenizers.options import GivenOptions


class Variant(NamedTuple):
    """One tokenizer of an entry."""

    name: str
    """The name of the entry, with a suffix for every value that varies."""
    options: GivenOptions
    vocab_size: int | None
    """``None`` if it is not trained, or as large as a study can use."""


def expand(name: str, entry: TokenizerEntry) -> Iterator[Variant]:
    """Yield all combinations of the sizes and of the options under ``grid``, in the order of the file.

    >>> keys = {"backend": "sentencepiece", "grid": {"byte_fallback": (True, False)}}
    >>> keys["train"] = {"corpus": "sample", "vocab_size": [1024, 4096]}
    >>> [variant.name for variant in expand("spm", TokenizerEntry.model_validate(keys))][:3]
    ['spm-1024-byte_fallback', 'spm-1024-no-byte_fallback', 'spm-4096-byte_fallback']
    """
    sizes: tuple[int | None, ...] = (entry.train.vocab_size if entry.train else ()) or (None,)
    for size in sizes:
        for values in itertools.product(*entry.grid.values()):
            chosen = dict(zip(entry.grid, values, strict=True))
            suffixes = [str(size)] if len(sizes) > 1 else []
            suffixes += [_suffix(option, value) for option, value in chosen.items()]
            yield Variant("-".join([name, *suffixes]), entry.options | chosen, size)


def _suffix(option: str, value: Any) -> str:
    if isinstance(value, bool):
        return option if value else f"no-{option}"
    text = str(value)
    # A word like 'unigram' speaks for itself; a number or a long pattern does not.
    suffix = text if isinstance(value, str) and text.isidentifier() else f"{option}={text}"
    return re.sub(r"[^A-Za-z0-9._+=-]+", "_", suffix)[:40]
