"""GPT-2's two files: ``encoder.json``, the ids by token, and ``vocab.bpe``, the merges in order of rank.

Special tokens are the tokens of several bytes that no merge makes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file, write_atomically
from tokbench.foundation.parsing import TextError, decode_utf8
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, named_merges, names_of, vocabulary_of_names
from tokbench_plugins.bpe.formats.conditions import check_format
from tokbench_plugins.bpe.formats.json_files import ids_by_name, read_json_object
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.special import SpecialTokens

_HEADER: Final = "#version: 0.2"


def read_gpt2_files(encoder: Path, vocab: Path, pattern: str | None = "gpt2") -> Parts:
    """Return the parts of the tokenizer in the two files; ``pattern`` is the split, which they do not contain."""
    content, merges = read_json_object(encoder), _read_merges(vocab)
    try:
        ids = ids_by_name(content, "the content")
        made = {left + right for left, right in merges.values()}
        made.add("")  # an id that is not used
        special = {name: i for name, i in ids.items() if name not in made and name not in BYTE_TO_CHARACTER}
        ordinary = {name: i for name, i in ids.items() if name not in special}
        lines = list(merges)
        vocabulary = vocabulary_of_names(ordinary, merges.values(), lambda rank: f"{vocab}:{lines[rank]}")
        return Parts(vocabulary, pattern, SpecialTokens(special, vocabulary.tokens))
    except ValueError as error:
        raise BackendError(f"{encoder}: {error}; do the two files belong together?") from error


def _read_merges(path: Path) -> dict[int, tuple[str, str]]:
    try:
        lines = decode_utf8(read_file(path, text=True)).split("\n")
    except TextError as error:
        raise BackendError(f"{error.at(path)}; get the file again") from error
    if len(lines) > 1 and lines[-1] == "":
        lines.pop()
    merges = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#version"):
            continue
        match line.rstrip("\r").split(" "):
            case [left, right] if left and right:
                merges[number] = left, right
            case _:
                raise BackendError(
                    f"{path}:{number}: {line[:40]!r} is not two tokens; is it a vocab.bpe or merges.txt?"
                )
    return merges


def write_gpt2_files(encoder: Path, vocab: Path, parts: Parts) -> None:
    """Write both files, each whole or not at all; they do not contain the pattern."""
    try:
        check_format("gpt2", parts)
    except ValueError as error:
        raise BackendError(f"{encoder}: cannot be written as encoder.json: {error}") from error
    by_id = dict(sorted((names_of(parts) | dict(parts.special.ids)).items(), key=lambda entry: entry[1]))
    lines = [_HEADER, *(f"{left} {right}" for left, right in named_merges(parts.vocabulary)), ""]
    # The merges first: an encoder.json whose merges are missing would be taken for all special tokens.
    write_atomically(vocab, "\n".join(lines).encode())
    write_atomically(encoder, json.dumps(by_id).encode("ascii"))
