"""Cuts the text of a file into documents: lines, paragraphs, or the whole."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from tokbench.corpus.contract import too_long
from tokbench.foundation.parsing import TextError, decode_utf8
from tokbench.text.encodings import Recoded
from tokbench.text.faults import Faults, readable_name
from tokbench.text.formats import Format, format_of, refuse_zeros
from tokbench.text.opening import BUFFER, STDIN, STDIN_NAME, ByteStream, opened

Cut = Literal["file", "line", "paragraph"]

_PIECE: Final = 1 << 20
"""Bytes of a read, so that a limit applies before memory is used."""

_PARAGRAPH_BREAK = re.compile(r"\r?\n(?:[ \t]*\r?\n)+")


class CutText(NamedTuple):
    """A part of a file that is one document."""

    line: int
    """Of its first line."""
    text: str
    """Without its line end."""
    end: str = ""
    """The line ends up to the next document, as they are in the file."""


@dataclass
class TextReader:
    """An opened file of text."""

    file: ByteStream
    place: str
    """The name of the file in errors."""
    most: int = sys.maxsize
    """Bytes of a document; a run has a limit."""
    faults: Faults = field(default_factory=Faults)
    head: bytes = b""
    """Where it begins."""
    form: Format = "text"
    path: Path | None = None
    """Where it is, if it is not packed."""

    def documents(self, how: Cut) -> Iterator[CutText]:
        """Yield the documents; empty ones are left out.

        Lines end in LF or CRLF, which is removed. Paragraphs are separated by blank lines. A whole file keeps its line
        ends and byte order mark.

        Raises:
            InputError: a document is too long, or is not UTF-8 (unless ``faults`` mends it), with line and column.
        """
        if how == "line":
            yield from self._line_documents()
            return
        data = bytearray()
        while piece := self.file.read(_PIECE):
            data += piece
            if len(data) > self.most:
                raise too_long(f"{self.place}:1", self.most)
        text = self._decoded(data)
        del data
        yield from paragraphs(text) if how == "paragraph" else [CutText(1, text)] if text else []

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines, line ends included, and their numbers from 1; raises as above."""
        number = 1
        while line := self.file.readline(_PIECE):
            is_cut = len(line) == _PIECE and not line.endswith(b"\n")
            whole = self._long_line(line, number) if is_cut else line
            text = self._decoded(whole, number)
            del line, whole  # they need not wait with the text
            yield number, text
            number += 1

    def _line_documents(self) -> Iterator[CutText]:
        last, blank = None, ""
        for number, line in self.lines():
            text = line.removesuffix("\r\n" if line.endswith("\r\n") else "\n")
            if not text:
                blank += line
                continue
            if last:
                yield last._replace(end=last.end + blank) if blank else last
            last, blank = CutText(number, text, line[len(text) :]), ""
        if last:
            yield last._replace(end=last.end + blank)

    def _long_line(self, begin: bytes, number: int) -> bytearray:
        line = bytearray(begin)
        while not line.endswith(b"\n") and (piece := self.file.readline(_PIECE)):
            line += piece
            if len(line) > self.most:
                raise too_long(f"{self.place}:{number}", self.most)
        return line

    def _decoded(self, data: bytes | bytearray, line: int = 1) -> str:
        try:
            return decode_utf8(data)
        except TextError as error:
            refuse_zeros(self.head, self.place)
            return self.faults.mended(data, error.at(self.place, line))


def shown_name(path: Path) -> str:
    """Return the name of a file in errors."""
    return STDIN_NAME if path == STDIN else readable_name(path)


@contextmanager
def reading(
    path: Path,
    form: Format | None = None,
    most: int = sys.maxsize,
    faults: Faults | None = None,
    encoding: str = "",
) -> Iterator[TextReader]:
    """Open a file of text, packed or not; an InputError if it is not text.

    ``form`` is by its content if it is not given; without ``encoding`` the text is UTF-8.
    """
    place, faults = shown_name(path), faults or Faults()
    with opened(path) as file:
        if encoding:
            file = ByteStream(Recoded(file, encoding, place, strict=faults.errors == "strict"), file)  # noqa: PLW2901
        head = file.peek(BUFFER)
        format_ = format_of(path, head, place, form)
        plain = None if file.is_packed or path == STDIN else path
        yield TextReader(file, place, most, faults, head, format_, plain)


def paragraphs(text: str) -> Iterator[CutText]:
    r"""Yield the paragraphs of a text.

    >>> [tuple(paragraph) for paragraph in paragraphs("a\nb\n\n\nc")]
    [(1, 'a\nb', '\n\n\n'), (5, 'c', '')]
    """
    number, start = 1, 0
    for gap in [*_PARAGRAPH_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        paragraph = text[start:end].removesuffix("\n").removesuffix("\r")
        line_end = gap.group() if gap else text[start + len(paragraph) :]
        if paragraph.strip():
            yield CutText(number, paragraph, line_end)
        if gap:
            number += text.count("\n", start, gap.end())
            start = gap.end()
