"""The folder of a leaderboard: one file of settings, and one for each entry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from tokbench.config.strict_yaml import read_yaml
from tokbench.config.validate import ConfigPart, validate
from tokbench.foundation.files import read_regular
from tokbench.plugin import InputError, Problem, TextError, decode_utf8, did_you_mean

_NAME = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
SETTINGS: Final = "leaderboard.yaml"

M = TypeVar("M", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BoardEntry(_Part):
    """One entry: a tokenizer, and what readers should know of it."""

    tokenizer: dict[str, object] = Field(description="backend and options, in the words of a configuration")
    family: str = Field(description="the models that it belongs to, by which readers filter")
    source: str = Field(description="the place where its vocabulary is published")
    licence: str = Field(description="the licence of the vocabulary")
    baseline: bool = Field(default=False, description="a baseline, which is not ranked")
    notes: str = Field(default="", description="what else a reader should know")


class KeptNumbers(_Part):
    """Numbers that are kept of every entry."""

    corpus: str = Field(description="the corpus")
    metrics: tuple[str, ...] = Field(description="ids of metrics")
    groups: bool = Field(default=False, description="keep the numbers of every group, too")


class Ranked(_Part):
    """A metric over a whole corpus by which entries are ranked."""

    corpus: str
    metric: str


class SiteColumn(_Part):
    """A column of the table of all entries that does not depend on the chosen texts."""

    corpus: str
    metric: str
    label: str


class SiteSettings(_Part):
    """The numbers on the pages, by their meaning for a reader."""

    languages: str = Field(description="the corpus of languages")
    code: str = Field(description="the corpus of programs")
    reference: str = Field(description="the language that others are compared with")
    tokens: str = Field(description="the metric that counts tokens")
    ratio: str = Field(description="the metric of bytes per token")
    lost: str = Field(description="the metric of characters lost")
    fertility: str = Field(description="the metric of tokens per word")
    columns: tuple[SiteColumn, ...] = ()


class BoardSettings(_Part):
    """The file ``leaderboard.yaml``."""

    run: dict[str, object] = Field(description="a configuration without tokenizers")
    texts: dict[str, str] = Field(description="by corpus, the sha256 of its documents")
    numbers: tuple[KeptNumbers, ...]
    ranks: tuple[Ranked, ...]
    site: SiteSettings


@dataclass(frozen=True)
class Board:
    """A leaderboard as read from its folder."""

    folder: Path
    settings: BoardSettings
    entries: dict[str, BoardEntry]

    @cached_property
    def names(self) -> list[str]:
        return sorted(self.entries)

    def results(self, name: str) -> Path:
        """Return the file with the numbers of an entry."""
        return self.folder / "results" / f"{name}.csv"

    @property
    def ranks(self) -> Path:
        return self.folder / "ranks.csv"

    @property
    def measured(self) -> Path:
        """The file that says when, and with which version, the ranks were measured."""
        return self.folder / "measured.txt"

    def chosen(self, names: Sequence[str]) -> list[str]:
        """Return these names, each once, or all if none is given.

        Raises:
            InputError: no entry has such a name.
        """
        unknown = [name for name in names if name not in self.entries]
        if unknown:
            where, file = str(self.folder / "entries"), f"{unknown[0]}.yaml"
            known = did_you_mean(unknown[0], self.entries)
            raise InputError([Problem(where, f"no entry {unknown[0]!r}; {known}; or write {file}")])
        return list(dict.fromkeys(names)) or self.names

    def configuration(self, names: Sequence[str]) -> dict[str, object]:
        return self.settings.run | {"tokenizers": {name: self.entries[name].tokenizer for name in names}}


def read_board(folder: Path) -> Board:
    """Read the folder of a leaderboard.

    Raises:
        InputError: a file is missing or wrong; the error lists all problems.
    """
    problems: list[Problem] = []
    if not (folder / SETTINGS).exists():
        msg = f"not a leaderboard: it has no {SETTINGS}; name a leaderboard's folder, such as reports/leaderboard"
        raise InputError([Problem(str(folder), msg)])
    settings = _read(folder / SETTINGS, BoardSettings, problems)
    entries = {}
    for path in sorted((folder / "entries").glob("*.yaml")):
        entry = _read(path, BoardEntry, problems)
        if not _NAME.fullmatch(path.stem) or path.stem == "index":
            rule = "name the file in small letters, digits, and single dots or hyphens between them"
            problems.append(Problem(str(path), rule))
        if entry and "backend" not in entry.tokenizer:
            problems.append(Problem(str(path), "tokenizer has no 'backend'; write the one that loads the vocabulary"))
        if entry:
            entries[path.stem] = entry
    if not problems and not entries:
        problems.append(Problem(str(folder / "entries"), "has no entry; write one, such as entries/mine.yaml"))
    if problems or settings is None:
        raise InputError(problems)
    return Board(folder, settings, entries)


def _read(path: Path, model: type[M], problems: list[Problem]) -> M | None:
    try:
        located = read_yaml(decode_utf8(read_regular(path)), str(path))
    except OSError as error:
        problems.append(Problem(str(path), error.strerror or str(error)))
        return None
    except TextError as error:
        problems.append(Problem(error.at(path).where, error.at(path).message))
        return None
    except InputError as error:
        problems += error.problems
        return None
    problems += located.problems
    return validate(model, located.data, ConfigPart(located, (), path.parent), problems)
