"""The cells as airspeed velocity (asv) stores results: one file of numbers, one of what they are, one of the machine.

The layout is that of "Benchmark suite layout and file formats" in asv's documentation for developers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from tokbench.plugin import ReporterSpec, place_name, visible

if TYPE_CHECKING:
    from tokbench.plugin import Results

_FORMAT: Final = 2
_MACHINE_FORMAT: Final = 1
_MACHINE: Final = "tokbench"
"""The name of the machine, and of the folder where asv looks for its results."""

COLUMNS: Final = (
    "result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25",
    "stats_q_75", "stats_number", "stats_repeat", "samples", "profile",
)  # fmt: skip
"""The columns of a row of results, in asv's order. Those after the version are left out, as asv does with missing data:
the intervals of tokbench are 95 % and not 99 %."""


class _Benchmark(NamedTuple):
    """A metric as a benchmark of asv, with a value for each tokenizer and place; ``None`` where there is no number."""

    name: str
    unit: str
    code: str
    params: list[list[str]]
    values: list[float | None]

    @property
    def version(self) -> str:
        """The version of the definition: asv ignores numbers of another one."""
        return hashlib.sha256(self.code.encode(errors="replace")).hexdigest()


def _benchmarks(results: Results) -> Iterator[_Benchmark]:
    """Yield the metrics that have a number, in the order of the results."""
    values: dict[str, dict[tuple[str, str], float | None]] = {}
    units: dict[str, str] = {}
    for cell in results.cells:
        values.setdefault(cell.metric, {})[cell.tokenizer, place_name(cell.corpus, cell.group)] = cell.value
        units.setdefault(cell.metric, cell.unit)
    for metric, by_place in values.items():
        info = results.metrics.get(metric)
        if info is None or all(value is None for value in by_place.values()):
            continue
        params = [list(dict.fromkeys(place[k] for place in by_place)) for k in (0, 1)]
        yield _Benchmark(
            f"{info.family}.track_{metric}",
            units[metric],
            info.formula,
            [[repr(name) for name in names] for names in params],
            [by_place.get((tokenizer, where)) for tokenizer, where in product(*params)],
        )


def _machine(results: Results) -> dict[str, str]:
    """Return what asv keeps of a machine; memory is not known."""
    machine = results.environment
    return {
        "machine": _MACHINE,
        "os": machine.system,
        "arch": machine.system.rpartition(" ")[2],
        "cpu": visible(machine.cpu),  # asv makes folders of these
        "num_cpu": str(machine.cores or ""),
        "ram": "",
    }


def asv_machine(results: Results) -> str:
    """Return the description of the machine, which asv reads as ``machine.json``, or it passes over its results."""
    return json.dumps({**_machine(results), "version": _MACHINE_FORMAT}, indent=1) + "\n"


def asv_results(results: Results) -> str:
    """Return the numbers. The values of a metric are in the order of ``itertools.product`` of tokenizers and places.

    The commit is not known here: set ``commit_hash`` before the file is given to asv.
    """
    machine = results.environment
    created = datetime.fromisoformat(results.created) if results.created else None
    rows = {
        benchmark.name: [benchmark.values, benchmark.params, benchmark.version] for benchmark in _benchmarks(results)
    }
    body = {
        "commit_hash": "",
        "env_name": f"tokbench-{visible(results.name)}",
        "date": round(created.timestamp() * 1000) if created else 0,
        "params": {
            **_machine(results),
            "python": machine.python,
        },
        "python": machine.python,
        "requirements": {visible(name): visible(version) for name, version in machine.packages.items()},
        "env_vars": dict(machine.threads),
        "result_columns": list(COLUMNS),
        "results": rows,
        "durations": {},
        "version": _FORMAT,
    }
    return json.dumps(body, indent=1, allow_nan=False) + "\n"


def asv_benchmarks(results: Results) -> str:
    """Return the description of the metrics, which asv reads as ``benchmarks.json``."""
    described = {
        benchmark.name: {
            "name": benchmark.name,
            "type": "track",
            "unit": benchmark.unit,
            "code": benchmark.code,
            "params": benchmark.params,
            "param_names": ["tokenizer", "corpus"],
            "version": benchmark.version,
        }
        for benchmark in _benchmarks(results)
    }
    return json.dumps({**described, "version": _FORMAT}, indent=1, allow_nan=False) + "\n"


SPECS: Final = (
    ReporterSpec(
        name="asv",
        summary="every number for airspeed velocity (asv)",
        filename="asv.json",
        render=asv_results,
    ),
    ReporterSpec(
        name="asv_benchmarks",
        summary="the metrics, as asv's benchmarks.json describes them",
        filename="asv-benchmarks.json",
        render=asv_benchmarks,
    ),
    ReporterSpec(
        name="asv_machine",
        summary="the machine, as asv's machine.json describes it",
        filename="asv-machine.json",
        render=asv_machine,
    ),
)
"""The formats of this file."""
