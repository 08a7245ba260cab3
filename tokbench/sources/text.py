"""The source ``text``: plain text files."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import Field

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.sources.files import GroupedFileOptions, GroupedFilesSource
from tokbench.text.cuts import Cut
from tokbench.text.encodings import Encoding
from tokbench.text.faults import readable_name
from tokbench.text.find import file_names, parts_that_name


class TextOptions(GroupedFileOptions):
    """Options of ``source: text``."""

    document: Cut = Field(
        default="file",
        description="what one document is: file, line or paragraph; training sees the line ends, too",
    )
    encoding: Encoding = Field(default="", description="such as latin-1, cp1252 or utf-16; default: UTF-8")


class TextSource(GroupedFilesSource):
    """The documents of text files, in the order of the files' names."""

    def __init__(self, options: TextOptions) -> None:
        super().__init__(options)
        self._options = options

    @cached_property
    def _shared(self) -> dict[Path, str]:
        return shared_keys([(path, self._group_of[path]) for path in self._paths], self._group)

    def documents_of(self, path: Path) -> Iterator[Document]:
        name, group, how = readable_name(path.name), self._group_of[path], self._options.document
        with self.reading(path, self._options.encoding) as reader:
            for line, text, end in reader.documents(how):
                if how == "file":
                    yield Document(text, group, name, f"{name}:{line}", parallel_key=self._shared.get(path, ""))
                else:
                    yield Document(text, group, str(line), f"{name}:{line}", line_end=end)


def shared_keys(files: Sequence[tuple[Path, str]], template: str) -> dict[Path, str]:
    """Return by file what translations have in common; nothing if that is all of the name.

    Files are translations if they have the same name except for the parts of the group, or if every group has one file.

    >>> shared_keys([(Path("ch1.de"), "de"), (Path("ch1.en"), "en")], "{suffix}")
    {PosixPath('ch1.de'): 'ch1', PosixPath('ch1.en'): 'ch1'}
    """
    used = {name for _, name, _, _ in string.Formatter().parse(template) if name}
    used = used if template else set(parts_that_name(dict(files)))
    used |= {"stem", "suffix"} if "name" in used else set()
    used |= {"suffix"} if "language" in used else set()
    used |= {"stem"} if used & {"first", "last"} else set()
    left = [part for part in ("stem", "suffix") if part not in used]
    parts = [["name"], left, left if "parent" in used else ["parent", *left], []]
    for number, names in enumerate(parts):
        keys = {path: "/".join(str(file_names(path)[name]) for name in names) or "the file" for path, _ in files}
        by_group: dict[str, list[str]] = {}
        for path, group in files:
            by_group.setdefault(group, []).append(keys[path])
        first, *others = by_group.values()
        if len(set(first)) == len(first) and all(other == first for other in others):
            return keys if number and others else {}
    return {}


SPEC: Final = CorpusSpec(
    name="text",
    summary="text files, a document a file, line or paragraph",
    open=TextSource,
    options=TextOptions,
)
