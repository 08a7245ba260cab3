"""Checks texts that are objects of Python, by the rules for files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tokbench.foundation.errors import InputError, Problem

_LISTED = "give a list of texts"


def refuse_collection(texts: Any, place: str) -> None:
    """Raise an InputError if texts are one text, bytes, a frame whose column is not named, or no collection.

    >>> refuse_collection("all of it", "documents")
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: documents: one string, not a collection of documents; give a list of texts
    """
    message = ""
    if isinstance(texts, str | bytes | bytearray):
        kind = "string" if isinstance(texts, str) else "bytes object"
        message = f"one {kind}, not a collection of documents; {_LISTED}"
    elif columns := columns_of(texts):
        message = f"a table, whose columns' names would be the documents; give a column, such as {columns[0]!r}"
    elif not isinstance(texts, Iterable):
        message = f"of type {type(texts).__name__}, not a collection of documents; {_LISTED}"
    if message:
        raise InputError([Problem(place, message)])


def columns_of(texts: Any) -> list[Any]:
    """Return the names of the columns of a frame, a table or a dataset; empty for any other object."""
    return next((list(getattr(texts, name)) for name in ("column_names", "columns") if hasattr(texts, name)), [])


def check_text(text: Any, place: str, number: int) -> str:
    """Return one of several texts; an InputError if it is not a string of Unicode.

    >>> check_text(5, "documents", 2)
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: documents: text 2 is of type int, not a string; leave it out, or use str()
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InputError([Problem(place, f"text {number} is of type {kind}, not a string; leave it out, or use str()")])
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError([Problem(place, f"text {number} holds a lone surrogate, so it is not Unicode")]) from error
    return text


def checked_texts(texts: Iterable[str] | Mapping[str, Iterable[str]], place: str) -> Any:
    """Return documents, or documents by group, that are checked: now, or as an iterator gives them.

    Raises:
        InputError: it names the place, and the number of the text.
    """
    if isinstance(texts, Mapping) and not columns_of(texts):
        return {name: checked_texts(of_group, f"{place}[{name!r}]") for name, of_group in texts.items()}
    refuse_collection(texts, place)
    if isinstance(texts, Iterator):
        return (check_text(text, place, number) for number, text in enumerate(texts, 1))
    for number, text in enumerate(texts, 1):
        check_text(text, place, number)
    return texts
