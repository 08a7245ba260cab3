"""``.tiktoken`` files: for each token a line with its bytes in base64 and its id, which is also its rank.

A vocabulary can be written if its ranks imply exactly its merges. An export writes the split to a second file,
``NAME.tiktoken.pattern``; published files are recognised by their hash. A line ``= 50256``, as in OpenAI's file for
Whisper, is an empty token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file, write_atomically
from tokbench.tokenizers.backend import FileKind
from tokbench_plugins.bpe.formats.conditions import check_format
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import NAMED, PATTERNS, resolve_pattern
from tokbench_plugins.bpe.vocabulary import Vocabulary, check_bytes

_RANK: Final = re.compile(rb"-?[0-9]{1,7}")  # int() also takes '+1' and '1_0'; no vocabulary has 10⁷ tokens
_SHOWN: Final = 40
RANKS_FILES: Final = (
    FileKind(".tiktoken"),
    FileKind(marks=r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==) [0-9]+\r?\n"),
)
"""Files of ranks; a ``.model`` may be one, too, as in Llama 3."""

_EMPTY: Final = b"="  # base64 has no letters for no bytes

DEFAULT_SPLIT: Final = "gpt4"
_ASSUMED: Final = f"caution: split {DEFAULT_SPLIT} assumed: the file names none; set pattern"
_PUBLISHED: Final = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": "gpt2",  # r50k_base, of GPT-2 and GPT-3
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": "gpt2",  # p50k_base, of Codex
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "gpt4",  # cl100k_base
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k",  # o200k_base
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": "gpt4",  # Llama 3's tokenizer.model
    "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103": NAMED["kimi"],  # Kimi K2's and K3's
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": "o200k",  # Llama 4's tokenizer.model
}
"""The splits of published files, by their sha256."""


class RanksFile(NamedTuple):
    """Ranks, and the split that goes with them."""

    ranks: dict[bytes, int]
    pattern: str
    """A name or a regular expression."""
    notes: tuple[str, ...]
    """Has a note if the split is only assumed."""


def read_ranks_file(path: Path, pattern: str | None = None) -> RanksFile:
    """Read a file of ranks and its split: the requested, the published, or the exported one."""
    ranks = read_ranks(path)
    pattern = pattern or known_split(path)
    return RanksFile(ranks, pattern or DEFAULT_SPLIT, () if pattern else (_ASSUMED,))


def known_split(path: Path) -> str | None:
    """Return the split of a published or an exported file; ``None`` if it is not known."""
    return _PUBLISHED.get(_sha256(path)) or read_pattern(path)


def _sha256(path: Path) -> str:
    return hashlib.sha256(read_file(path)).hexdigest()


def _pattern_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.pattern")


def read_pattern(path: Path) -> str | None:
    """Return the split that was exported with a file; ``None`` if there is none, or it is of an earlier export."""
    file = _pattern_file(path)
    try:
        sha256, _, pattern = read_file(file).decode().partition("\n") if file.exists() else ("", "", "")
        return resolve_pattern(pattern) if sha256 == _sha256(path) else None
    except ValueError as error:
        raise BackendError(f"{file}: {error}") from error


def write_pattern(path: Path, pattern: str | None) -> None:
    """Write the split of a file, after the file's sha256; it matches all text, because tiktoken drops gaps."""
    expression = r"[\s\S]+" if pattern is None else resolve_pattern(pattern)
    if pattern is not None and expression not in PATTERNS.values():
        expression = rf"{expression}|(?:(?!{expression})[\s\S])+"
    write_expression(path, expression)


def write_expression(path: Path, expression: str) -> None:
    """Write the regular expression of a file, after the file's sha256."""
    write_atomically(_pattern_file(path), f"{_sha256(path)}\n{expression}".encode())


def read_ranks(path: Path) -> dict[bytes, int]:
    """Return the tokens of a file and their ranks, an empty token included."""
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(read_file(path, text=True).splitlines(), 1):
        if not line:
            continue
        try:
            token, rank = line.split()
            data, value = _token(token), _rank(rank)
        except ValueError:
            start = line[:_SHOWN].decode("utf-8", errors="replace")
            raise BackendError(
                f"{path}:{number}: not a base64 token and its rank: {start!r}; get the file again, or delete the line"
            ) from None
        if data in ranks or value in taken or value < 0:
            raise BackendError(
                f"{path}:{number}: token {data!r} or rank {value} is invalid or there twice; get the file again"
            )
        ranks[data] = value
        taken.add(value)
    try:
        check_bytes(ranks)
    except ValueError as error:
        raise BackendError(f"{path}: {error}") from error
    return ranks


def _token(letters: bytes) -> bytes:
    return b"" if letters == _EMPTY else binascii.a2b_base64(letters, strict_mode=True)


def _rank(digits: bytes) -> int:
    if not _RANK.fullmatch(digits):
        raise ValueError(digits)
    return int(digits)


def write_ranks(path: Path, ranks: Mapping[bytes, int]) -> None:
    """Write a file, whole or not at all, replacing an existing one."""
    by_rank = sorted(ranks.items(), key=lambda entry: entry[1])
    lines = (b"%s %d\n" % (base64.b64encode(token) or _EMPTY, rank) for token, rank in by_rank)
    write_atomically(path, b"".join(lines))


def ranks_of(vocabulary: Vocabulary, pattern: str | None = None) -> dict[bytes, int]:
    """Return the ranks from which tiktoken gets the ids of a vocabulary, if it splits by the pattern."""
    check_format("tiktoken", Parts(vocabulary, pattern))
    return vocabulary.ranks if vocabulary.empty_id is None else vocabulary.ranks | {b"": vocabulary.empty_id}
