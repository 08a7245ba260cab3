"""Makes documents of rows with named fields."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import Field

from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.languages import row_language
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.sources.faults import NULLS, SURROGATES, Faults, Nulls
from tokbench.sources.files import PathOptions, RowGroup, SourceFiles
from tokbench.sources.gold import AlignmentError, gold_segments
from tokbench.tokenizers.batch import valid_unicode
from tokbench.tokenizers.options import Options


class RowOptions(Options):
    """Options that name the fields of a row."""

    text: str = Field(default="text", description="the field that holds the text")
    key: str = Field(default="", description="the field that names the document; default: its number")
    segments: str = Field(
        default="",
        description="the field with the text's gold morphemes: a list of them, or a list for each word; default: none",
    )
    nulls: Nulls = Field(default="error", description="rows whose text is null: error or skip (leave them out)")
    licence: str = Field(default="", description="licence of the texts, recorded in the results")


class RowFileOptions(RowOptions, PathOptions):
    """Options of a source that reads rows from files."""

    group: RowGroup = Field(
        default="{stem}",
        description="group name from {stem} or any field; default: the field lang or language, or else {stem}",
    )


class RowFiles(SourceFiles):
    """The files of a source of rows."""

    def __init__(self, options: RowFileOptions) -> None:
        super().__init__(options)
        self._options = options


def row_fields(options: RowOptions, template: str) -> list[str]:
    """Return the fields of the options, and of the group template."""
    named = [options.text, options.key, options.segments]
    inside = [name.partition("[")[0] for _, name, _, _ in string.Formatter().parse(template) if name]
    return list(dict.fromkeys(filter(None, [*named, *inside])))


def by_language(options: RowOptions) -> bool:
    """Tell whether rows are grouped by the fields of their language, as no group is given."""
    return "group" not in options.model_fields_set


def mended_row(
    row: Mapping[str, Any], options: RowOptions, faults: Faults, where: str, kind: str = SURROGATES
) -> Mapping[str, Any] | None:
    """Return a row with a text that can be read, as far as the options allow; ``None`` to leave it out."""
    text = row.get(options.text, "")
    if text is None and options.nulls == "skip":
        faults.add(NULLS, where)
        return None
    if isinstance(text, str) and (mended := faults.without_surrogates(text, where, kind)) is not text:
        return {**row, options.text: mended}
    return row


def row_document(
    row: Mapping[str, Any], options: RowOptions, template: str, names: Mapping[str, object], number: int, place: str
) -> Document:
    """Return the document of a row; an InputError if a field is missing, or has the wrong type.

    ``number``, from 1, is the key if the options name none; errors name ``place:number``.
    """
    for name in (options.text, options.key, options.segments):
        if name and name not in row:
            _refuse(place, number, f"has no field {name!r}; it has {', '.join(sorted(map(str, row)))}")
    text = row[options.text]
    if text is None:
        _refuse(place, number, f"field {options.text!r} is null; leave such rows out with the option 'nulls: skip'")
    if not isinstance(text, str):
        _refuse(place, number, f"field {options.text!r} is not a string")
    if valid_unicode(text) != text:
        _refuse(place, number, f"field {options.text!r} holds a lone surrogate: not Unicode text")
    try:
        group = (by_language(options) and row_language(row)) or template.format_map({**row, **names})
    except (KeyError, ValueError, IndexError, AttributeError, TypeError) as error:
        message = f"no group from {template!r}: {error}"
        if isinstance(error, KeyError):
            message += f"; {did_you_mean(str(error.args[0]), {*map(str, row), *names})}"
        _refuse(place, number, message)
    gold = _gold(text, row[options.segments], options.segments, place, number) if options.segments else None
    key = str(row[options.key]) if options.key else str(number)
    return Document(text, group, key, f"{place.rpartition('/')[2]}:{number}", gold)


def _gold(text: str, segments: Any, name: str, place: str, number: int) -> Gold:
    words: list[Any] = segments if isinstance(segments, list) else [None]
    nested = [word if isinstance(word, list) and word else [word] for word in words]
    mixed = len(set(map(type, words))) > 1
    if mixed or not all(isinstance(piece, str) and piece for word in nested for piece in word):
        message = f'field {name!r} must be a list of strings, or of lists of them, such as [["un", "kind"], ["!"]]'
        _refuse(place, number, message)
    try:
        return gold_segments(text, words)
    except AlignmentError as error:
        message = f"field {name!r} does not spell the text: {error}; write the morphemes as they are in the text"
        _refuse(place, number, message)


def _refuse(place: str, number: int, message: str) -> NoReturn:
    raise InputError([Problem(f"{place}:{number}", message)])
