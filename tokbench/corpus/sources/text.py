"""The source ``text``: plain text files."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from tokbench.corpus.sources.files import Cut, FileGroup, grouped_files, read_documents
from tokbench.plugin import Document, InputError, LocalPath, Options, Problem


class TextOptions(Options):
    """Options of ``source: text``."""

    path: LocalPath = Field(description="a file or a glob pattern; .gz and .zst are unpacked")
    document: Cut = Field(default="file", description="what one document is: file, line or paragraph")
    group: FileGroup = Field(default="{stem}", description="group name from {stem}, {name}, {suffix}, {parent}")
    groups: tuple[str, ...] = Field(default=(), description="groups to take, such as [en, de]; default: all")
    licence: str = Field(default="", description="licence of the texts, recorded in the results")


class TextSource:
    """The documents of text files, in the order of the files' names."""

    def __init__(self, options: TextOptions) -> None:
        self._options = options
        self._files = grouped_files(options.path, options.group, options.groups)
        self.licence = options.licence

    def documents(self) -> Iterator[Document]:
        """Yield all documents; see :class:`tokbench.contracts.corpus.Source`."""
        found: dict[str, bool] = {}
        for path, group in self._files:
            name = path.name
            found.setdefault(group, False)
            for line, text in read_documents(path, self._options.document):
                found[group] = True
                key = str(line) if self._options.document != "file" else name
                yield Document(text, group, key, f"{name}:{line}")
        empty = [group for group, any_text in found.items() if not any_text]
        if empty and len(empty) < len(found):
            files = {group: path for path, group in reversed(self._files)}
            msg = "holds no text, so there is nothing for group {!r}; remove the file or narrow 'path'"
            raise InputError([Problem(str(files[group]), msg.format(group)) for group in empty])
