"""The tables that a study of mixtures names, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from tokbench import plugin
from tokbench.plugin.metrics import StudyProblem
from tokbench_plugins.bpe import pattern_name, resolve_pattern
from tokbench_plugins.counts.facts import read_facts
from tokbench_plugins.counts.merge import available_memory, engine, has_order
from tokbench_trainers.mixtures.languages import LanguageTable
from tokbench_trainers.mixtures.options import BY_GROUP, MixturesStudy

_FEWEST: Final = 2


def tables_by_pattern(options: MixturesStudy) -> dict[str, list[LanguageTable]]:
    """Return the tables of each split that the study is about.

    Raises:
        InputError: a table cannot be read.
    """
    wanted = [resolve_pattern(pattern) for pattern in options.patterns]
    by_pattern: dict[str, list[LanguageTable]] = {pattern: [] for pattern in wanted}
    for language, paths in options.tables.items():
        for path in paths:
            facts = read_facts(path)
            if not wanted or facts.pattern in wanted:
                by_pattern.setdefault(facts.pattern, []).append(LanguageTable(language, path, facts))
    return by_pattern


def problems(options: MixturesStudy) -> Iterator[StudyProblem]:
    """Yield what is wrong with the options, before anything is measured."""
    if not all(map(find_spec, ("duckdb", "numba", "pyarrow"))):
        yield StudyProblem((), "the study needs DuckDB, numba and pyarrow: pip install 'tokbench[counts]'")
        return
    for k, pattern in enumerate(options.patterns):
        try:
            resolve_pattern(pattern)
        except ValueError as error:
            yield StudyProblem(("patterns", k), str(error))
            return
    try:
        by_pattern = tables_by_pattern(options)
    except plugin.InputError as error:
        yield StudyProblem(("tables",), str(error))
        return
    languages = list(dict.fromkeys(name for some in by_pattern.values() for table in some for name in table.languages))
    if BY_GROUP in languages:
        yield StudyProblem(("tables",), "a table has text without a group; name its language, as in {de: de.counts}")
        return
    yield from _of_tables(by_pattern, languages, options)
    yield from _of_shares(options, languages)


def _of_tables(
    by_pattern: Mapping[str, Sequence[LanguageTable]], languages: Sequence[str], options: MixturesStudy
) -> Iterator[StudyProblem]:
    if all(by_pattern.values()) and len(languages) < _FEWEST:
        yield StudyProblem(("tables",), "a mixture needs two languages or more; add a table, or count with --group")
    lacking = {
        pattern_name(pattern): set(languages) - {name for table in tables for name in table.languages}
        for pattern, tables in by_pattern.items()
    }
    for name, lacks in lacking.items():
        if lacks or not languages:
            what = "any language" if len(lacks) == len(languages) else ", ".join(sorted(lacks))
            message = f"no table of {what} has the split {name}; count the text with --pattern {name}"
            yield StudyProblem(("tables",), f"{message}, or name other splits under 'patterns'")
    sizes = {pattern_name(pattern): sum(table.facts.bytes for table in some) for pattern, some in by_pattern.items()}
    if len(set(sizes.values())) > 1 and not any(lacking.values()):
        said = ", ".join(f"{size:,} bytes with {name}" for name, size in sizes.items())
        yield StudyProblem(("tables",), f"splits are compared on the same text, and these are {said}; count again")
    if options.tie == "first":
        with engine(available_memory(), Path(gettempdir(), "tokbench-mixtures")) as connection:
            for path in (table.path for tables in by_pattern.values() for table in tables):
                if not has_order(connection, path):
                    message = "does not know where its chunks occur first; add 'tie: smallest', or count with firsts"
                    yield StudyProblem(("tables",), f"{path}: {message}")


def _of_shares(options: MixturesStudy, languages: Sequence[str]) -> Iterator[StudyProblem]:
    asked: list[tuple[tuple[str | int, ...], Mapping[str, float]]]
    asked = [(("weights", k), weights) for k, weights in enumerate(options.weights)]
    for place, weights in [*asked, *([(("text",), options.text)] if options.text else [])]:
        for name in weights:
            if name not in languages:
                message = f"unknown language {name!r}; {plugin.did_you_mean(name, languages)}"
                yield StudyProblem((*place, name), message)
        if not any(weights.values()):
            yield StudyProblem(place, "every weight is 0; give a language a weight above 0")
    if not options.mixtures:
        yield StudyProblem((), "no mixture is named; add 'weights' or 'alpha'")
