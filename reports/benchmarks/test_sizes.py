"""The cost of large corpora: processor seconds and memory of whole runs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple

import corpora
import pytest
from child import run_command

FAMILIES = "[compression, fertility, continued_words, roundtrip, vocabulary, utf8]"
ONE = {"ours": "{backend: tokbench_bpe, encoding: cl100k_base}"}
MB = 1_000_000


class Cost(NamedTuple):
    """The cost of a run: processor seconds of all processes, and the largest memory of parent and worker, in MB."""

    cpu: float
    parent: float
    worker: float


def documents(size: int, each: int) -> Iterator[str]:
    """Yield different documents of about ``each`` bytes, with ``size`` bytes together: numbered sources."""
    for number, text in zip(count(), cycle(corpora.chunks(corpora.sources(min(size, 50 * MB)), each))):
        document = f"{number} {text}"
        size -= len(document.encode())
        if size < 0:
            return
        yield document


def write_jsonl(folder: Path, size: int, each: int = 10_000) -> str:
    with (folder / "t.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in documents(size, each))
    return "{source: jsonl, path: t.jsonl}"


def memory(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / MB for line in lines if line.startswith("VmHWM")), 0.0)


def below(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [process for child in map(int, children) for process in (child, *below(child))]


def cost(config: Path) -> Cost:
    """Run a configuration without a store, and look at the memory of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command, parent, worker = run_command(config, "--no-store", "--log", "none"), 0.0, 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            parent = max(parent, memory(running.pid))
            worker = max([worker, *map(memory, below(running.pid))])
            time.sleep(0.05)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert running.returncode == 0
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, parent, worker)


SHAPES = {
    "documents of 10 kB, 100 MB": (100 * MB, 10_000, ONE),
    "500,000 documents, 12 MB": (12 * MB, 20, ONE),
    "one document of 20 MB": (20 * MB, 10**9, ONE),
    "40 tokenizers, 1 MB": (MB, 10_000, dict.fromkeys(map("t{}".format, range(40)), "gpt-4")),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_size(benchmark, tmp_path, shape):
    if not benchmark.enabled:
        pytest.skip("it takes minutes; run with --benchmark-enable")
    size, each, tokenizers = SHAPES[shape]
    size = int(size * float(os.environ.get("TOKBENCH_BENCHMARK_SIZE", "1")))
    config, entries = tmp_path / "run.yaml", "".join(f"  {name}: {entry}\n" for name, entry in tokenizers.items())
    (tmp_path / "little.txt").write_text("a little text\n" * 10, encoding="utf-8")
    found = []
    for corpus in ("{source: text, path: little.txt}", write_jsonl(tmp_path, size, min(each, size - 9))):
        head = f"schema: tokbench/1\nname: sizes\ncorpora: {{c: {corpus}}}\n"
        config.write_text(f"{head}tokenizers:\n{entries}metrics: {FAMILIES}\n", encoding="utf-8")
        found.append(cost(config))
    benchmark.pedantic(lambda: None, rounds=1)
    benchmark.extra_info["title"] = f"{shape}: {size / MB:g} MB of text, {len(tokenizers)} tokenizers"
    least, whole = ([round(number, 1) for number in numbers] for numbers in found)
    benchmark.extra_info["a little text"] = dict(zip(Cost._fields, least, strict=True))
    benchmark.extra_info["whole"] = dict(zip(Cost._fields, whole, strict=True))
