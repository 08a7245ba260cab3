"""The source ``text``: plain text files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, field_validator

from tokbench.corpus.files import Cut, group_name, read_documents, require_files
from tokbench.corpus.source import Document
from tokbench.paths import LocalPath
from tokbench.protocol import Options

__all__ = ["TextOptions", "TextSource"]


class TextOptions(Options):
    """Options of ``source: text``."""

    path: LocalPath = Field(description="a file or a glob pattern")
    document: Cut = Field(default="file", description="what one document is: file, line or paragraph")
    group: str = Field(default="{stem}", description="group name from {stem}, {name}, {suffix}, {parent}")
    licence: str = Field(default="", description="licence of the texts, recorded in the results")

    @field_validator("group")
    @classmethod
    def _known_fields(cls, template: str) -> str:
        try:
            group_name(template, Path("a/b.c"))
        except (KeyError, ValueError, IndexError) as error:
            msg = f"{template!r} may hold {{stem}}, {{name}}, {{suffix}} and {{parent}} only"
            raise ValueError(msg) from error
        return template


class TextSource:
    """Documents of text files, in the order of the files' names."""

    def __init__(self, options: TextOptions) -> None:
        self._options = options
        self._files = require_files(options.path)
        self.licence = options.licence

    def documents(self) -> Iterator[Document]:
        """All documents; see :class:`tokbench.corpus.source.Source`."""
        for path in self._files:
            group, name = group_name(self._options.group, path), path.name
            for line, text in read_documents(path, self._options.document):
                key = str(line) if self._options.document != "file" else name
                yield Document(text, group, key, f"{name}:{line}")
