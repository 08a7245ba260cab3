"""The cost of large corpora: seconds, memory and results of whole runs over texts of many sizes and shapes.

``TOKBENCH_BENCHMARK_SIZE`` multiplies the sizes, so that 10 gives a corpus of a gigabyte; by default the largest has 100 MB.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping
from itertools import count, cycle, islice
from pathlib import Path
from typing import NamedTuple

import corpora
import pytest
from child import run_command

FAMILIES = "[compression, fertility, continued_words, roundtrip, vocabulary, utf8]"
ALL_FAMILIES = (
    "[compression, fertility, continued_words, strr, utf8, roundtrip, worst_documents, vocabulary, usage, token_lengths, "
    "context, numbers, {nsl: {reference: bytes}}, pairs, overlap]"
)
"""The families of text metrics that are about any text, and that a user would measure together."""
OURS = "{backend: tokbench_bpe, encoding: cl100k_base}"
SPLINTR = "{backend: splintr, vocabulary: cl100k_base}"
SIX = {
    "cl100k": OURS,
    "o200k": "{backend: tokbench_bpe, encoding: o200k_base}",
    "fastokens": "{backend: fastokens, encoding: cl100k_base}",
    "splintr": "{backend: splintr, vocabulary: llama3}",
    "tiktoken": "{backend: tiktoken, encoding: o200k_base}",
    "bytes": "{backend: utf8_bytes}",
}
SECONDS_BETWEEN_LOOKS = 0.05
MB = 1_000_000


class Cost(NamedTuple):
    """The cost of a run.

    Attributes:
        wall: seconds from its start to its end.
        cpu: seconds of processor time of all processes.
        parent: the largest resident memory of the process of the command, in MB.
        worker: that of a worker, the largest.
        results: the size of results.json and its raw states, in MB.
        report: that of report.html, in MB.
    """

    wall: float
    cpu: float
    parent: float
    worker: float
    results: float
    report: float


def documents(size: int, each: int) -> Iterator[str]:
    """Yield different documents of about ``each`` bytes, with ``size`` bytes together: numbered sources."""
    texts = corpora.chunks(corpora.sources(min(size, 50 * MB)), each)
    for number, text in zip(count(), cycle(texts)):
        document = f"{number} {text}"
        size -= len(document.encode())
        if size < 0:
            return
        yield document


def write_jsonl(folder: Path, size: int) -> str:
    with (folder / "t.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in documents(size, 10_000))
    return "{source: jsonl, path: t.jsonl}"


def write_gz(folder: Path, size: int) -> str:
    with gzip.open(folder / "t.txt.gz", "wt", encoding="utf-8", compresslevel=1) as file:
        file.writelines(text.replace("\n", " ") + "\n" for text in documents(size, 1000))
    return "{source: text, path: t.txt.gz, document: line}"


def write_lines(folder: Path, size: int, each: int = 20) -> str:
    with (folder / "t.txt").open("w", encoding="utf-8") as file:
        file.writelines(text.replace("\n", " ") + "\n" for text in documents(size, each))
    return "{source: text, path: t.txt, document: line}"


def write_parquet(folder: Path, size: int) -> str:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetWriter(folder / "t.parquet", pa.schema([("text", pa.string())])) as file:
        for texts in batched(documents(size, 10_000), 1000):
            file.write_table(pa.table({"text": texts}))
    return "{source: parquet, path: t.parquet}"


def batched(texts: Iterator[str], count: int) -> Iterator[list[str]]:
    """Yield lists of so many texts; the last one may be shorter."""
    while some := list(islice(texts, count)):
        yield some


def write_files(folder: Path, size: int) -> str:
    for number, text in enumerate(documents(size, 160)):
        path = folder / f"f{number // 1000}" / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return "{source: text, path: 'f*/*.txt'}"


def write_document(folder: Path, size: int) -> str:
    (folder / "t.txt").write_text("".join(documents(size, 10_000)), encoding="utf-8")
    return "{source: text, path: t.txt}"


def write_groups(folder: Path, size: int) -> str:
    texts = documents(size, size // 130)
    for number, text in zip(range(128), texts, strict=False):
        (folder / f"g{number}.txt").write_text(text, encoding="utf-8")
    return "{source: text, path: 'g*.txt', document: line}"


def memory(pid: int) -> float:
    """Return the largest resident memory of a process so far, in MB; 0 if it has ended."""
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


def write_config(config: Path, sources: Mapping[str, str], tokenizers: Mapping[str, str], families: str) -> None:
    corpora_, tokenizers_ = (
        "".join(f"  {name}: {entry}\n" for name, entry in each.items()) for each in (sources, tokenizers)
    )
    config.write_text(
        f"schema: tokbench/1\nname: sizes\ncorpora:\n{corpora_}tokenizers:\n{tokenizers_}metrics: {families}\n",
        encoding="utf-8",
    )


def cost(config: Path, workers: int = 1, cores: int | None = None) -> Cost:
    """Run a configuration without a store, on so many cores at most, and look at the memory of its processes."""
    out, chosen = config.with_suffix(".out"), sorted(os.sched_getaffinity(0))[:cores]
    command = run_command(config, "--no-store", "--log", "none", "--workers", str(workers))
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    parent = worker = 0.0
    with config.with_suffix(".log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as running:
        os.sched_setaffinity(running.pid, chosen)
        while running.poll() is None:
            parent = max(parent, memory(running.pid))
            worker = max([worker, *map(memory, below(running.pid))])
            time.sleep(SECONDS_BETWEEN_LOOKS)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert running.returncode == 0, config.with_suffix(".log").read_text(encoding="utf-8")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    results = sum((out / name).stat().st_size for name in ("results.json", "states.jsonl.gz")) / MB
    return Cost(wall, cpu, parent, worker, results, (out / "report.html").stat().st_size / MB)


SHAPES = {
    "jsonl, 10 MB": (write_jsonl, 10 * MB, {"ours": OURS}),
    "jsonl, 30 MB": (write_jsonl, 30 * MB, {"ours": OURS}),
    "jsonl, 100 MB": (write_jsonl, 100 * MB, {"ours": OURS}),
    "gz, 10 MB": (write_gz, 10 * MB, {"ours": OURS, "splintr": SPLINTR}),
    "500,000 lines": (write_lines, 12 * MB, {"ours": OURS}),
    "10,000 files": (write_files, 1_660_000, {"ours": OURS}),
    "one document of 20 MB": (write_document, 20 * MB, {"ours": OURS}),
    "one document of 20 MB, splintr": (write_document, 20 * MB, {"splintr": SPLINTR}),
    "128 groups, 40 tokenizers": (write_groups, 1 * MB, {f"t{k}": SPLINTR for k in range(40)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_size(benchmark, tmp_path, shape):
    if not benchmark.enabled:
        pytest.skip("it takes minutes; run with --benchmark-enable")
    write, size, tokenizers = SHAPES[shape]
    size = int(size * float(os.environ.get("TOKBENCH_BENCHMARK_SIZE", "1")))
    source = write(tmp_path, size)
    config = tmp_path / "run.yaml"
    found = {}
    (tmp_path / "little.txt").write_text("a little text\n" * 10, encoding="utf-8")
    for name, corpus in (("least", "{source: text, path: little.txt}"), ("whole", source)):
        write_config(config, {"c": corpus}, tokenizers, FAMILIES)
        found[name] = cost(config)
    benchmark.pedantic(lambda: None, rounds=1)
    least, whole = found["least"], found["whole"]
    benchmark.extra_info["title"] = f"{shape}: {size / MB:g} MB of text, {len(tokenizers)} tokenizers"
    benchmark.extra_info["processor, s"] = {"run": round(whole.cpu, 1), "start, loading, end": round(least.cpu, 1)}
    benchmark.extra_info["memory, MB"] = {
        "parent": round(whole.parent),
        "worker": round(whole.worker),
        "worker, above its tokenizers": round(whole.worker - least.worker),
    }
    benchmark.extra_info["written, MB"] = {"results": round(whole.results, 2), "report": round(whole.report, 2)}


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "cores"), [(1, 1), (1, 2), (2, 2)])
def test_six_tokenizers_on_four_formats(benchmark, tmp_path, workers, cores):
    if not benchmark.enabled:
        pytest.skip("it takes minutes; run with --benchmark-enable")
    pytest.importorskip("pyarrow")
    size = int(100 * MB * float(os.environ.get("TOKBENCH_BENCHMARK_SIZE", "1")))
    sources = {
        "jsonl": write_jsonl(tmp_path, 4 * size // 10),
        "gz": write_gz(tmp_path, 2 * size // 10),
        "lines": write_lines(tmp_path, 2 * size // 10, 200),
        "parquet": write_parquet(tmp_path, 2 * size // 10),
    }
    config = tmp_path / "run.yaml"
    write_config(config, sources, SIX, ALL_FAMILIES)
    whole = cost(config, workers, cores)
    benchmark.pedantic(lambda: None, rounds=1)
    benchmark.extra_info["title"] = (
        f"{size / MB:g} MB in four formats, six tokenizers, {workers} workers, {cores} cores"
    )
    benchmark.extra_info["seconds"] = {"wall clock": round(whole.wall, 1), "processor": round(whole.cpu, 1)}
    benchmark.extra_info["memory, MB"] = {
        "parent": round(whole.parent),
        "worker, its tokenizers included": round(whole.worker),
    }
