"""Reading text files strictly, and cutting them into documents."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tokbench.errors import InputError, Problem

__all__ = ["Cut", "group_name", "paragraphs", "read_documents", "require_files"]

Cut = Literal["file", "line", "paragraph"]

_PARAGRAPH_BREAK = re.compile(r"\r?\n(?:[ \t]*\r?\n)+")


def require_files(pattern: Path) -> list[Path]:
    """The files that match a path or a glob pattern, sorted.

    Raises:
        InputError: there is none.
    """
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True))  # noqa: PTH207 - absolute
    files = [path for path in found if path.is_file()]
    if not files:
        msg = f"no file matches {str(pattern)!r}; relative paths start at the configuration file's folder"
        raise InputError(msg)
    return files


def read_documents(path: Path, how: Cut) -> Iterator[tuple[int, str]]:
    r"""Documents of a text file with the number of the line they begin at; empty ones are left out.

    A line is what ends in LF or CRLF, without that end; lines are read one by one, so a file may be
    larger than the memory. Paragraphs are parted by blank lines. A whole file is left as it is, line
    ends and a byte order mark included.

    Raises:
        InputError: the file cannot be read, or is not UTF-8; then with the offset of the first bad byte.
    """
    try:
        if how == "line":
            yield from _lines(path)
        else:
            text = _decoded(path, path.read_bytes(), 0)
            yield from paragraphs(text) if how == "paragraph" else [(1, text)] if text else []
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be read: {error.strerror}")]) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = _decoded(path, line, offset).removesuffix("\n").removesuffix("\r")
            offset += len(line)
            if text:
                yield number, text


def _decoded(path: Path, data: bytes, offset: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = (
            f"not UTF-8: byte 0x{data[error.start]:02x} at offset {offset + error.start} ({error.reason}); "
            "convert the file, for example with: iconv -f LATIN1 -t UTF-8"
        )
        raise InputError([Problem(str(path), msg)]) from error


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    r"""The paragraphs of a text, and the numbers of the lines they begin at.

    >>> list(paragraphs("a\nb\n\n\nc\n"))
    [(1, 'a\nb'), (5, 'c')]
    """
    number, start = 1, 0
    for gap in [*_PARAGRAPH_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        paragraph = text[start:end].removesuffix("\n").removesuffix("\r")
        if paragraph.strip():
            yield number, paragraph
        if gap:
            number += text.count("\n", start, gap.end())
            start = gap.end()


def group_name(template: str, path: Path, fields: dict[str, object] | None = None) -> str:
    """The group of a document from a template such as ``{stem}``.

    Raises:
        KeyError: the template names a field that is not there.

    >>> group_name("{stem}", Path("texts/en.txt"))
    'en'
    """
    names = {"stem": path.stem, "name": path.name, "suffix": path.suffix[1:], "parent": path.parent.name}
    return template.format_map({**(fields or {}), **names})
