"""Reads the key ``show``: the texts that a run shows as tokens, and how many documents of each group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokbench.config.model import LONGEST_SHOWN, MOST_SHOWN, Config, Show, ShowEntry, ShownTextEntry
from tokbench.config.validate import Part, Place, validate
from tokbench.foundation.errors import Problem
from tokbench.foundation.files import not_text
from tokbench.tokenizers.batch import valid_unicode

_SHAPES = "a text is 'text', {name: …, text: …} or {file: path}"


def read_show(config: Config) -> Show:
    """Return what a configuration shows; everything that is wrong with it is added to ``config.problems``.

    A list is that of the texts, and a mapping has the keys of :class:`~tokbench.config.model.ShowEntry`.
    """
    given, path = config.located.data.get("show"), ("show",)
    if given is None:
        return Show()
    if isinstance(given, list):
        return Show(texts=_texts(given, path, config))
    if not isinstance(given, dict):
        message = "show: a list of texts, or a mapping such as {documents: 2, texts: [...]}; {documents: 0} shows none"
        config.problems.append(Problem(config.located.where(path), message))
        return Show()
    entry = validate(ShowEntry, given, Part(config.located, path, config.base), config.problems)
    if entry is None:
        return Show()
    return Show(entry.documents, _texts(list(given.get("texts", ())), (*path, "texts"), config))


def _texts(given: list[Any], path: Place, config: Config) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    if len(given) > MOST_SHOWN:
        message = f"{len(given)} texts, but at most {MOST_SHOWN} are shown; leave some out"
        config.problems.append(Problem(config.located.where((*path, MOST_SHOWN)), message))
    for k, each in enumerate(given[:MOST_SHOWN]):
        place = (*path, k)
        outcome = _text(each, place, config)
        label = "" if isinstance(outcome, str) else outcome[0] or f"text {k + 1}"
        if label in found:
            outcome = f"two texts are called {label!r}; give one of them another name"
        if isinstance(outcome, str):
            if outcome:
                config.problems.append(Problem(config.located.where(place), outcome))
        else:
            found[label] = outcome[1]
    return tuple(found.items())


def _text(given: Any, place: Place, config: Config) -> tuple[str, str] | str:
    """Return the label and the text of an entry, or what is wrong with it; nothing if the problem is told already."""
    if isinstance(given, str):
        entry: ShownTextEntry | None = ShownTextEntry(text=given)
    elif isinstance(given, dict):
        entry = validate(ShownTextEntry, given, Part(config.located, place, config.base), config.problems)
    else:
        return _SHAPES
    if entry is None:
        return ""
    if (entry.text is None) == (entry.file is None):
        return f"give either 'text' or 'file': {_SHAPES}"
    text = entry.text if entry.text is not None else _content(entry.file or Path(), place, config)
    if text is None:
        return ""
    if not 0 < len(text) <= LONGEST_SHOWN:
        size = f"has {len(text):,} characters" if text else "is empty"
        return f"the text {size}; a text that is shown has 1 to {LONGEST_SHOWN:,}: choose the part to look at"
    return entry.name or (str(given["file"]) if entry.file else ""), valid_unicode(text)


def _content(path: Path, place: Place, config: Config) -> str | None:
    """Return the text of a file, or ``None`` after telling why it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        kind = not_text(error.object) or f"not UTF-8 at byte {error.start}"
        message = f"{path} is {kind}; convert it to UTF-8 first"
    config.problems.append(Problem(config.located.where((*place, "file")), message))
    return None
