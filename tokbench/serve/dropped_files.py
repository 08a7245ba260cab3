"""The kinds of tokenizer files that can be dropped into the page, recognized by their names and their first bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tokbench.foundation.errors import InputError, Problem

_READ: Final = "tokenizer.json, .tiktoken, .model, vocab.txt, .bpe.json and .pieces.json"

_HEAD: Final = 4096
_RANKS: Final = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]+\r?\n")
_OWN_KIND: Final = re.compile(r'"kind"\s*:\s*"(\w+)"')


def backend_of(name: str, content: Path) -> tuple[str, str]:
    r"""Return the backend that reads a file, and its option that names the file.

    A ``.model`` holds SentencePiece's model, or the ranks of tiktoken, as the files of Llama 3 do.

    Args:
        name: the name of the file.
        content: where it lies.

    Raises:
        InputError: no backend reads such a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "x")
    ...     _ = path.write_bytes(b"IQ== 0\nIg== 1\n")
    ...     backend_of("cl100k_base.tiktoken", path), backend_of("tokenizer.model", path)
    (('tiktoken', 'path'), ('tiktoken', 'path'))
    """
    with content.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise InputError([Problem(name, "the file is empty")])
    if name.endswith(".json"):
        return _json_backend(name, head), "path"
    if name.endswith(".txt"):
        return "huggingface", "vocab_txt"
    if name.endswith((".tiktoken", ".model")):
        ranks = name.endswith(".tiktoken") or _RANKS.match(head)
        return ("tiktoken" if ranks else "sentencepiece"), "path"
    raise InputError([Problem(name, f"no backend reads a file of this name; files that are read: {_READ}")])


def _json_backend(name: str, head: bytes) -> str:
    start = head.decode("utf-8", "replace")
    if start.lstrip().startswith("{") and "tokbench-" in start and (kind := _OWN_KIND.search(start)):
        return kind[1]
    if not start.lstrip().startswith("{"):
        raise InputError([Problem(name, f"this is not a JSON object; files that are read: {_READ}")])
    if re.match(r'\s*\{\s*"config"\s*:', start):
        message = "this looks like a Tekken file, which no backend loads by path; open mistral:tekken_240911 instead"
        raise InputError([Problem(name, message)])
    return "huggingface"
