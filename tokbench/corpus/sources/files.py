"""Reads text files strictly, and cuts them into documents."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator

from tokbench.corpus.sources.compressed import opened, plain_name
from tokbench.plugin import InputError, Problem, did_you_mean

Cut = Literal["file", "line", "paragraph"]

_PARAGRAPH_BREAK = re.compile(r"\r?\n(?:[ \t]*\r?\n)+")


def require_files(pattern: Path) -> list[Path]:
    """Return the files that match a path or a glob pattern, sorted.

    Raises:
        InputError: no file matches.
    """
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True))  # noqa: PTH207 - absolute
    files = [path for path in found if path.is_file()]
    if not files:
        raise InputError(f"no file matches {str(pattern)!r}; relative paths start at the configuration file's folder")
    return files


def grouped_files(pattern: Path, template: str, wanted: tuple[str, ...] = ()) -> list[tuple[Path, str]]:
    """Return the files that match a pattern, each with its group: of the wanted groups, or of all if none is named.

    Raises:
        InputError: no file matches, or a wanted group has no file.
    """
    files = [(path, template.format_map(file_names(path))) for path in require_files(pattern)]
    groups = {group for _, group in files}
    lacking = [name for name in wanted if name not in groups]
    if lacking:
        msg = "no file of {!r} gives the group {!r}; {}"
        raise InputError([Problem("", msg.format(str(pattern), name, did_you_mean(name, groups))) for name in lacking])
    return [(path, group) for path, group in files if not wanted or group in wanted]


def read_documents(path: Path, how: Cut) -> Iterator[tuple[int, str]]:
    r"""Yield the documents of a text file, each with the number of its first line; empty documents are left out.

    A file whose name ends in .gz or .zst is decompressed. Lines end in LF or CRLF, which is removed; they are read one
    by one, so a file may be larger than the memory. Paragraphs are separated by blank lines. A whole file is left as it
    is, line ends and a byte order mark included.

    Raises:
        InputError: the file cannot be read, or is not UTF-8: the message gives the offset of the first bad byte.
    """
    if how == "line":
        for number, line in numbered_lines(path):
            text = line.removesuffix("\n").removesuffix("\r")
            if text:
                yield number, text
        return
    with opened(path) as file:
        data = file.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(str(path), error, 0) from error
    yield from paragraphs(text) if how == "paragraph" else [(1, text)] if text else []


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file, line ends included, and their numbers from 1.

    Raises:
        InputError: the file cannot be read, or is not UTF-8: the message gives the line and the offset.
    """
    offset = 0
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise _not_utf8(f"{path}:{number}", error, offset) from error
            yield number, text
            offset += len(line)


def _not_utf8(where: str, error: UnicodeDecodeError, offset: int) -> InputError:
    msg = (
        f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {offset + error.start} ({error.reason}); "
        "convert the file, for example with: iconv -f LATIN1 -t UTF-8"
    )
    return InputError([Problem(where, msg)])


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield the paragraphs of a text, each with the number of its first line.

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


def file_names(path: Path) -> dict[str, object]:
    """Return the names that a template may use of a file; ``.gz`` and ``.zst`` are not part of stem and suffix.

    >>> file_names(Path("pud/en.conllu.gz"))
    {'stem': 'en', 'name': 'en.conllu.gz', 'suffix': 'conllu', 'parent': 'pud'}
    """
    plain = plain_name(path)
    return {"stem": plain.stem, "name": path.name, "suffix": plain.suffix[1:], "parent": path.parent.name}


def _of_file_names(template: str) -> str:
    try:
        template.format_map(file_names(Path("a/b.c")))
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"{template!r} may hold {{stem}}, {{name}}, {{suffix}} and {{parent}} only") from error
    return template


FileGroup = Annotated[str, AfterValidator(_of_file_names)]
"""A template of the group of all documents of a file, such as ``{stem}``."""
