r"""A readable vocabulary: one token per line, in order of creation.

::

    # tokbench listing 1: 258 ids, 2 merges, split "gpt4"
    byte  104                    "h"
    merge 256 = 104 105          "hi"
    merge 257 = 256 33           "hi!"
    special 258                  "<|endoftext|>"

A token is shown between quotes, and what is not visible text as bytes, ``\xc3``.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokbench.foundation.files import write_atomically
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import pattern_name, resolve_pattern

_COLUMN: Final = 28


def write_listing(path: Path, parts: Parts) -> None:
    """Write a listing, whole or not at all."""
    write_atomically(path, "".join(f"{line}\n" for line in _lines(parts)).encode())


def _lines(parts: Parts) -> Iterator[str]:
    vocabulary = parts.vocabulary
    empty_id = vocabulary.empty_id
    ids = sum(map(bool, vocabulary.tokens)) + (empty_id is not None) + len(parts.special)
    split = json.dumps(None if parts.pattern is None else pattern_name(resolve_pattern(parts.pattern)))
    yield f"# tokbench listing 1: {ids} ids, {len(vocabulary.merges)} merges, split {split}"
    for token_id in vocabulary.byte_ids:
        yield _line(f"byte  {token_id}", vocabulary.tokens[token_id])
    for left, right, made in vocabulary.merges:
        yield _line(f"merge {made} = {left} {right}", vocabulary.tokens[made])
    built = {*vocabulary.byte_ids, *(made for _, _, made in vocabulary.merges)}
    for token_id, token in enumerate(vocabulary.tokens):
        if token_id in vocabulary.whole_chunks:
            yield _line(f"whole {token_id}", token)
        elif (token or token_id == empty_id) and token_id not in built:
            yield _line(f"token {token_id}", token)
    for name, token_id in parts.special.ids.items():
        yield _line(f"special {token_id}", name.encode())


def _line(start: str, token: bytes) -> str:
    return f"{start:<{_COLUMN}} {quoted(token)}"


def quoted(token: bytes) -> str:
    r"""Return the bytes between quotes; what is not visible text as ``\x`` and two digits.

    >>> print(quoted(b" na\xc3\xafve\n"), quoted(b"\xc3"), quoted(b'"\\'))
    " naïve\x0a" "\xc3" "\x22\x5c"
    """
    shown: list[str] = []
    for character in token.decode("utf-8", errors="surrogateescape"):
        first = not shown and unicodedata.category(character).startswith("M")
        if character in '"\\' or not character.isprintable() or first:
            shown += [f"\\x{byte:02x}" for byte in character.encode("utf-8", errors="surrogateescape")]
        else:
            shown.append(character)
    return f'"{"".join(shown)}"'
