"""A published table as data: who printed which numbers, of which texts and tokenizers, and what they mean.

A table is one YAML file. Its texts are in it, or in files that are fetched once and checked by their sha256; its cells
are in it, or in a CSV file of ``text,tokenizer,printed``.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from urllib.request import urlopen

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tokbench.plugin import InputError, did_you_mean, write_atomically

_TIMEOUT: Final = 60
_VECTORS: Final = "\n__ggml_vocab_test__\n"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TextFiles(_Strict):
    """Texts in files elsewhere: name of the text, path, part of the file and sha256, one a line of a CSV file."""

    address: str
    """Where a file is fetched from; ``{path}`` is replaced."""
    files: str
    """The CSV file of ``text,path,part,sha256``; a text of several files has a line for each."""
    read: Literal["lines", "documents", "paragraphs", "characters", "vectors", "json", "python"]
    """``lines`` are all lines, the empty one at the end included; ``documents`` are those that are not empty;
    ``paragraphs`` have the empty line after them; ``characters`` are those of the part ``from:to``; ``vectors`` are
    texts as llama.cpp keeps them, and the part is the number of one; ``json`` has rows, the part is a key, and rows
    with a space in a value are left out; ``python`` has constants, and the part is the name of one."""
    join: str | None = None
    """Make one text of all, with this in between."""
    how: str = ""
    """How to get the files where the address cannot be reached."""


class TextVariant(_Strict):
    """Another text that may have been measured."""

    texts: str | list[str]
    why: str


class PublishedTable(_Strict):
    """One published table."""

    title: str
    source: str
    """The address or DOI, with the commit or the version."""
    licence: str
    definition: str
    """What a number is, as its authors' code has it."""
    metric: Literal[
        "bytes_per_token", "ids", "one_token_percent", "tokens", "tokens_and_marks", "tokens_per_text", "utf8_fragments"
    ]
    tokenizers: dict[str, str | dict[str, Any]]
    """The printed name of each column, and the tokenizer; ``{missing: reason}`` for one that cannot run here."""
    texts: dict[str, str | list[str]] = Field(default_factory=dict)
    text_files: TextFiles | None = None
    """The texts, where they are not in the table."""
    variants: dict[str, TextVariant] = Field(default_factory=dict)
    """Texts that give the printed numbers where the texts that are published do not."""
    cells: str | dict[str, dict[str, str | int]]
    """The printed numbers by text and tokenizer, or the CSV file that has them."""
    within: int = 0
    """By how many units of the last printed digit a number may differ and still be equal up to rounding."""
    note: str = ""


class Printed(NamedTuple):
    """One printed number."""

    text: str
    tokenizer: str
    value: str


class TextFile(NamedTuple):
    """A file that has a text, or a part of one."""

    path: str
    part: str
    sha256: str


class NotHereError(Exception):
    """A text or a tokenizer is not on this machine; the number that needs it is not run."""


@dataclass(frozen=True)
class Published:
    """A table that was read, and the folder that it is in.

    >>> table = {"title": "t", "source": "s", "licence": "l", "definition": "d", "metric": "tokens"}
    >>> table |= {"tokenizers": {"A": "gpt-4"}, "texts": {"x": "hi"}, "cells": {"x": {"A": 1}}}
    >>> published = Published("t", PublishedTable.model_validate(table), Path())
    >>> [*published.cells()], published.texts("x", Path())
    ([Printed(text='x', tokenizer='A', value='1')], ['hi'])
    """

    name: str
    table: PublishedTable
    folder: Path

    def cells(self) -> Iterator[Printed]:
        """Yield the printed numbers."""
        given = self.table.cells
        if isinstance(given, str):
            yield from (Printed(*row) for row in _rows(self.folder / given))
        else:
            yield from (Printed(text, name, str(v)) for text, row in given.items() for name, v in row.items())

    @cached_property
    def files(self) -> Mapping[str, list[TextFile]]:
        """The files of each text; those of tokenizers are of the text that has no name."""
        found: dict[str, list[TextFile]] = {}
        if self.table.text_files is not None:
            for text, *rest in _rows(self.folder / self.table.text_files.files):
                found.setdefault(text, []).append(TextFile(*rest))
        return found

    def texts(self, text: str, kept: Path) -> list[str]:
        """Return the texts of one name.

        Raises:
            NotHereError: a file is not in the folder ``kept``.
            InputError: a file there is not the one that was measured.
        """
        given = self.table.text_files
        if given is None:
            return listed(self.table.texts[text])
        texts = []
        for one in self.files[text]:
            file = kept / self.name / one.path
            if not file.is_file():
                how = f", or: {given.how}" if given.how else ""
                raise NotHereError(f"{file.name} is missing; get it with --fetch{how}")
            texts += _READERS[given.read](_checked(file.read_bytes(), one.sha256, file).decode("utf-8"), one.part)
        return texts if given.join is None else [given.join.join(texts)]

    def fetch(self, kept: Path) -> None:
        """Fetch the files that are missing.

        Raises InputError: an address does not answer, or answers with another file.
        """
        if self.table.text_files is None:
            return
        for path, sha256 in sorted({(one.path, one.sha256) for files in self.files.values() for one in files}):
            target = kept / self.name / path
            if target.is_file():
                continue
            address = self.table.text_files.address.format(path=path)
            try:
                with urlopen(address, timeout=_TIMEOUT) as answer:  # noqa: S310 - checked by its hash
                    content = _checked(answer.read(), sha256, target)
            except OSError as error:
                raise InputError(f"{self.name}: cannot fetch {address}: {error}") from error
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, content)


def listed(texts: str | list[str]) -> list[str]:
    """Return texts as a list.

    >>> listed("a"), listed(["a", "b"])
    (['a'], ['a', 'b'])
    """
    return [texts] if isinstance(texts, str) else texts


def read_tables(folder: Path, names: Sequence[str] = ()) -> list[Published]:
    """Read the tables of a folder, all or those that are named, in the order of their names.

    Raises InputError: no such table, or a file is not one.
    """
    files = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    if not files:
        raise InputError(f"{folder} has no tables; run it where the repository is, or give --tables FOLDER")
    for name in names:
        if name not in files:
            raise InputError(f"unknown table {name!r}; {did_you_mean(name, files)}")
    return [Published(name, _read_table(files[name]), folder) for name in names or files]


def _read_table(file: Path) -> PublishedTable:
    try:
        return PublishedTable.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise InputError(f"{file}: not YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _rows(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return [*csv.reader(lines)][1:]


def _checked(content: bytes, sha256: str, file: Path) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise InputError(f"{file}: its sha256 is {digest[:12]}…, not {sha256[:12]}…: not the text that was measured")
    return content


def _paragraphs(content: str, _part: str) -> list[str]:
    *paragraphs, last = content.split("\n\n")
    return [*(paragraph + "\n\n" for paragraph in paragraphs), last]


def _rows_of_one_word(content: str, key: str) -> list[str]:
    return [row[key] for row in json.loads(content) if not any(" " in str(value) for value in row.values())]


def _constant(content: str, name: str) -> list[str]:
    """Return the text that a module gives a name, with the ``strip()`` that may follow it."""
    for node in ast.parse(content).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
                return [ast.literal_eval(node.value.func.value).strip()]
            return [ast.literal_eval(node.value)]
    raise InputError(f"the file has no text of the name {name!r}")


_READERS: Final[dict[str, Callable[[str, str], list[str]]]] = {
    "lines": lambda content, _: content.split("\n"),
    "documents": lambda content, _: [line for line in content.split("\n") if line],
    "paragraphs": _paragraphs,
    "characters": lambda content, part: [content[slice(*map(int, part.split(":")))]],
    "vectors": lambda content, part: [content.split(_VECTORS)[int(part)]],
    "json": _rows_of_one_word,
    "python": _constant,
}
