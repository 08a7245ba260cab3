"""The options of the study: texts, and documents of each group."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import Field, model_validator

from tokbench.config.model import Config
from tokbench.config.validate import ConfigPart, Place, validate
from tokbench.corpus.excerpts import MOST_EXCERPTS
from tokbench.foundation.errors import InputError, Problem
from tokbench.text.cuts import reading
from tokbench.text.find import find_files
from tokbench.tokenizers.batch import valid_unicode
from tokbench.tokenizers.options import LocalPath, Options

KEY: Final = "show"

MOST_SHOWN: Final = 32

LONGEST_SHOWN: Final = 4_000

_SHAPES = "a text is 'text', {name: …, text: …} or {file: path}"


class ShownTextEntry(Options):
    """A text to show as tokens: ``text``, or ``file``."""

    name: str = Field(default="", max_length=80, description="heading of the text in reports; default: the file")
    text: str | None = Field(default=None, description="the text itself")
    file: LocalPath | None = Field(default=None, description="instead of text: a file in UTF-8")


class ShowOptions(Options):
    """The key ``show``: a list of texts, or these keys."""

    documents: int = Field(
        default=1, ge=0, le=MOST_EXCERPTS, description="documents of each group, chosen by hash; 0 shows none"
    )
    texts: tuple[Any, ...] = Field(default=(), description="texts: 'text', {name: …, text: …} or {file: path}")

    @model_validator(mode="before")
    @classmethod
    def _list_of_texts(cls, given: Any) -> Any:
        if isinstance(given, list):
            return {"texts": tuple(given)}
        if not isinstance(given, dict):
            example = "{documents: 2, texts: [...]}"
            raise ValueError(f"show: a list of texts, or a mapping such as {example}; {{documents: 0}} shows none")  # noqa: TRY004
        # A validator hands values on that no longer come from JSON, in which a list may be a tuple.
        texts = given.get("texts")
        return {**given, "texts": tuple(texts)} if isinstance(texts, list) else given


class NamedTexts(NamedTuple):
    """The texts of a configuration, and problems."""

    texts: dict[str, str]
    problems: list[Problem]


def named_texts(config: Config, options: ShowOptions) -> NamedTexts:
    """Read the texts that a configuration names."""
    path: Place = (KEY,) if isinstance(config.further.get(KEY), list) else (KEY, "texts")
    named = NamedTexts({}, [])
    if len(options.texts) > MOST_SHOWN:
        message = f"{len(options.texts)} texts, but at most {MOST_SHOWN} are shown; leave some out"
        named.problems.append(Problem(config.located.where((*path, MOST_SHOWN)), message))
    for k, given in enumerate(options.texts[:MOST_SHOWN]):
        reading = _Reading(config, (*path, k), named.problems)
        outcome = reading.text(given)
        label = "" if isinstance(outcome, str) else outcome.label or f"text {k + 1}"
        if label in named.texts:
            outcome = f"two texts are called {label!r}; give one of them another name"
        if isinstance(outcome, LabelledText):
            named.texts[label] = outcome.text
        elif outcome:
            reading.refuse(outcome)
    return named


class LabelledText(NamedTuple):
    """A text with its label, which may be empty."""

    label: str
    text: str


class _Reading:
    def __init__(self, config: Config, place: Place, problems: list[Problem]) -> None:
        self._config = config
        self._place = place
        self._problems = problems

    def refuse(self, message: str, key: str = "") -> None:
        place = (*self._place, key) if key else self._place
        self._problems.append(Problem(self._config.located.where(place), message))

    def text(self, given: Any) -> LabelledText | str:
        if isinstance(given, str):
            entry: ShownTextEntry | None = ShownTextEntry(text=given)
        elif isinstance(given, dict):
            config = self._config
            part = ConfigPart(config.located, self._place, config.base)
            entry = validate(ShownTextEntry, given, part, self._problems)
        else:
            return _SHAPES
        if entry is None:
            return ""
        if (entry.text is None) == (entry.file is None):
            return f"give either 'text' or 'file': {_SHAPES}"
        text = entry.text if entry.text is not None else self._content(entry.file or Path())
        if text is None:
            return ""
        if not 0 < len(text) <= LONGEST_SHOWN:
            size = f"has {len(text):,} characters" if text else "is empty"
            return f"the text {size}; a text that is shown has 1 to {LONGEST_SHOWN:,}: choose the part to look at"
        return LabelledText(entry.name or (str(given["file"]) if entry.file else ""), valid_unicode(text))

    def _content(self, path: Path) -> str | None:
        try:
            with reading(find_files(path)[0], "text") as reader:
                return "".join(document.text for document in reader.documents("file"))
        except InputError as error:
            self.refuse(str(error), "file")
        return None
