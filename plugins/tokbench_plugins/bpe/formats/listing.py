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
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file, write_atomically
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import pattern_name, resolve_pattern
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import Merge, Vocabulary

_HEADER: Final = re.compile(r'# tokbench listing 1: \d+ ids, \d+ merges, split (null|".*")')
_LINE: Final = re.compile(r'(?:(byte|whole|token|special) +(\d{1,7})|merge +(\d{1,7}) = (\d{1,7}) (\d{1,7})) +(".*")')
_ESCAPE: Final = re.compile(rb"\\x([0-9a-f]{2})")
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


def unquoted(text: str) -> bytes:
    r"""Return the bytes that :func:`quoted` shows.

    >>> unquoted(r'"na\xc3\xafve\x0a"')
    b'na\xc3\xafve\n'
    """
    return _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), text[1:-1].encode())


def read_listing(path: Path) -> Parts:
    """Read a listing."""
    lines = read_file(path, text=True).decode("utf-8", errors="replace").split("\n")
    header = _HEADER.fullmatch(lines[0])
    if header is None:
        raise BackendError(f"{path}:1: {lines[0][:40]!r} does not begin a listing of version 1; write it anew")
    tokens: dict[int, bytes] = {}
    merges: list[Merge] = []
    of_kind: dict[str, list[int]] = {kind: [] for kind in ("byte", "whole", "token", "special")}
    for number, line in enumerate(lines[1:-1], 2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BackendError(f"{path}:{number}: {line[:40]!r} is not a line of a listing; write it anew")
        kind, token_id, made, left, right, shown = match.groups()
        if kind:
            of_kind[kind].append(int(token_id))
        else:
            merges.append((int(left), int(right), int(made)))
        key = int(token_id or made)
        if tokens.setdefault(key, unquoted(shown)) != unquoted(shown):
            raise BackendError(f"{path}:{number}: id {key} is also that of {tokens[key]!r}; write the listing anew")
    try:
        special = {tokens.pop(token_id).decode(): token_id for token_id in of_kind["special"]}
        ordinary = tuple(tokens.get(i, b"") for i in range(max(tokens, default=-1) + 1))
        vocabulary = Vocabulary(ordinary, tuple(of_kind["byte"]), tuple(merges), frozenset(of_kind["whole"]))
        pattern = None if header[1] == "null" else resolve_pattern(json.loads(header[1]))
        parts = Parts(vocabulary, pattern, SpecialTokens(special, ordinary))
    except ValueError as error:
        raise BackendError(f"{path}: {error}; write the listing anew") from error
    if (whole := next(_lines(parts))) != lines[0]:
        raise BackendError(f"{path}:1: says {lines[0]!r}, but what follows is {whole!r}; write the listing anew")
    return parts
