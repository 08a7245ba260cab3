"""Reads a folder as kinds of text: prose, rows and code, each file with the source that reads it, and what is left."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokbench.corpus.languages import find_language
from tokbench.corpus.programs import programming_language
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.files import not_text

if TYPE_CHECKING:
    from tokbench.corpus.contract import Source
    from tokbench.registry.plugins import Registry

_PROSE: Final = frozenset("txt text md markdown rst adoc asciidoc org".split())
"""Endings of prose."""

ROWS: Final[Mapping[str, str]] = {"jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "conllu": "conllu"}
"""By ending, the source of files that hold many texts each."""

PACKED: Final = frozenset({"gz", "zst"})
"""Endings of compressed files."""

_TABLES: Final = frozenset({"csv", "tsv"})
_FIELDS: Final = ("text", "content", "body", "sentence")
"""Fields of rows that hold the text, the likeliest first."""

_TAGS: Final = ("lang", "language")
"""Fields of rows that name the language, if there are any."""

NAMES: Final = ("parent", "stem", "suffix", "last", "first")
"""The parts of a file's path that may name its language, the likeliest first."""

_LARGEST: Final = 16_000_000
"""Bytes of a program, which is a document as a whole."""

_HELD_OUT: Final = 10
"""The least number of whole files of code that are held out; where it would be less, paragraphs are."""

DOCUMENTS: Final[Mapping[str, str]] = {
    "file": "each file is a document",
    "paragraph": "each paragraph is a document; training sees the blank lines between them",
    "line": "each line is a document; training sees the line ends",
}
"""By what one document is, a sentence about it."""

_HEAD: Final = 8192
_CODE: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?")


@dataclass(frozen=True)
class TextFile:
    """A file that a source can read."""

    path: Path
    """The file."""
    source: str
    """The name of the source."""
    keys: Mapping[str, str]
    """Further options of the source, such as the field of the text."""
    program: str
    """The programming language; empty for prose."""
    names: Mapping[str, str]
    """The parts of its path, by :data:`NAMES`."""
    tags: Sequence[str] = ()
    """The groups that its rows name, if they name any."""

    @property
    def ending(self) -> str:
        """The ending, without that of a compressed file."""
        return _ending(self.path)

    @property
    def n_bytes(self) -> int:
        """The bytes of the file, as it is on the disk."""
        return self.path.stat().st_size


@dataclass(frozen=True)
class FolderTexts:
    """The texts of a folder, and what is left out."""

    folder: Path
    """The folder."""
    files: Sequence[TextFile]
    """The files that can be read."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By reason, the files and folders that are left out."""


def read_folder(folder: Path) -> FolderTexts:
    """Read every file of a folder and of those below it once.

    Raises:
        InputError: the folder has no text that can be read.
    """
    from tokbench.registry.plugins import load_registry

    registry = load_registry()
    files: list[TextFile] = []
    left_out: dict[str, list[str]] = {}
    for name in _hidden(folder):
        left_out.setdefault("hidden", []).append(name)
    paths = _files(folder, registry)
    for path in paths:
        try:
            files.append(_text_file(path, registry))
        except InputError as error:
            left_out.setdefault(error.problems[0].message, []).append(path.relative_to(folder).as_posix())
    if not paths:
        raise InputError([Problem(str(folder), "the folder has no files; name one that has texts")])
    if not files:
        reasons = "; ".join(f"{reason}: {some[0]}" for reason, some in left_out.items())
        raise InputError([Problem(str(folder), f"the folder has no text that can be read ({reasons})")])
    return FolderTexts(folder, files, left_out)


def _files(folder: Path, registry: Registry) -> list[Path]:
    """Return the files as sources see them: hidden ones are not among them, and links are followed once."""
    try:
        return list(open_source(registry, "text", {"path": f"{glob.escape(str(folder))}/**/*"}).files)
    except InputError:
        return []


def open_source(registry: Registry, source: str, keys: Mapping[str, Any]) -> Any:
    """Return an opened source.

    Raises:
        InputError: no file matches, or a library is missing.
    """
    spec = registry.corpora.get(source)
    opened: Source = spec.open(spec.options(**keys))
    return opened


def documents_of_code(files: int, holdout: float) -> str:
    """Return what one document of files of code is: a file, or a paragraph where too few files would be held out.

    >>> documents_of_code(200, 0.05), documents_of_code(199, 0.05), documents_of_code(1, 0)
    ('file', 'paragraph', 'file')
    """
    return "paragraph" if holdout and files * holdout < _HELD_OUT else "file"


def documents_of(texts: str, holdout: float) -> str:
    """Return what one document of a file, a glob pattern or an address is: a line, unless most files are code.

    Raises:
        InputError: no file matches.
    """
    from tokbench.registry.plugins import load_registry

    paths = [Path(texts)] if "://" in texts else open_source(load_registry(), "text", {"path": texts}).files
    code = sum(bool(programming_language(_ending(path))) for path in paths)
    return documents_of_code(len(paths), holdout) if 2 * code > len(paths) else "line"


def _hidden(folder: Path) -> Iterator[str]:
    """Yield the hidden files and folders; nothing inside of these."""
    for place, folders, files in os.walk(folder):
        for name in sorted(name for name in (*folders, *files) if name.startswith(".")):
            yield (Path(place) / name).relative_to(folder).as_posix()
        folders[:] = [name for name in folders if not name.startswith(".")]


def is_language(name: str) -> bool:
    """Tell whether a name is the code of a language, with a script or a country or without.

    >>> [is_language(name) for name in ("de", "zho-CN", "srp_Latn", "es-419", "it_works", "notes")]
    [True, True, True, True, False, False]
    """
    return bool(_CODE.fullmatch(name)) and find_language(name) is not None


def _ending(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix[1:] in PACKED else path
    return plain.suffix[1:].lower()


def _text_file(path: Path, registry: Registry) -> TextFile:
    """Return a file with the source that reads it.

    Raises:
        InputError: no source reads it; the message is the reason.
    """
    ending = _ending(path)
    program = programming_language(ending)
    if path.stat().st_size == 0:
        raise InputError("empty")
    if ending in ROWS:
        return _rows(path, registry)
    if ending in _TABLES:
        raise InputError("a table, which no source reads; write its texts as JSON Lines: {'text': …}")
    if ending in _PROSE or program or is_language(ending):
        if program and path.stat().st_size > _LARGEST:
            raise InputError(f"too large: more than {_LARGEST / 1e6:.0f} MB of code in a file, which is one document")
        return TextFile(path, "text", {}, program, _read(path, registry, "text", {"document": "line"}))
    with path.open("rb") as file:
        kind = not_text(file.read(_HEAD))
    if kind:
        raise InputError("binary" if "binary" in kind else kind)
    known = f"unknown ending .{ending}" if ending else "no ending"
    raise InputError(f"{known}; rename prose to .txt, and code to the ending of its language")


def _rows(path: Path, registry: Registry) -> TextFile:
    """Return a file of rows, with the fields that hold the text and its language.

    Raises:
        InputError: no field is known to hold the text, or the file is broken.
    """
    source = ROWS[_ending(path)]
    if source == "conllu":
        return TextFile(path, source, {}, "", _read(path, registry, source, {}))
    reasons = []
    for name in _FIELDS:
        keys = {} if name == "text" else {"text": name}
        try:
            names = _read(path, registry, source, keys)
        except InputError as error:
            reasons.append(error)
            continue
        for tag in _TAGS:
            tags = _tags(path, registry, source, {**keys, "group": f"{{{tag}}}"})
            if tags:
                return TextFile(path, source, {**keys, "group": f"{{{tag}}}"}, "", names, tags)
        return TextFile(path, source, keys, "", names)
    raise reasons[0]


def _tags(path: Path, registry: Registry, source: str, keys: Mapping[str, str]) -> list[str]:
    """Return the groups that the rows of a file name; nothing unless every row names one."""
    try:
        return sorted({document.group for document in _documents(path, registry, source, keys)})
    except InputError:
        return []


def _read(path: Path, registry: Registry, source: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Read a file to its end, and return the parts of its path.

    Raises:
        InputError: the file cannot be read, or has no text.
    """
    group = "/".join(f"{{{name}}}" for name in NAMES)  # no part has a slash
    groups = {document.group for document in _documents(path, registry, source, {**keys, "group": group})}
    if not groups:
        raise InputError("empty")
    return dict(zip(NAMES, groups.pop().split("/"), strict=True))


def _documents(path: Path, registry: Registry, source: str, keys: Mapping[str, str]) -> Iterator[Any]:
    yield from open_source(registry, source, {"path": glob.escape(str(path)), **keys}).documents()
