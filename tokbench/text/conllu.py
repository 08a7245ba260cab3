"""Reads treebanks of Universal Dependencies and other files in CoNLL-U, a sentence a document.

The format: https://universaldependencies.org/format.html. Its
gold words are the surface tokens: a multiword token counts once (German ``am``), empty nodes are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

from tokbench.corpus.contract import Gold
from tokbench.foundation.errors import InputError, Problem
from tokbench.text.cuts import TextReader
from tokbench.text.gold import AlignmentError, align

_COLUMNS: Final = 10
_ID: Final = re.compile(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?|[0-9]+\.[1-9][0-9]*")
_COMMENT: Final = re.compile(r"# ?(text|sent_id)\s*= ?(.*)")


@dataclass
class Sentence:
    """A sentence as it is read."""

    file: str
    line: int
    text: str = ""
    sent_id: str = ""
    forms: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """The lines of ``forms``."""
    punctuation: list[bool] = field(default_factory=list)
    """For each form, whether all its words are punctuation."""
    words: int = 0
    """Words so far, also inside multiword tokens."""
    inside: int = 0
    """The last word of the current multiword token."""

    def refuse(self, line: int, message: str) -> NoReturn:
        raise InputError([Problem(f"{self.file}:{line}", message)])

    def comment(self, line: str) -> None:
        match = _COMMENT.match(line)
        if match and match[1] == "text":
            self.text = match[2]
        elif match:
            self.sent_id = match[2].strip()

    def token(self, number: int, line: str) -> None:
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            message = (
                f"has {len(columns)} columns, CoNLL-U has {_COLUMNS}: separate them by single tabs, leave none out"
            )
            self.refuse(number, f"{message}; write _ for what is empty")
        name, form, upos = columns[0], columns[1], columns[3]
        match = _ID.fullmatch(name)
        if not match:
            self.refuse(number, f"the first column is {name!r}; it must be 7, 7-8 (multiword) or 7.1 (empty node)")
        if match[1] is None:
            return
        first, last = int(match[1]), int(match[2] or 0)
        if first != self.words + 1 or (last and (last < first or self.inside > self.words)):
            self.refuse(number, f"the id {name} is out of order after word {self.words}; number the words 1, 2, 3, …")
        if last:
            self.inside = last
            self._surface(number, form, punctuation=True)
            return
        self.words = first
        if first <= self.inside:
            self.punctuation[-1] &= upos == "PUNCT"
        else:
            self._surface(number, form, punctuation=upos == "PUNCT")

    def _surface(self, number: int, form: str, *, punctuation: bool) -> None:
        self.forms.append(form)
        self.lines.append(number)
        self.punctuation.append(punctuation)

    def close(self) -> None:
        if not self.words:
            self.refuse(self.line, "a sentence without words; remove the comment lines, or put the words after them")
        if self.inside > self.words:
            self.refuse(self.lines[-1], f"a multiword token up to word {self.inside}, but there are {self.words} words")
        if not self.text:
            self.refuse(self.line, "the sentence has no line '# text = …'; add it, with the sentence as it is written")

    def gold(self) -> Gold:
        try:
            spans = align(self.text, self.forms)
        except AlignmentError as error:
            line = self.lines[min(error.index, len(self.lines) - 1)]
            message = f"the forms do not spell the line '# text = …': {error}; correct one or the other"
            self.refuse(line, message)
        return Gold(tuple(spans), tuple(self.punctuation))


def sentences(reader: TextReader) -> Iterator[Sentence]:
    """Yield the sentences of a file, checked; an InputError with the place of what is not CoNLL-U."""
    sentence: Sentence | None = None
    for number, ended in reader.lines():
        line = ended.removesuffix("\n").removesuffix("\r")
        line = line.removeprefix("\ufeff") if number == 1 else line
        if not line.strip():
            if sentence:
                sentence.close()
                yield sentence
            sentence = None
            continue
        sentence = sentence or Sentence(reader.place, number)
        if line.startswith("#"):
            sentence.comment(line)
        else:
            sentence.token(number, line)
    if sentence:
        sentence.close()
        yield sentence
