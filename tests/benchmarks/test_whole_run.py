"""The seconds of a whole run, from its start to its reports: one tokenizer of ours and all common text metrics."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import child
import corpora
import pytest
from seconds import Parts

FAMILIES = ("compression", "fertility", "continued_words", "roundtrip", "vocabulary")

CONFIG = """
schema: tokbench/1
name: whole
corpora:
  sources: {{source: jsonl, path: sources.jsonl}}
tokenizers:
{tokenizers}
metrics: [{families}]
"""


def write_run(folder: Path, size: int, tokenizers: dict[str, str]) -> Path:
    """Write a configuration, and its text in documents of about 10,000 bytes."""
    documents = corpora.chunks(corpora.sources(size), 10_000)
    with (folder / "sources.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in documents)
    path = folder / f"{len(tokenizers)}.yaml"
    listed = "\n".join(f"  {name}: {entry}" for name, entry in tokenizers.items())
    path.write_text(CONFIG.format(tokenizers=listed, families=", ".join(FAMILIES)), encoding="utf-8")
    return path


def seconds_by_part(config: Path) -> dict[str, float]:
    """Run a configuration in this process, which should be new, and return the seconds of each part."""
    parts = Parts("start and the rest", began=0.0)
    import tokbench.api
    from tokbench.corpus import corpus, shards
    from tokbench.corpus.corpus import Corpus
    from tokbench.engine import check, encode_shard
    from tokbench.engine.evaluate import Evaluation
    from tokbench.measuring import encoded_shard
    from tokbench.measuring.family import MetricFamily
    from tokbench.registry.plugins import load_registry

    parts.watch(Corpus, "survey", "reading: survey")
    parts.watch(corpus, "shards", "reading: shards")
    parts.watch(check, "load_all", "loading")
    parts.watch(encode_shard, "encode_batch", "encode")
    parts.watch(encoded_shard, "decode_batch", "decode")
    parts.watch(shards, "find_words", "words")
    parts.watch(Evaluation, "add", "merging")
    parts.watch(tokbench.api, "finish", "cells")
    parts.watch(tokbench.api, "write_reports", "reports")
    for name in FAMILIES:
        family: MetricFamily = load_registry().metrics.get(name)
        parts.watch(family.text, "map", f"metric {name}")
    tokbench.run(config, config.with_suffix(".out"), workers=0)
    return parts.stop()


def forget_states(store: Path) -> None:
    """Put the surveys and states of earlier runs out of a store, so that a run measures anew.

    Recovered merges stay, as they do on a machine where tokbench ran before. Nothing is deleted: for half a minute after
    that, ext4 is slow to make new files, which no run of a user would pay for.
    """
    for kind in ("states", "survey"):
        if (store / kind).exists():
            (store / kind).rename(Path(tempfile.mkdtemp(dir=store.parent), kind))


def environment() -> dict[str, str]:
    """Return the environment of a user: Python keeps what it has compiled, and does not compile it in every process."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run_command(config: Path, *options: str) -> list[str]:
    """Return the command that runs a configuration; its results are beside it, in a folder that ends in ``.out``."""
    return [sys.executable, "-m", "tokbench", "run", str(config), "-o", str(config.with_suffix(".out")), *options]


def whole_run(config: Path, workers: int = 1) -> tuple[float, float]:
    """Return wall-clock seconds and seconds of processor time of ``tokbench run``, on one core for each worker."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    cores = sorted(os.sched_getaffinity(0))[:workers]
    subprocess.run(
        run_command(config, "--workers", str(workers)),
        check=True,
        capture_output=True,
        env=environment(),
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
def test_seconds_of_a_whole_run(benchmark, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    size = 50_000_000 if benchmark.enabled else 500_000
    config = write_run(tmp_path, size, {"ours": "{backend: tokbench_bpe, encoding: cl100k_base}"})
    found: list[tuple[float, float]] = []
    benchmark.pedantic(
        lambda: found.append(whole_run(config)),
        setup=lambda: forget_states(tmp_path / "store"),
        rounds=3 if benchmark.enabled else 1,
        warmup_rounds=1,
    )
    forget_states(tmp_path / "store")
    with child.on_cores(1) as call:
        by_part = call(seconds_by_part, config)
    assert {"loading", "encode", "decode", "reports", *(f"metric {name}" for name in FAMILIES)} <= by_part.keys()
    wall, processor = (min(column) for column in zip(*found, strict=True))
    benchmark.extra_info["title"] = f"a whole run: cl100k_base, {', '.join(FAMILIES)}, {size / 1e6:g} MB, one core"
    benchmark.extra_info["seconds"] = {
        "wall clock, best of three": round(wall, 2),
        "processor": round(processor, 2),
        **{part: round(taken, 2) for part, taken in by_part.items()},
        "all parts": round(sum(by_part.values()), 2),
    }
    benchmark.extra_info["MB/s"] = {"wall clock, best of three": round(size / 1e6 / wall, 1)}
