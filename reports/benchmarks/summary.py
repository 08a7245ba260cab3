"""Print what the benchmarks measured as Markdown tables at the end of the session."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["tables"]

_LIBRARIES = (
    "numba",
    "numpy",
    "regex",
    "rustbpe",
    "tokenizers",
    "gigatoken",
    "sentencepiece",
    "splintr-rs",
    "tiktoken",
)


def tables(benchmarks: Iterable[Any]) -> Iterator[str]:
    """The machine and the versions, then one table for each benchmark."""
    yield f"\n{_machine()}; {', '.join(f'{name} {version(name)}' for name in _LIBRARIES)}"
    for benchmark in benchmarks:
        yield from _table(dict(benchmark.extra_info), benchmark.name)


def _machine() -> str:
    processors = Path("/proc/cpuinfo")
    lines = processors.read_text(encoding="utf-8").splitlines() if processors.exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    return f"{model}, {platform.system()}, Python {platform.python_version()}"


def _table(info: dict[str, Any], name: str) -> Iterator[str]:
    """A row a contender, a column a kind of figure."""
    yield f"\n{info.pop('title', name)}\n"
    columns = {key: figures if isinstance(figures, dict) else {"": figures} for key, figures in info.items()}
    rows = list(dict.fromkeys(row for figures in columns.values() for row in figures))
    yield f"| | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for row in rows:
        yield f"| {row} | {' | '.join(str(figures.get(row, '')) for figures in columns.values())} |"
