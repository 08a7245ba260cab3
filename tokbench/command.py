"""What a command of a package is made of: the options and output of all others, and the texts that users name.

>>> [*texts_by_group("sample")][:3]
['am', 'ar', 'bn']
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal

from tokbench.foundation.errors import InputError, Problem, TokbenchError
from tokbench.terminal.number_table import print_numbers
from tokbench.terminal.options import (
    STDIN,
    TOKENIZER,
    common_options,
    examples,
    json_option,
    log_option,
    print_json,
    say,
)

if TYPE_CHECKING:
    from tokbench.terminal.session import TokenizerSession as TokenizerSession  # noqa: PLC0414 - packages name the type
    from tokbench.text.cuts import Cut as Cut  # noqa: PLC0414
    from tokbench.tokenizers.contract import Tokenizer

__all__ = [
    "TOKENIZER",
    "Log",
    "common_options",
    "examples",
    "json_option",
    "load_named",
    "local_names",
    "log_option",
    "print_json",
    "print_numbers",
    "say",
    "session",
    "texts_by_group",
]

Log = Literal["auto", "bars", "lines", "notebook", "json", "none"]
"""How progress is shown; ``auto``: bars in a terminal, a line in a notebook, else lines."""

_SAMPLE: Final = "sample"


def load_named(tokenizer: str | Tokenizer) -> Tokenizer:
    """Return a tokenizer by name, file or folder, or as it is; whatever it cannot be loaded for is bad input.

    Raises:
        InputError: it cannot be loaded.

    >>> load_named("utf8_bytes").encode("né")
    [110, 195, 169]
    """
    from tokbench.registry.load import load

    try:
        return load(tokenizer)
    except InputError:
        raise
    except TokbenchError as error:
        raise InputError(str(error)) from error
    except Exception as error:
        raise InputError(f"{tokenizer} cannot be read: {type(error).__name__}: {error}; restore the file") from error


def local_names() -> list[str]:
    """Return the published names of tokenizers that need no network and no further package.

    >>> "gpt-4o" in local_names()
    True
    """
    from tokbench.registry import local_names as names
    from tokbench.registry.plugins import load_registry

    return names.local_names(load_registry()).usable


@contextmanager
def session(
    names: Sequence[str] = (), config: Path | None = None, *, prefer: Sequence[str] = (), log: Log = "none"
) -> Iterator[TokenizerSession]:
    """Open tokenizers that a user names, each in a process that may die.

    Args:
        names: names for :func:`tokbench.load`, or of the configuration; empty for all of the configuration.
        config: a configuration, or the name of a suite, whose tokenizers are trained if they are to be.
        prefer: the backends that may load a published name or a file; empty for all.
        log: how progress is shown, as ``--log`` has it.

    Yields:
        A session: ``ask(step)`` returns the answer of each tokenizer or its failure, by name, and
        ``together(step, names)`` the answer of a step that takes several.

    Raises:
        InputError: with all names that are not known or cannot be had here.

    >>> from operator import attrgetter
    >>> with session(["utf8_bytes", "utf16_units"]) as ready:
    ...     ready.ask(attrgetter("vocab_size"))
    {'utf8_bytes': 256, 'utf16_units': 65536}
    """
    from tokbench.foundation.display import progress_shown
    from tokbench.terminal.session import session as opened

    with progress_shown(log) as progress, opened(names, config, prefer=prefer, progress=progress) as ready:
        yield ready


def texts_by_group(where: str, document: Cut | None = None) -> dict[str, list[str]]:
    """Return the documents of a file, a folder or a glob pattern by language and programming language.

    Prose has a document in each line, and code in each file or paragraph; ``document`` (file, line or paragraph) cuts
    both otherwise. A row is one, and so is a sentence. ``sample`` is the text that ships with tokbench, and ``-`` is
    standard input. What is left out is said on standard error.

    Raises:
        InputError: there is no text.
    """
    from tokbench.terminal.folder_texts import corpora_of, entry, opened, read_texts

    if where == STDIN:
        with _standard_input() as path:
            return texts_by_group(str(path), document)
    if where == _SAMPLE:
        sources = [opened(_SAMPLE, {"part": "all"})]
    else:
        texts = read_texts(where)
        for line in texts.found.notes():
            say(line, err=True)
        corpora = corpora_of(texts).values()
        entries = [entry(corpus, texts, Path(), holdout=0.0, document=document) for corpus in corpora]
        sources = [opened(str(keys.pop("source")), keys) for keys in entries]
    groups: dict[str, list[str]] = {}
    for source in sources:
        for one in source.documents():
            groups.setdefault(one.group, []).append(one.text)
    return groups


@contextmanager
def _standard_input() -> Iterator[Path]:
    """Copy standard input to a file, as sources read theirs twice."""
    from tokbench.text.opening import STDIN_NAME

    with TemporaryDirectory() as folder:
        path = Path(folder, STDIN_NAME)
        with path.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        try:
            yield path
        except InputError as error:
            named = [
                Problem(problem.where.replace(str(path), STDIN_NAME), problem.message) for problem in error.problems
            ]
            raise InputError(named) from error
