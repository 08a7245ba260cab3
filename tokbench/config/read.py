"""Reads a file into :class:`tokbench.config.model.Config`, as far as this is possible without plugins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from tokbench.config.model import (
    Config,
    CorpusEntry,
    Limits,
    MetricEntry,
    MetricKeys,
    ReportEntry,
    StudyEntry,
    TokenizerEntry,
    TopLevel,
)
from tokbench.config.strict_yaml import Located, read_yaml
from tokbench.config.validate import validate
from tokbench.errors import InputError, Problem
from tokbench.files import not_text

M = TypeVar("M", bound=BaseModel)


def read_config(path: Path) -> Config:
    """Read a configuration file; the result lists in ``problems`` what is wrong with its entries.

    Raises:
        InputError: there is no such file, or it is not UTF-8, not YAML, or not a mapping.
    """
    return parse_config(_read(path), path)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        kind = not_text(error.object) or f"not UTF-8 at byte {error.start}"
        raise InputError([Problem(str(path), f"{kind}; a configuration is a YAML file in UTF-8")]) from error


def parse_config(text: str, path: Path) -> Config:
    """Read a configuration from its text.

    Args:
        text: the YAML text.
        path: the path of the file, for messages. Relative paths in the text start at its folder.

    Raises:
        InputError: the text is not YAML, or not a mapping.
    """
    located = read_yaml(text, str(path))
    if not isinstance(located.data, dict):
        raise InputError(located.problems or [Problem(located.where(()), "not a mapping of keys to values")])
    config = Config(text, located, path, path.parent.absolute(), problems=located.problems)
    top = _entry(TopLevel, located.data, (), config)
    if top:
        config.name = top.name
    # Entries are read even if the top level is wrong elsewhere, so that all problems are reported at once.
    config.corpora = _entries(CorpusEntry, "corpora", config)
    config.tokenizers = _entries(TokenizerEntry, "tokenizers", config)
    report = _entry(ReportEntry, _section(located, "report", dict), ("report",), config)
    config.formats = report.formats if report else ()
    config.limits = _entry(Limits, _section(located, "limits", dict), ("limits",), config) or config.limits
    config.study = _entry(StudyEntry, _section(located, "study", dict), ("study",), config) or config.study
    config.named = frozenset(_section(located, "corpora", dict))
    config.metrics = list(_metrics(config))
    return config


def _section(located: Located, key: str, kind: type) -> Any:
    section = located.data.get(key)
    return section if isinstance(section, kind) else kind()


def _entry(model: type[M], data: Any, path: tuple[str | int, ...], config: Config) -> M | None:
    return validate(model, data, config.located, path, config.base, config.problems)


def _entries(model: type[M], key: str, config: Config) -> dict[str, M]:
    sections = _section(config.located, key, dict).items()
    return {name: entry for name, data in sections if (entry := _entry(model, data, (key, name), config))}


def _metrics(config: Config) -> Iterator[MetricEntry]:
    """Yield the metric families that are named, each with its corpora and its options."""
    located = config.located
    for k, item in enumerate(_section(located, "metrics", list)):
        if isinstance(item, str):
            yield MetricEntry(item, {}, ("metrics", k))
        elif isinstance(item, dict) and len(item) == 1:
            [(name, options)] = item.items()
            path = ("metrics", k, name)
            keys = _entry(MetricKeys, options or {}, path, config)
            if keys:
                yield MetricEntry(name, keys.options, path, keys.corpora)
            elif isinstance(options, dict):
                # The other options are checked, too, so that all problems are reported at once.
                yield MetricEntry(name, {key: value for key, value in options.items() if key != "corpora"}, path)
        else:
            message = "a metric is a name, or one name with its options: 'compression', or {fertility: {unit: gold}}"
            config.problems.append(Problem(located.where(("metrics", k)), message))
