"""The timings in the layout of pytest-benchmark, for ``pytest-benchmark compare``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tokbench.results.cells import WHOLE, Status
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.cells import Cell
    from tokbench.results.model import Results

_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}

_HOW: Final = (
    "seconds for one {unit}; mean is the median; min, max, q1 and q3 are the ends of its 95% interval, iqr their "
    "distance and stddev a quarter of it; 0 without an interval"
)


def pytest_benchmark_json(results: Results) -> str:
    """Return every timing with a value in the layout of pytest-benchmark's ``--benchmark-json``.

    A speed such as MB/s becomes the seconds for one MB. Sizes, ratios and text metrics are left out.
    """
    machine = results.environment
    body = {
        "machine_info": {
            "python_version": machine.python,
            "system": machine.system,
            "cpu": {"brand_raw": machine.cpu, "count": machine.cores},
        },
        "commit_info": {"id": "unversioned", "time": None, "dirty": False, "branch": "(unknown)"},
        "benchmarks": list(_benchmarks(results)),
        "datetime": results.created,
        "version": f"tokbench {machine.tokbench}",
    }
    return json.dumps(body, indent=1, allow_nan=False) + "\n"


def _benchmarks(results: Results) -> Iterator[dict[str, object]]:
    timed = {name for name, info in results.metrics.items() if info.timed}
    for cell in results.cells:
        stats = _stats(cell) if cell.metric in timed else None
        if stats:
            where = cell.corpus if cell.group == WHOLE else f"{cell.corpus}/{cell.group}"
            name = f"{cell.metric}[{cell.tokenizer}-{where}]"
            yield {
                "group": f"{cell.metric} {where}",
                "name": name,
                "fullname": f"{results.name}::{name}",
                "params": {"tokenizer": cell.tokenizer, "corpus": where},
                "param": f"{cell.tokenizer}-{where}",
                "extra_info": {
                    "tokenizer": cell.tokenizer,
                    "corpus": cell.corpus,
                    "corpus_sha256": results.corpora[cell.corpus].sha256 if cell.corpus in results.corpora else "",
                    "stats": _HOW.format(unit=cell.unit.removesuffix("/s")),
                },
                "options": {},
                "stats": stats,
            }


def _seconds(value: float | None, unit: str) -> float | None:
    if unit in _SECONDS and value is not None:
        return value * _SECONDS[unit]
    return 1 / value if unit.endswith("/s") and value else None


def _stats(cell: Cell) -> dict[str, Any] | None:
    median = _seconds(cell.value, cell.unit)
    if cell.status != Status.OK or median is None:
        return None
    ends = [seconds for end in (cell.ci_low, cell.ci_high) if (seconds := _seconds(end, cell.unit)) is not None]
    low, high = (min(ends), max(ends)) if len(ends) == 2 else (median, median)  # noqa: PLR2004 - two ends
    names = ("min", "q1", "ld15iqr")
    return {
        **dict.fromkeys(names, low),
        **dict.fromkeys(("max", "q3", "hd15iqr"), high),
        "mean": median,
        "median": median,
        "stddev": (high - low) / 4,
        "iqr": high - low,
        "iqr_outliers": 0,
        "stddev_outliers": 0,
        "outliers": "0;0",
        "rounds": max(1, cell.n),
        "iterations": 1,
        "ops": 1 / median if median else 0.0,
        "total": median * max(1, cell.n),
    }


SPEC = ReporterSpec(
    name="pytest_benchmark",
    summary="timings for pytest-benchmark compare",
    filename="pytest-benchmark.json",
    render=pytest_benchmark_json,
)
