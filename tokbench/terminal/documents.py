"""What one document of text files is by default: a line of prose, and a whole file of code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_HELD_OUT: Final = 10
"""The least number of held-out files of code; with fewer, documents are paragraphs."""

DOCUMENTS: Final[Mapping[str, str]] = {
    "file": "each file is a document",
    "paragraph": "each paragraph is a document; training sees the blank lines between them",
    "line": "each line is a document; training sees the line ends",
}


def documents_of_code(files: int, holdout: float) -> str:
    """Return what one document of code is: a file, or a paragraph if too few files would be held out.

    >>> documents_of_code(200, 0.05), documents_of_code(199, 0.05), documents_of_code(1, 0)
    ('file', 'paragraph', 'file')
    """
    return "paragraph" if holdout and files * holdout < _HELD_OUT else "file"


def documents_of(texts: str, holdout: float) -> str:
    """Return what one document of a file, a glob pattern or an address is: a line, unless most files are code."""
    from tokbench.terminal.folder_texts import opened, parts_of

    paths = [Path(texts)] if "://" in texts else opened("text", {"path": texts}).files
    code = sum(bool(parts_of(path)["language"]) for path in paths)
    return documents_of_code(len(paths), holdout) if 2 * code > len(paths) else "line"
