"""The description of a run in its results: machine, plugins, corpora, tokenizers and metrics."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from tokbench.config.model import Config
from tokbench.corpus.words.icu import icu_version
from tokbench.corpus.words.unicode_tables import segmentation_versions
from tokbench.engine.workers.executor import usable_cores
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.foundation.version import __version__
from tokbench.measuring.family import described
from tokbench.measuring.plan import Plan
from tokbench.registry.plugins import Catalogue, Registry
from tokbench.results.blocks import CorpusInfo, Environment, FamilyInfo, PluginInfo, RunConfig
from tokbench.results.model import Results

_PACKAGES = (
    *("numpy", "regex", "tiktoken", "sentencepiece", "splintr-rs", "rapidfuzz", "pandas", "pydantic", "pluggy"),
    *("tokenizers", "numba", "gigatoken"),
)


def describe(results: Results, plan: Plan, registry: Registry) -> None:
    """Fill in what is known of a run before anything is measured."""
    results.config, results.environment = _config(plan.config), _machine()
    results.plugins = [
        PluginInfo(
            name=plugin.name,
            distribution=plugin.distribution,
            version=plugin.version,
            state="broken" if plugin.reason else "usable",
            reason=plugin.reason,
        )
        for plugin in registry.plugins
    ]
    results.corpora = {name: _corpus(plan, name) for name in plan.corpora}
    alone = {name for name, spec in plan.study_specs.items() if spec.alone}
    results.metrics = described([family for family, _ in plan.metrics], plan.restricted_to, alone)
    results.families = {
        family.name: FamilyInfo(
            options=options.model_dump(mode="json"), distribution=distribution_of(registry.metrics, family.name)
        )
        for family, options in plan.metrics
    }


def distribution_of(specs: Catalogue[Any], name: str) -> str:
    """Return the package of the plugin that registers a name, with its version."""
    plugin = specs.entries[name].plugin
    return f"{plugin.distribution} {plugin.version}".strip()


def _config(config: Config) -> RunConfig:
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


def _machine() -> Environment:
    # Without host and user name, so that reports can be published.
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
        packages={**{name: installed_version(name) for name in _PACKAGES}, "ICU": icu_version() or "not installed"},
        segmentation=segmentation_versions(),
    )


@cache
def installed_version(distribution: str) -> str:
    """Return the version of a distribution, or that it is not installed."""
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


def _corpus(plan: Plan, name: str) -> CorpusInfo:
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
