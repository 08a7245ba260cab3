"""Reads a file into :class:`tokbench.config.model.Config`, as far as this is possible without plugins."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from tokbench.config.extends import read_extended, read_text
from tokbench.config.model import (
    Config,
    CorpusEntry,
    Limits,
    MetricEntry,
    MetricKeys,
    NamedTokenizerEntry,
    ReportEntry,
    TokenizerEntry,
    TopLevel,
    expand,
)
from tokbench.config.overrides import Overrides, apply_settings
from tokbench.config.strict_yaml import FilePlace, Located
from tokbench.config.suites import find_config
from tokbench.config.validate import ConfigPart, validate
from tokbench.foundation.errors import InputError, Problem, did_you_mean, one_line
from tokbench.results.blocks import ConfigFile

M = TypeVar("M", bound=BaseModel)

NO_OVERRIDES: Final = Overrides()


def read_config(path: Path, overrides: Overrides = NO_OVERRIDES) -> Config:
    """Read a file or, if it does not exist, a suite of tokbench; malformed entries are in ``problems``.

    Raises:
        InputError: the file is missing, or it is not UTF-8, not YAML, or not a mapping.
    """
    file = find_config(path)
    return parse_config(read_text(file, str(file)), file, overrides)


def parse_config(text: str, path: Path, overrides: Overrides = NO_OVERRIDES) -> Config:
    """Read a configuration from its text, merged with its bases; relative paths start at the folder of ``path``.

    Raises:
        InputError: the text is not YAML, or not a mapping.
    """
    located, bases = read_extended(text, path)
    return _configured(text, path, overrides, located, bases)


def config_of(data: Mapping[str, Any], overrides: Overrides = NO_OVERRIDES) -> Config:
    """Return the configuration of a mapping with the keys of a file.

    Messages name a value by its keys, such as ``tokenizers.mine.backend``. Relative paths start at the current folder.

    Raises:
        InputError: a value has an unknown type, or the mapping cannot be read.
    """
    try:
        # JSON is YAML, and leaves no doubt about what is a string.
        text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False, default=_as_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the configuration cannot be written as YAML: {one_line(error)}") from error
    path = Path("configuration")
    located, bases = read_extended(text, path)
    for places in (located.keys, located.values):
        for keys, place in places.items():
            if place.name == str(path):
                places[keys] = FilePlace(".".join(map(str, keys)) or place.name, 0, 0)
    return _configured(text, path, overrides, located, bases)


def _as_json(value: Any) -> Any:
    """Return a path as text, a mapping as a dict, and a numpy number as a plain one; else a TypeError."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a string, a number, a list or a mapping")


def _configured(text: str, path: Path, overrides: Overrides, located: Located, bases: list[ConfigFile]) -> Config:
    if not isinstance(located.data, dict):
        raise InputError(located.problems or [Problem(located.where(()), "not a mapping of keys to values")])
    apply_settings(located, overrides.settings)
    config = Config(
        text, located, path, path.parent.absolute(), bases=bases, overrides=overrides, problems=located.problems
    )
    top = _entry(TopLevel, located.data, (), config)
    if top:
        config.name = top.name
        config.weights, config.practical_margin = dict(top.weights), top.practical_margin
        config.most_lost, config.least_share, config.least_documents = (
            top.most_lost,
            top.least_share,
            top.least_documents,
        )
    # Entries are read even if the top level is wrong elsewhere, so that all problems are reported at once.
    config.corpora = _entries(CorpusEntry, "corpora", config)
    config.tokenizers = {name: _with_counts(entry, config) for name, entry in _tokenizers(config).items()}
    report = _entry(ReportEntry, _section(located, "report", dict), ("report",), config)
    config.formats = report.formats if report else ()
    config.limits = _entry(Limits, _section(located, "limits", dict), ("limits",), config) or config.limits
    config.study = _section(located, "study", dict)
    known = {info.alias or name for name, info in TopLevel.model_fields.items()}
    config.further = {key: value for key, value in located.data.items() if key not in known}
    config.named = frozenset([*_section(located, "corpora", dict), *config.corpora])
    config.metrics = list(_metrics(config))
    _keep_only(config)
    return config


def _keep_only(config: Config) -> None:
    only = config.overrides.only
    variants = {name: [variant.name for variant in expand(name, entry)] for name, entry in config.tokenizers.items()}
    # An entry that is malformed has a problem of its own.
    known = {
        *_section(config.located, "tokenizers", dict),
        *(variant for some in variants.values() for variant in some),
    }
    for name in only:
        if name not in known:
            config.problems.append(
                Problem(f"--only {name}", f"no tokenizer is called {name!r}; {did_you_mean(name, known)}")
            )
    if only:
        kept = {name for name, some in variants.items() if name in only or not set(some).isdisjoint(only)}
        whole = {variant for name, some in variants.items() if name in only for variant in some}
        config.left_out = frozenset(known - kept - whole - set(only))
        config.tokenizers = {name: entry for name, entry in config.tokenizers.items() if name in kept}


def _section(located: Located, key: str, kind: type) -> Any:
    section = located.data.get(key)
    return section if isinstance(section, kind) else kind()


def _entry(model: type[M], data: Any, path: tuple[str | int, ...], config: Config) -> M | None:
    return validate(model, data, ConfigPart(config.located, path, config.base), config.problems)


def _entries(model: type[M], key: str, config: Config, but: Collection[str] = ()) -> dict[str, M]:
    sections = {name: data for name, data in _section(config.located, key, dict).items() if name not in but}
    return {name: entry for name, data in sections.items() if (entry := _entry(model, data, (key, name), config))}


def _tokenizers(config: Config) -> dict[str, TokenizerEntry]:
    named = _section(config.located, "tokenizers", dict)
    written = {name: data for name, data in named.items() if isinstance(data, str) and data}
    read = _entries(TokenizerEntry, "tokenizers", config, written)
    strings = {name: NamedTokenizerEntry(backend="", name=data) for name, data in written.items()}
    entries: dict[str, TokenizerEntry] = read | strings
    return {name: entries[name] for name in named if name in entries}


def _with_counts(entry: TokenizerEntry, config: Config) -> TokenizerEntry:
    """Make the tables of ``train: {counts: …}`` corpora of the source ``counts``, named like their files."""
    if not entry.train or not entry.train.counts:
        return entry
    names = []
    for path in entry.train.counts:
        corpus = CorpusEntry.model_validate({"source": "counts", "evaluate": False, "path": str(path)})
        name = PurePath(path).stem
        while config.corpora.get(name, corpus) != corpus:
            name += "-counts"
        config.corpora[name] = corpus
        names.append(name)
    return entry.model_copy(update={"train": entry.train.model_copy(update={"corpus": tuple(names)})})


def _metrics(config: Config) -> Iterator[MetricEntry]:
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
