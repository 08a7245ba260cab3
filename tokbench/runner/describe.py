"""What a results file says of its machine, corpora, tokenizers and metrics."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokbench.contracts.metric import MetricFamily
from tokbench.contracts.tokenizer import HasTokenBytes, Tokenizer
from tokbench.corpus.words.icu import icu_version
from tokbench.failures import Failure, attempt, doing
from tokbench.progress import Progress
from tokbench.registry import Registry
from tokbench.runner.plan import Plan, PlannedTokenizer
from tokbench.runner.prepare import PreparedTokenizer
from tokbench.runner.workers.pool import ONE_THREAD, WorkerDied, WorkerPool
from tokbench.runner.workers.worker import Job, WorkerContext

__all__ = ["describe_corpus", "describe_machine", "describe_metrics", "describe_tokenizer", "identify"]

_PACKAGES = (
    *("numpy", "regex", "tiktoken", "sentencepiece", "splintr-rs", "rapidfuzz", "pandas", "pydantic", "pluggy"),
    *("SudachiPy", "SudachiDict-core"),
)


def describe_machine() -> dict[str, Any]:
    """Machine and versions; no host or user name, so that reports can be published."""
    import tokbench

    return {
        "tokbench": tokbench.__version__,
        "python": f"{platform.python_implementation()} {sys.version.split()[0]}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory_gib(),
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "timer_resolution_ns": round(time.get_clock_info("perf_counter").resolution * 1e9),
        "threads": {name: os.environ.get(name, "") for name in ONE_THREAD},
        "packages": {**{name: _version(name) for name in _PACKAGES}, "ICU": icu_version() or "not installed"},
    }


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else "unknown"


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def describe_corpus(plan: Plan, name: str) -> dict[str, Any]:
    """Where a corpus comes from, what it holds, and its digest."""
    entry, corpus, survey = plan.config.corpora[name], plan.corpora[name], plan.surveys[name]
    return {
        "source": entry.source,
        "options": entry.options,
        "licence": corpus.source.licence,
        "sha256": survey.sha256,
        "documents": survey.documents,
        "bytes": survey.bytes,
        "evaluated_bytes": survey.evaluated_bytes,
        "holdout": corpus.holdout,
        "parallel": corpus.parallel,
        "reference": entry.reference,
        "groups": survey.groups if entry.evaluate else {},
    }


def describe_tokenizer(each: PreparedTokenizer, registry: Registry) -> dict[str, Any]:
    """What a tokenizer is, what became of it, and its digests."""
    planned = each.planned
    plugin = registry.backends.entries[planned.spec.name].plugin
    train = None
    if planned.train_on:
        train = {
            "corpora": list(planned.train_on),
            "documents": each.train_documents,
            "bytes": each.train_bytes,
            "vocab_size": planned.vocab_size,
            "seconds": each.train_s,
        }
    return {
        "backend": planned.spec.name,
        "distribution": f"{plugin.distribution} {plugin.version}".strip(),
        "libraries": {name: _version(name) for name in planned.spec.requires},
        "options": planned.given,
        "optional": planned.optional,
        "same_as": planned.same_as,
        "state": each.state.value,
        "reason": each.reason,
        "vocab_size": each.facts.vocab_size if each.facts else None,
        "load_s": each.load_s,
        "train": train,
        "sha256": {**_digests(each.planned), "vocabulary": each.vocabulary} if each.facts else {},
        "notes": list(each.notes),
        **each.saved,
    }


def _digests(planned: PlannedTokenizer) -> dict[str, str]:
    """sha256 of the files that the options name."""
    files = {name: value for name, value in planned.options if isinstance(value, Path) and value.is_file()}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


_LARGEST = 1 << 21
"""Vocabularies beyond this are made by a formula, not by training: nobody compares their digests."""


@dataclass(frozen=True)
class Identify(Job):
    """Digest of a tokenizer's vocabulary; the answer is the digest."""

    name: str

    def run(self, context: WorkerContext) -> Iterator[str]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        with doing("reading the vocabulary of", tokenizer=self.name, place=self.name):
            digest = attempt(lambda: _vocabulary_sha256(context.tokenizer(self.name)))
        yield "" if isinstance(digest, Failure) else digest


def identify(prepared: list[PreparedTokenizer], pool: WorkerPool, progress: Progress) -> list[PreparedTokenizer]:
    """Return the tokenizers with the digests of their vocabularies."""
    ready = {each.name: each for each in prepared if each.facts}
    jobs = (Identify(name) for name in ready)
    for done, (job, answer) in enumerate(pool.work(lambda: next(jobs, None)), 1):
        assert isinstance(job, Identify)
        if isinstance(answer, WorkerDied):
            ready[job.name] = ready[job.name].with_note(answer.failure.reason)
        else:
            ready[job.name] = replace(ready[job.name], vocabulary=answer)
        progress("identifying tokenizers", done, len(ready))
    return [ready.get(each.name, each) for each in prepared]


def _vocabulary_sha256(tokenizer: Tokenizer) -> str:
    """Digest over the bytes of every id, each preceded by its length; ``""`` where they are not told."""
    if not isinstance(tokenizer, HasTokenBytes) or tokenizer.vocab_size > _LARGEST:
        return ""
    sha = hashlib.sha256()
    for token_id in range(tokenizer.vocab_size):
        token = tokenizer.token_bytes(token_id)
        sha.update(len(token).to_bytes(4, "little") + token)
    return sha.hexdigest()


def describe_metrics(specs: list[MetricFamily]) -> dict[str, dict[str, str]]:
    """The definition of every value, by id."""
    return {
        value.id: {
            "family": spec.name,
            "unit": value.unit,
            "direction": value.direction,
            "formula": value.formula,
            "definition": value.definition,
        }
        for spec in specs
        for value in spec.values
    }
