"""The source ``morphemes``: lists of words with their morphemes, in published layouts."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import Field

from tokbench.corpus.contract import Gold
from tokbench.plugin import CorpusSpec, Document, InputError, Problem
from tokbench.sources.files import GroupedFileOptions, GroupedFilesSource
from tokbench.text.find import file_names

Layout = Literal["unimorph", "morphynet_derivational", "sigmorphon2022", "morphscore"]


class MorphemesOptions(GroupedFileOptions):
    """Options of ``source: morphemes``."""

    layout: Layout = Field(
        description=(
            "unimorph (lemma, form, features, mor|phemes; MorphyNet's inflections, too), morphynet_derivational, "
            "sigmorphon2022 (word, mor @@phemes; words, not sentences) or morphscore (full_word,pt1,rest)"
        )
    )


class SegmentedWord(NamedTuple):
    """A line of a list."""

    word: str
    morphemes: tuple[str, ...]
    """Perhaps spelled differently than in the word; empty if unknown."""


def morpheme_places(word: str, morphemes: Sequence[str]) -> tuple[int, ...] | None:
    """Return the boundaries of morphemes inside a word, such as (2, 6); ``None`` if they do not spell it."""
    if "".join(morphemes) != word:
        return None
    ends = [len("".join(morphemes[:k])) for k in range(1, len(morphemes))]
    return tuple(ends)


def _unimorph(columns: list[str]) -> SegmentedWord:
    """Read a lemma, its form, the features, and the morphemes of the form or ``-``."""
    parts = columns[3].split("|")
    return SegmentedWord(columns[1], () if parts in ([""], ["-"], ["_"]) else tuple(parts))


def _derivational(columns: list[str]) -> SegmentedWord:
    """Read a word, its derivation, both parts of speech, the affix, and its kind."""
    word, affix, kind = columns[1], columns[4].strip("-"), columns[5]
    if not affix or len(affix) >= len(word):
        return SegmentedWord(word, ())
    if kind == "prefix":
        return SegmentedWord(word, (affix, word.removeprefix(affix)) if word.startswith(affix) else (affix, columns[0]))
    return SegmentedWord(word, (word.removesuffix(affix), affix) if word.endswith(affix) else (columns[0], affix))


def _sigmorphon(columns: list[str]) -> SegmentedWord:
    """Read a word and its morphemes; ``@@`` marks the inner side."""
    return SegmentedWord(columns[0], tuple(part.removeprefix("@@").removesuffix("@@") for part in columns[1].split()))


def _morphscore(columns: list[str]) -> SegmentedWord:
    """Read a word, its part before the boundary, and the rest."""
    return SegmentedWord(columns[0], (columns[1], columns[2]))


class _Shape(NamedTuple):
    fewest: int
    most: int
    read: Callable[[list[str]], SegmentedWord]
    names: str
    csv: bool = False
    """With a line of heads before the words."""


_SHAPES: Final[dict[str, _Shape]] = {
    "unimorph": _Shape(4, 4, _unimorph, "lemma, form, features, segmentation"),
    "morphynet_derivational": _Shape(6, 6, _derivational, "word, derived word, two parts of speech, affix, kind"),
    "sigmorphon2022": _Shape(2, 3, _sigmorphon, "word, morphemes, category"),
    "morphscore": _Shape(3, 16, _morphscore, "full_word,pt1,rest", csv=True),
}


class MorphemesSource(GroupedFilesSource):
    """The words of lists, each once in a file, if their morphemes spell them; the notes count the rest."""

    def __init__(self, options: MorphemesOptions) -> None:
        super().__init__(options)
        self._options = options
        self._begin()

    @property
    def notes(self) -> Sequence[str]:
        """The notes on files, and the number of lines left out."""
        notes = []
        for reason, count in self._out.items():
            example = f"{self._first[reason].word} = {' + '.join(self._first[reason].morphemes) or '?'}"
            lines = f"{count:,} of {self._taken + self._out.total():,} lines"
            notes.append(f"{lines} are left out: {reason}, such as {example}")
        return [*super().notes, *notes]

    def documents(self) -> Iterator[Document]:
        self._begin()
        yield from super().documents()

    def _begin(self) -> None:
        self._taken, self._out, self._first = 0, Counter[str](), dict[str, SegmentedWord]()

    def documents_of(self, path: Path) -> Iterator[Document]:
        name, group = file_names(path)["name"], self._group_of[path]
        for number, word, places in self._words(path):
            gold = Gold(((0, len(word)),), (False,), places)
            yield Document(word, group, str(number), f"{name}:{number}", gold)

    def _words(self, path: Path) -> Iterator[tuple[int, str, tuple[int, ...]]]:
        """Yield line, word and places; count the lines, with the first that are left out."""
        seen: set[str] = set()
        for number, row in self._rows(path):
            places = morpheme_places(row.word, row.morphemes)
            if row.word in seen or places is None or not row.word:
                reason = "the morphemes do not spell the word" if row.morphemes else "the morphemes are not given"
                reason = "the word came before" if row.word in seen else reason
                self._out[reason] += 1
                self._first.setdefault(reason, row)
                continue
            seen.add(row.word)
            self._taken += 1
            yield number, row.word, places

    def _rows(self, path: Path) -> Iterator[tuple[int, SegmentedWord]]:
        shape = _SHAPES[self._options.layout]
        with self.reading(path) as reader:
            for number, ended in reader.lines():
                line = ended.removesuffix("\n").removesuffix("\r")
                if not line.strip() or (shape.csv and number == 1):
                    continue
                columns = next(csv.reader([line])) if shape.csv else line.split("\t")
                if not shape.fewest <= len(columns) <= shape.most:
                    wanted = f"{shape.fewest} to {shape.most}" if shape.fewest < shape.most else str(shape.fewest)
                    msg = f"has {len(columns)} columns, layout {self._options.layout!r} has {wanted}: {shape.names}"
                    raise InputError(
                        [Problem(f"{path}:{number}", f"{msg}; correct the line or choose another 'layout'")]
                    )
                yield number, shape.read(columns)


SPEC: Final = CorpusSpec(
    name="morphemes",
    summary="lists of words with morphemes, a document a word: UniMorph, MorphyNet, SIGMORPHON 2022, MorphScore",
    open=MorphemesSource,
    options=MorphemesOptions,
)
