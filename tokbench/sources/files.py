"""The options and the base of sources that read files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from tokbench.corpus.contract import DOCUMENT_LIMIT, Document
from tokbench.corpus.languages import did_you_mean_group
from tokbench.foundation.errors import InputError, Problem
from tokbench.text.cuts import TextReader, reading
from tokbench.text.faults import EMPTY, Errors, Faults, readable_name
from tokbench.text.find import ONE_GROUP, file_groups, find_files
from tokbench.text.formats import Format
from tokbench.text.opening import plain_name
from tokbench.text.templates import FILE_FIELDS, check_template, file_group
from tokbench.tokenizers.options import FilesPath, Options


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


def _of_file_names(template: str) -> str:
    return check_template(template, FILE_FIELDS)


FileGroup = Annotated[str, AfterValidator(_of_file_names)]
"""Of all documents of a file, such as ``{stem}``."""

RowGroup = Annotated[str, AfterValidator(check_template)]
"""Of a row with fields, such as ``{lang}`` or ``{meta.lang}``."""


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
        default="",
        description="group name from {stem}, {first}, {last}, {name}, {suffix}, {parent}, {language} (of programs); "
        "default: the natural or programming language that a file's name tells, and one group for all other files",
    )
    groups: tuple[str, ...] = Field(default=(), description="groups to read, such as [en, de]; default: all")


class SourceFiles(ABC):
    """The chosen files of a source in the order of their names. A source adds ``documents_of`` a file."""

    form: Format = "text"
    document_limit = DOCUMENT_LIMIT
    parallel = False

    def __init__(self, options: PathOptions) -> None:
        self._path, self.licence = options.path, options.licence
        self._unread, self.faults = Faults(), Faults(options.errors)
        self._paths = options.chosen(find_files(options.path, options.get, self._unread), options.path)
        self._group, self._wanted = options.group, tuple[str, ...]()

    @cached_property
    def _group_of(self) -> dict[Path, str]:
        """The groups of files by the template, or by :func:`file_groups`; in parallel text every file has one."""
        if self._group:
            return {path: file_group(self._group, path, readable_name(path)) for path in self._paths}
        stems = bool(self._wanted) and ONE_GROUP not in self._wanted
        return file_groups(self._paths, programs=self.form == "text", each=self.parallel or stems)

    @property
    def notes(self) -> Sequence[str]:
        """For the reader of the results, after a reading."""
        return [*self._group_notes(), *self._unread.notes, *self.faults.notes]

    def _group_notes(self) -> Iterator[str]:
        others = 0 if self._group else sum(group == ONE_GROUP for group in self._group_of.values())
        if others:
            why = f"{others:,} files are one group, {ONE_GROUP!r}, because their names tell no language"
            yield f"{why}; for a group of each file write group: '{{stem}}'"

    def documents(self) -> Iterator[Document]:
        self.faults = Faults(self.faults.errors)
        for path in self._paths:
            number = 0
            for number, document in enumerate(self.documents_of(path), 1):  # noqa: B007
                yield document
            if not number:
                self.faults.add(EMPTY, readable_name(path))

    def reading(self, path: Path, encoding: str = "") -> AbstractContextManager[TextReader]:
        """Open a file in the format of the source."""
        return reading(path, self.form, self.document_limit, self.faults, encoding)

    @abstractmethod
    def documents_of(self, path: Path) -> Iterator[Document]:
        """Yield the documents of a file."""

    @property
    def files(self) -> Sequence[Path]:
        return [] if isinstance(self._path, str) else self._paths


class GroupedFilesSource(SourceFiles):
    """The files of a source with a group each; an InputError if a wanted group has no file."""

    def __init__(self, options: GroupedFileOptions) -> None:
        super().__init__(options)
        self._wanted = wanted = options.groups
        groups = set(self._group_of.values()) if wanted else set[str]()
        if lacking := [name for name in wanted if name not in groups]:
            start = f"no file of {str(options.path)!r} gives the group"
            raise InputError([Problem("", f"{start} {name!r}; {did_you_mean_group(name, groups)}") for name in lacking])
        if wanted:
            self._paths = [path for path in self._paths if self._group_of[path] in wanted]
