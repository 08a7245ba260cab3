"""Definitions of metrics as parts of pages: from the registry, with typical values and where they mislead."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from tokbench.plugin.metrics import Metric, MetricFamily
from tokbench.registry.plugins import load_registry

FOLDER = Path(__file__).parent


class Range(NamedTuple):
    """The values of a metric over published vocabularies, on one of the shipped corpora."""

    corpus: str
    lowest: str
    median: str
    highest: str
    lowest_of: str
    highest_of: str


@cache
def ranges() -> dict[str, list[Range]]:
    """Return the rows of ``typical.csv`` by metric."""
    with (FOLDER / "typical.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["metric"])
    return {
        metric: [Range(*(row[field] for field in Range._fields)) for row in some]
        for metric, some in itertools.groupby(rows, key=lambda row: row["metric"])
    }


@cache
def notes() -> dict[str, dict[str, str]]:
    """Return what ``metrics.yaml`` says by family."""
    with (FOLDER / "metrics.yaml").open(encoding="utf-8") as file:
        notes: dict[str, dict[str, str]] = yaml.safe_load(file)
    return notes


@cache
def every_family() -> dict[str, MetricFamily]:
    """Return the families that have notes and yield numbers: those that come with tokbench."""
    entries = load_registry().metrics.entries
    return {name: entry.spec for name, entry in sorted(entries.items()) if name in notes() and entry.spec.values}


def families(names: Iterable[str]) -> str:
    """Return Markdown that describes some families, one after the other."""
    return "\n".join(_family(every_family()[name]) for name in names)


def _key(spec: MetricFamily) -> str:
    return f"metrics: [{spec.name}]" if spec.values else "study: {vocabulary: {}}"


def _family(spec: MetricFamily) -> str:
    said = notes()[spec.name]
    lines = [
        f"### {spec.name} {{#family-{spec.name}}}",
        "",
        f"{_sentence(spec.summary)} In a configuration: `{_key(spec)}`.",
        "",
        f"**When it misleads.** {_sentence(said['misleads'])}",
        "",
        f"**Source.** {_sentence(_text(said.get('source', 'the definition is tokbench’s own')))}",
        "",
    ]
    for alike in _grouped(spec.values):
        lines += _metric(alike)
    return "\n".join(lines)


def _grouped(metrics: Iterable[Metric]) -> Iterable[list[Metric]]:
    """Yield metrics that stand together: those that differ in a number alone."""
    for _, alike in itertools.groupby(metrics, key=lambda metric: re.sub(r"\d+", "#", metric.id + metric.formula)):
        yield list(alike)


def _metric(alike: list[Metric]) -> list[str]:
    first, last = alike[0], alike[-1]
    name = f"`{first.id}`" + (f" … `{last.id}`" if len(alike) > 1 else "")
    better = {"higher": "higher is better", "lower": "lower is better", "none": "neither direction is better"}
    typical = [
        (f"`{metric.id}` " if len(alike) > 1 else "")
        + f"on {values.corpus}: {values.lowest} ({values.lowest_of}) to {values.highest} ({values.highest_of}), "
        f"median {values.median}"
        for metric in dict.fromkeys((first, last))
        for values in ranges().get(metric.id, ())
    ]
    lines = [
        name,
        f":   {_text(_sentence(first.definition))}",
        "",
        f"    *Formula:* {_text(first.formula)}. *Unit:* {_text(first.unit)}; {better[first.direction]}.",
    ]
    if typical:
        lines += ["", f"    *Typical:* {'; '.join(typical)}."]
    return [*lines, ""]


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _text(text: str) -> str:
    """Text in which nothing but code in backquotes is markup, so that a formula is read as it stands."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text).replace("\\<", "&lt;").replace("\\>", "&gt;")
