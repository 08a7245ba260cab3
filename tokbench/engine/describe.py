"""The description of a run in its results: machine, plugins, corpora, tokenizers and metrics."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from tokbench.config.model import Config
from tokbench.corpus.words.icu import icu_version
from tokbench.corpus.words.unicode_tables import segmentation_versions
from tokbench.engine.load import READING_VOCABULARY, vocabulary_sha256
from tokbench.engine.workers.executor import usable_cores
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.foundation.failures import Failure
from tokbench.foundation.version import __version__
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.plan import Plan, PlannedTokenizer
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.registry.plugins import PluginStatus, Registry
from tokbench.results.blocks import (
    CorpusInfo,
    Environment,
    FamilyInfo,
    MetricInfo,
    PluginInfo,
    RunConfig,
    TokenizerInfo,
    TrainingInfo,
)

_PACKAGES = (
    *("numpy", "regex", "tiktoken", "sentencepiece", "splintr-rs", "rapidfuzz", "pandas", "pydantic", "pluggy"),
    *("SudachiPy", "SudachiDict-core", "tokenizers", "numba", "gigatoken"),
)


def describe_config(config: Config) -> RunConfig:
    """Return the texts of a configuration and of its bases, with what the command changed."""
    return RunConfig(
        file=config.path.name,
        sha256=hashlib.sha256(config.text.encode()).hexdigest(),
        text=config.text,
        bases=config.bases,
        limit=config.overrides.limit,
        only=list(config.overrides.only),
        settings=list(config.overrides.settings),
        formats=list(config.formats),
        weights=dict(config.weights),
        practical_margin=config.practical_margin,
        least_share=config.least_share,
        least_documents=config.least_documents,
        most_lost=config.most_lost,
    )


def describe_machine() -> Environment:
    """Return machine and versions; no host or user name, so that reports can be published."""
    return Environment(
        tokbench=__version__,
        python=f"{platform.python_implementation()} {sys.version.split()[0]}",
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cpu=_cpu_model(),
        cores=usable_cores(),
        memory_gib=_memory_gib(),
        load_average=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        timer_resolution_ns=round(time.get_clock_info("perf_counter").resolution * 1e9),
        threads={name: os.environ.get(name, "") for name in ONE_THREAD},
        packages={**{name: _version(name) for name in _PACKAGES}, "ICU": icu_version() or "not installed"},
        segmentation=segmentation_versions(),
    )


def describe_plugin(plugin: PluginStatus) -> PluginInfo:
    """Return what became of an entry point."""
    return PluginInfo(
        name=plugin.name,
        distribution=plugin.distribution,
        version=plugin.version,
        state="broken" if plugin.reason else "usable",
        reason=plugin.reason,
    )


@cache
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


def describe_corpus(plan: Plan, name: str) -> CorpusInfo:
    """Return where a corpus comes from, its size, and its digest."""
    entry, corpus, survey = plan.config.corpora[name], plan.corpora[name], plan.surveys[name]
    return CorpusInfo(
        source=entry.source,
        options=entry.options,
        licence=corpus.licence,
        sha256=survey.sha256,
        limit=corpus.limit,
        documents=survey.documents,
        bytes=survey.bytes,
        evaluated_bytes=survey.evaluated_bytes,
        holdout=corpus.holdout,
        parallel=corpus.parallel,
        reference=entry.reference,
        designed=entry.designed,
        groups=dict(survey.groups) if entry.evaluate else {},
        group_documents=dict(survey.all_groups) if entry.evaluate and corpus.holdout else {},
        group_bytes=dict(survey.all_group_bytes) if entry.evaluate and corpus.holdout else {},
    )


def describe_tokenizer(tokenizer: PreparedTokenizer, registry: Registry) -> TokenizerInfo:
    """Return where a tokenizer comes from, its state, and its digests."""
    planned = tokenizer.planned
    plugin = registry.backends.entries[planned.spec.name].plugin
    train = TrainingInfo(
        corpora=list(planned.train_on),
        documents=tokenizer.train_documents,
        bytes=tokenizer.train_bytes,
        vocab_size=tokenizer.facts.vocab_size if planned.auto and tokenizer.facts else planned.vocab_size,
        seconds=tokenizer.train_s,
        memory_mb=None if tokenizer.train_memory is None else tokenizer.train_memory / 1e6,
        from_store=tokenizer.train_from_store,
    )
    distribution = f"{plugin.distribution} {plugin.version}".strip()
    libraries = {name: _version(name) for name in planned.spec.requires}
    needed = ", ".join(f"{name} {version}" for name, version in libraries.items())
    return TokenizerInfo(
        backend=planned.spec.name,
        distribution=distribution,
        libraries=libraries,
        engine=(tokenizer.facts.engine or needed or distribution) if tokenizer.facts else "",
        options=planned.raw_options,
        optional=planned.optional,
        baseline=planned.spec.baseline,
        same_as=planned.same_as,
        corpora=list(planned.corpora),
        state=tokenizer.state,
        reason=tokenizer.reason,
        vocab_size=tokenizer.facts.vocab_size if tokenizer.facts else None,
        returns=tokenizer.facts.returns if tokenizer.facts else "",
        load_s=tokenizer.load_s,
        train=train if planned.train_on else None,
        sha256={**_digests(tokenizer.planned), "vocabulary": tokenizer.vocabulary} if tokenizer.facts else {},
        lacks=sorted(tokenizer.facts.lacks) if tokenizer.facts else [],
        notes=list(tokenizer.notes),
        repairs=getattr(planned.options, "repairs", {}) if planned.train_on else {},
        **tokenizer.saved,
    )


def _digests(planned: PlannedTokenizer) -> dict[str, str]:
    files = {name: value for name, value in planned.options if isinstance(value, Path) and value.is_file()}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def identify(prepared: list[PreparedTokenizer], pool: WorkerPool) -> list[PreparedTokenizer]:
    """Return the tokenizers with the digests of their vocabularies."""
    ready = {tokenizer.name: tokenizer for tokenizer in prepared if tokenizer.facts}
    unknown = [name for name, tokenizer in ready.items() if not tokenizer.vocabulary]
    jobs = [TokenizerJob((name,), READING_VOCABULARY, name, vocabulary_sha256) for name in unknown]
    for name, answer in pool.ask_each(jobs, "identifying tokenizers"):
        if isinstance(answer, WorkerDied | Failure):
            reason = (answer.failure if isinstance(answer, WorkerDied) else answer).reason
            ready[name] = ready[name].with_note(f"its vocabulary is not known: {reason}")
        else:
            ready[name] = replace(ready[name], vocabulary=answer)
    return [ready.get(tokenizer.name, tokenizer) for tokenizer in prepared]


def describe_families(plan: Plan, registry: Registry) -> dict[str, FamilyInfo]:
    """Return the options of every metric family of a run, and the package that brings it."""
    infos = {}
    for family, options in plan.metrics:
        plugin = registry.metrics.entries[family.name].plugin
        distribution = f"{plugin.distribution} {plugin.version}".strip()
        infos[family.name] = FamilyInfo(options=options.model_dump(mode="json"), distribution=distribution)
    return infos


def describe_metrics(
    families: Iterable[MetricFamily],
    bound: Mapping[str, tuple[str, ...]],
    ratios: Mapping[str, Sequence[str]],
    timed: Collection[str] = (),
) -> dict[str, MetricInfo]:
    """Return the definition of every metric, by id.

    Args:
        families: the metric families of the run.
        bound: the corpora of each family that is not measured on all.
        ratios: the names of the two sums of each metric that is their ratio.
        timed: the families whose numbers hold for one machine.
    """
    families = list(families)
    subject = {name for family in families for name in family.subject}
    return {
        metric.id: MetricInfo(
            family=family.name,
            unit=metric.unit,
            direction=metric.direction,
            formula=metric.formula,
            definition=metric.definition,
            label=metric.label,
            short_label=metric.short_label,
            headline=metric.headline,
            leads=metric.headline and family.name in subject,
            no_interval=metric.no_interval,
            loss_cannot_help=metric.loss_cannot_help,
            role=metric.role or "",
            timed=family.name in timed,
            by_output=metric.by_output,
            corpora=list(bound.get(family.name, ())),
            ratio_of=list(ratios.get(metric.id, ())),
        )
        for family in families
        for metric in family.values
    }
