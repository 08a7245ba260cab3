"""Seconds and memory of training with and without superwords: ``python reports/tools/superword_bench.py TEXT.txt``.

Each training is a new process, with all that it loads. Seconds are of the processor, of all processes; the memory is that
of the largest one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

_BENCHMARKS: Final = Path(__file__).parents[1] / "benchmarks"
_TOKBENCH: Final = [sys.executable, "-m", "tokbench"]
_SIZE: Final = "32768"


class Taken(NamedTuple):
    """What a command took."""

    wall_s: float
    cpu_s: float
    peak_gb: float


def measured(command: list[str], folder: str) -> Taken:
    """Run a command in a folder.

    Raises:
        CalledProcessError: it failed.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": _path()}
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Taken(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def _path() -> str:
    return os.pathsep.join([str(_BENCHMARKS), os.environ.get("PYTHONPATH", "")])


def _other(library: str, text: Path) -> list[str]:
    lines = f"open({str(text)!r}, encoding='utf-8').read().splitlines(keepends=True)"
    return [sys.executable, "-c", f"import trainers; trainers.TRAINERS[{library!r}]({lines}, {_SIZE}, 2)"]


def _train(backend: str, table: str) -> list[str]:
    return [*_TOKBENCH, "train", "--backend", f"{backend}:gpt4", "--counts", table, "--vocab-size", _SIZE]


def main(text: Path) -> None:
    """Print a table."""
    steps = {"plain BPE: count": [*_TOKBENCH, "count", str(text), "--document", "line", "-o", "plain.counts"]}
    steps["plain BPE: train"] = _train("regex_bpe", "plain.counts")
    for backend in ("superbpe", "boundless_bpe"):
        options = [str(text), "--document", "line", "--backend", backend, "--vocab-size", _SIZE, "-o", backend]
        steps[f"{backend}: table"] = [*_TOKBENCH, "superwords", *options]
        steps[f"{backend}: train"] = _train(backend, backend)
    steps |= {f"{library}, no superwords": _other(library, text) for library in ("rustbpe", "tokenizers")}
    sys.stdout.write("| training | wall s | CPU s | peak GB |\n| --- | --- | --- | --- |\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in steps.items():
            numbers = " | ".join(f"{number:.1f}" for number in measured(command, folder))
            sys.stdout.write(f"| {name} | {numbers} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
