"""Reads text files, and cuts them into documents."""

from __future__ import annotations

import os
import re
import string
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, Field

from tokbench.corpus.contract import Document
from tokbench.corpus.document_limit import DOCUMENT_LIMIT, too_long
from tokbench.corpus.languages import did_you_mean_group
from tokbench.corpus.programs import programming_language
from tokbench.foundation.compressed import opened, plain_name
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.files import not_text
from tokbench.foundation.parsing import TextError, decode_utf8
from tokbench.sources.faults import EMPTY, Errors, Faults, kind_of_path, readable_name
from tokbench.sources.remote_files import fetch
from tokbench.tokenizers.options import FilesPath, Options

Cut = Literal["file", "line", "paragraph"]

_HEAD: Final = 8192

_PIECE: Final = 1 << 20
"""Bytes of a read, so that a limit applies before memory is used."""

_PARAGRAPH_BREAK = re.compile(r"\r?\n(?:[ \t]*\r?\n)+")


class FileChoice(Options):
    """Options that choose among the files that match a path."""

    endings: tuple[str, ...] = Field(
        default=(), description="endings of the files to read, such as [txt, md]; default: all"
    )
    leave_out: tuple[str, ...] = Field(
        default=(), description="files to leave out: ends of their paths, such as [es/notes.txt, draft*]"
    )

    def chosen(self, paths: Sequence[Path], pattern: Path | str) -> list[Path]:
        """Return the chosen files; an InputError that names the pattern if none is chosen."""
        endings = {ending.lower().removeprefix(".") for ending in self.endings}
        taken = [path for path in paths if not endings or plain_name(path).suffix[1:].lower() in endings]
        taken = [path for path in taken if not any(path.match(part) for part in self.leave_out)]
        if not taken:
            files = f"{len(paths):,} files" if len(paths) > 1 else "1 file"
            msg = f"{files} match {str(pattern)!r}, and 'endings' and 'leave_out' leave none of them"
            raise InputError([Problem("", msg)])
        return taken


def find_files(pattern: Path | str, get: str = "", faults: Faults | None = None) -> list[Path]:
    """Return the files that match a path or a glob pattern, or copies of the files of an address, sorted.

    An existing name with ``[``, ``*`` or ``?`` is that file or folder. ``**`` goes into no folder that is a symbolic
    link, and a file with several names is read once. The error if no file matches ends with ``get``, the command that
    gets the files. ``faults`` learns what matches and is neither a file nor a folder, such as a link to nothing.
    """
    if isinstance(pattern, str):
        return fetch(pattern)
    taken: dict[str, Path] = {}
    matching = sorted(_matches(pattern), key=lambda path: (path.is_symlink(), path))
    for path in filter(Path.is_file, matching):
        taken.setdefault(os.path.realpath(path), path)
    others = [path for path in matching if not path.is_file()]
    if not taken:
        start = "a relative path starts at the configuration file, or without one at the current folder"
        advice = f"get the files with: {get}" if get else start
        found = f"{str(others[0])!r} is {kind_of_path(others[0])}, and not a file" if others else ""
        raise InputError(f"{found or f'no file matches {str(pattern)!r}'}; {advice}")
    for path in others:
        if faults and not path.is_dir():
            faults.add(f"{kind_of_path(path)}, left out", readable_name(path))
    return sorted(taken.values())


def _matches(pattern: Path) -> Iterator[Path]:
    """Yield what a pattern matches below the last folder that exists; hidden names match only if they are written."""
    known = (path for path in (pattern, *pattern.parents) if os.path.lexists(path))
    start = next(known, Path())
    parts = [part if part == "**" else re.sub(r"\*\*+", "*", part) for part in pattern.relative_to(start).parts]
    if not parts:
        yield start
        return
    hidden = any(part.startswith(".") for part in parts)
    for path in start.glob("/".join([*parts, "*"] if parts[-1] == "**" else parts)):
        if hidden or not any(part.startswith(".") for part in path.relative_to(start).parts):
            yield path


MANY_FILES: Final = 300
"""With more files, a file is not a group by default."""

ONE_GROUP: Final = "files"
"""Not a language code."""


class CutText(NamedTuple):
    """A part of a file that is one document."""

    line: int
    """Of its first line."""
    text: str
    """Without its line end."""
    end: str = ""
    """The line ends up to the next document, or LF."""


def read_documents(path: Path, how: Cut, most: int = DOCUMENT_LIMIT, faults: Faults | None = None) -> Iterator[CutText]:
    """Yield the documents of a text file; empty documents are left out.

    A file whose name ends in .gz or .zst is decompressed. Lines end in LF or CRLF, which is removed. Paragraphs are
    separated by blank lines. A whole file keeps its line ends and byte order mark.

    Raises:
        InputError: a line, or a whole file, has more than ``most`` bytes, or the file cannot be read, or is not UTF-8
            (unless ``faults`` mends it), with line and column.
    """
    if how == "line":
        yield from _lines(path, most, faults)
        return
    with opened(path) as file:
        data = bytearray()
        while piece := file.read(_PIECE):
            data += piece
            if len(data) > most:
                raise too_long(f"{path}:1", most)
    text = _decoded(path, data, faults)
    del data
    yield from paragraphs(text) if how == "paragraph" else [CutText(1, text)] if text else []


def _lines(path: Path, most: int, faults: Faults | None) -> Iterator[CutText]:
    last, blank = None, ""
    for number, line in numbered_lines(path, most, faults):
        text = line.removesuffix("\n").removesuffix("\r")
        if not text:
            blank += line
            continue
        if last:
            yield last._replace(end=last.end + blank) if blank else last
        last, blank = CutText(number, text, line[len(text) :] or "\n"), ""
    if last:
        yield last


def numbered_lines(path: Path, most: int = DOCUMENT_LIMIT, faults: Faults | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file, line ends included, and their numbers from 1; raises as above."""
    with opened(path) as file:
        number = 1
        while line := file.readline(_PIECE):
            is_cut = len(line) == _PIECE and not line.endswith(b"\n")
            whole = _long_line(file, line, f"{path}:{number}", most) if is_cut else line
            text = _decoded(path, whole, faults, number)
            del line, whole  # they need not wait with the text
            yield number, text
            number += 1


def _long_line(file: IO[bytes], begin: bytes, where: str, most: int) -> bytearray:
    line = bytearray(begin)
    while not line.endswith(b"\n") and (piece := file.readline(_PIECE)):
        line += piece
        if len(line) > most:
            raise too_long(where, most)
    return line


def _decoded(path: Path, data: bytes | bytearray, faults: Faults | None, line: int = 1) -> str:
    try:
        return decode_utf8(data)
    except TextError as error:
        return (faults or Faults()).mended(data, _not_utf8(path, error.at(readable_name(path), line)))


def _not_utf8(path: Path, fault: Problem) -> Problem:
    """Return the problem with its remedy; an InputError if the file is not text."""
    with opened(path) as file:
        kind = not_text(file.read(_HEAD))
    if kind:
        remedy = "convert it with: iconv -f UTF-16 -t UTF-8" if "text" in kind else "let 'path' name text files alone"
        raise InputError([Problem(readable_name(path), f"is {kind}, and not text in UTF-8; {remedy}")])
    return Problem(fault.where, f"{fault.message}; mend the file with: iconv -c -f UTF-8 -t UTF-8")


def paragraphs(text: str) -> Iterator[CutText]:
    r"""Yield the paragraphs of a text.

    >>> [tuple(paragraph) for paragraph in paragraphs("a\nb\n\n\nc")]
    [(1, 'a\nb', '\n\n\n'), (5, 'c', '\n')]
    """
    number, start = 1, 0
    for gap in [*_PARAGRAPH_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        paragraph = text[start:end].removesuffix("\n").removesuffix("\r")
        if gap and gap.end() < len(text):
            line_end = gap.group()
        else:
            line_end = text[start + len(paragraph) :].partition("\n")[0] + "\n"
        if paragraph.strip():
            yield CutText(number, paragraph, line_end)
        if gap:
            number += text.count("\n", start, gap.end())
            start = gap.end()


def file_names(path: Path) -> dict[str, object]:
    """Return the names for templates of a file; the stem has neither ``.gz`` nor ``.zst``.

    Dots and underscores separate its parts; ``first`` and ``last`` are its ends.

    >>> file_names(Path("pud/en.conllu.gz"))
    {'stem': 'en', 'name': 'en.conllu.gz', 'suffix': 'conllu', 'parent': 'pud', 'first': 'en', 'last': 'en'}
    >>> file_names(Path("newstest2019-ref.zho-CN.txt"))["last"], file_names(Path("de_pud-ud-test.conllu"))["first"]
    ('zho-CN', 'de')
    """
    path = Path(readable_name(path))
    plain = plain_name(path)
    parts = re.split("[._]", plain.stem)
    names = {"stem": plain.stem, "name": path.name, "suffix": plain.suffix[1:], "parent": path.parent.name}
    return {**names, "first": parts[0], "last": parts[-1]}


def group_names(path: Path) -> dict[str, object]:
    """Return the names for the group template of a file; ``language`` is by the suffix, or the suffix."""
    names = file_names(path)
    suffix = str(names["suffix"])
    return {**names, "language": programming_language(suffix) or suffix}


def check_template(template: str, known: Collection[str] = ()) -> str:
    """Return the template of a group such as ``{lang}-{meta[source]}``, if it only inserts ``known`` fields, or any.

    Raises:
        ValueError: a field is unknown, reaches into an object, or is to be converted or padded.
    """
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(
            f"{template!r} has a brace without its partner; write {{{{ or }}}} for a brace itself"
        ) from error
    for _, name, form, conversion in parts:
        if name is None:
            continue
        field = re.fullmatch(r"([^.\[\]]+)((?:\[[^.\[\]]+\])*)", name)
        if form or conversion:
            message = f"must insert fields as they are: remove what follows : or ! inside {{{name}}}"
            raise ValueError(f"{template!r} {message}")
        if not field or (known and (field[1] not in known or field[2])):
            listed = ", ".join(f"{{{name}}}" for name in known)
            message = f"may hold {listed} only" if known else "may hold {field} and {field[key]} only"
            raise ValueError(f"{template!r} {message}, and not {{{name}}}")
    return template


def _of_file_names(template: str) -> str:
    return check_template(template, list(group_names(Path("a/b.c"))))


FileGroup = Annotated[str, AfterValidator(_of_file_names)]
"""Of all documents of a file, such as ``{stem}``."""

RowGroup = Annotated[str, AfterValidator(check_template)]
"""Of a row with fields, such as ``{lang}``."""


class PathOptions(FileChoice):
    """Options of a source of files."""

    path: FilesPath = Field(description="a file, a glob pattern or an address; .gz and .zst are unpacked")
    group: str
    licence: str = Field(default="", description="licence of the texts, recorded in the results")
    errors: Errors = Field(
        default="strict", description="what is not UTF-8: strict (an error), replace (by U+FFFD) or skip (left out)"
    )
    get: Annotated[str, Field(description="the command that downloads the files, shown if they are missing")] = ""


class GroupedFileOptions(PathOptions):
    """Options of a source of files that have a group each."""

    group: FileGroup = Field(
        default="{stem}",
        description="group name from {stem}, {first}, {last}, {name}, {suffix}, {parent}, {language} (of programs)",
    )
    groups: tuple[str, ...] = Field(default=(), description="groups to read, such as [en, de]; default: all")


class SourceFiles(ABC):
    """The chosen files of a source in the order of their names, and the template of their groups.

    By default very many files are one group; a note says so. A source adds ``documents_of`` a file.
    """

    document_limit = DOCUMENT_LIMIT

    def __init__(self, options: PathOptions) -> None:
        self._path, self.licence = options.path, options.licence
        self._unread, self.faults = Faults(), Faults(options.errors)
        self._paths = options.chosen(find_files(options.path, options.get, self._unread), options.path)
        self._group, self._group_notes = options.group, list[str]()
        if len(self._paths) > MANY_FILES and options.model_fields_set.isdisjoint({"group", "groups"}):
            why = f"{len(self._paths):,} files are one group, {ONE_GROUP!r}, because 'group' is not given"
            self._group_notes = [f"{why}; for a group of each file write group: '{self._group}'"]
            self._group = ONE_GROUP

    @property
    def notes(self) -> Sequence[str]:
        """For the reader of the results, after a reading."""
        return [*self._group_notes, *self._unread.notes, *self.faults.notes]

    def documents(self) -> Iterator[Document]:
        self.faults = Faults(self.faults.errors)
        for path in self._paths:
            number = 0
            for number, document in enumerate(self.documents_of(path), 1):  # noqa: B007
                yield document
            if not number:
                self.faults.add(EMPTY, readable_name(path))

    @abstractmethod
    def documents_of(self, path: Path) -> Iterator[Document]:
        """Yield the documents of a file."""

    @property
    def files(self) -> Sequence[Path]:
        return [] if isinstance(self._path, str) else self._paths


class GroupedFilesSource(SourceFiles):
    """The files of a source with a group each.

    Raises:
        InputError: a wanted group has no file.
    """

    def __init__(self, options: GroupedFileOptions) -> None:
        super().__init__(options)
        files = [(path, self._group.format_map(group_names(path))) for path in self._paths]
        groups, wanted = {group for _, group in files}, options.groups
        if lacking := [name for name in wanted if name not in groups]:
            start = f"no file of {str(options.path)!r} gives the group"
            raise InputError([Problem("", f"{start} {name!r}; {did_you_mean_group(name, groups)}") for name in lacking])
        self._files = [(path, group) for path, group in files if not wanted or group in wanted]
        self._paths = [path for path, _ in self._files]
        self._group_of = dict(self._files)
