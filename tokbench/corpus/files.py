"""Reading text files strictly, and cutting them into documents."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tokbench.errors import InputError, Problem

__all__ = ["Cut", "cut", "group_name", "read_utf8", "require_files"]

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


def read_utf8(path: Path) -> str:
    """The text of a file, line ends and a byte order mark as they are.

    Raises:
        InputError: the file cannot be read, or is not UTF-8; then with the offset of the first bad byte.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be read: {error.strerror}")]) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = (
            f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} ({error.reason}); "
            "convert the file, for example with: iconv -f LATIN1 -t UTF-8"
        )
        raise InputError([Problem(str(path), msg)]) from error


def cut(text: str, how: Cut) -> Iterator[tuple[int, str]]:
    r"""Documents of a text with the number of the line they begin at; empty ones are left out.

    A line is what ends in LF or CRLF, without that end. Paragraphs are parted by blank lines.

    >>> list(cut("a\r\n\nb", "line"))
    [(1, 'a'), (3, 'b')]
    >>> list(cut("a\nb\n\n\nc\n", "paragraph"))
    [(1, 'a\nb'), (5, 'c')]
    >>> list(cut("a\nb\n", "file"))
    [(1, 'a\nb\n')]
    """
    if how == "file":
        if text:
            yield 1, text
    elif how == "line":
        for number, line in enumerate(text.split("\n"), 1):
            stripped = line.removesuffix("\r")
            if stripped:
                yield number, stripped
    else:
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
