"""From configuration and plugins to the plan of a run, or to everything that is wrong."""

from __future__ import annotations

from typing import Final

from tokbench.config.model import Config, CorpusEntry
from tokbench.contracts.metric import MetricFamily, Role
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.errors import did_you_mean
from tokbench.progress import Progress
from tokbench.registry import Registry
from tokbench.runner.plan.model import Plan
from tokbench.runner.plan.resolve import Path, Resolver
from tokbench.runner.plan.tokenizers import TokenizerPlanner

_STUDIED: Final = (Role.TEXT_PER_TOKEN, Role.TOKENS_PER_WORD, Role.ROUND_TRIP, Role.UNKNOWN, Role.ID_COUNTS)
"""The roles that a study of vocabulary sizes rests on."""

_STUDY: Final = "a study: write 'study: {vocabulary: {}}'"


def make_plan(config: Config, registry: Registry, progress: Progress) -> Plan:
    """Resolve every name, validate every option, read every corpus once. Nothing is raised: see ``problems``."""
    plan = Plan(config, problems=list(config.problems))
    planner = _Planner(config, registry, plan)
    tokenizers = TokenizerPlanner(config, registry, plan)
    for done, (name, corpus) in enumerate(config.corpora.items(), 1):
        planner.corpus(name, corpus)
        progress("reading corpora", done, len(config.corpora))
    for name, tokenizer in config.tokenizers.items():
        tokenizers.tokenizer(name, tokenizer)
    tokenizers.same_as()
    planner.metrics()
    planner.study()
    planner.same_ids()
    planner.reporters()
    return plan


class _Planner(Resolver):
    def corpus(self, name: str, entry: CorpusEntry) -> None:
        path = ("corpora", name)
        spec = self._try((*path, "source"), lambda: self._registry.corpora.get(entry.source))
        if spec is None:
            return
        options = self._options(spec.options, entry.options, path, tuple(CorpusEntry.model_fields))
        if options is None:
            return
        source = self._try(path, lambda: spec.open(options))
        if source is None:
            return
        corpus = Corpus(name, source, holdout=entry.holdout, parallel=entry.parallel)
        survey = self._try(path, corpus.survey)
        if survey is not None:
            self._plan.corpora[name] = corpus
            self._plan.surveys[name] = survey
            if entry.evaluate:
                self._plan.measured.append(name)
            self._reference(entry, survey, (*path, "reference"))

    def _reference(self, entry: CorpusEntry, survey: Survey, path: Path) -> None:
        if entry.reference and not entry.parallel:
            self._problem(path, "a reference needs groups that are translations; add 'parallel: true', or remove it")
        elif entry.reference and entry.reference not in survey.groups:
            hint = did_you_mean(entry.reference, survey.groups)
            self._problem(path, f"unknown group {entry.reference!r}; {hint}")

    def metrics(self) -> None:
        for entry in self._config.metrics:
            spec = self._try(entry.path, lambda name=entry.name: self._registry.metrics.get(name))  # type: ignore[misc]
            if spec is None:
                continue
            if spec in [known for known, _ in self._plan.metrics]:
                self._problem(entry.path, f"metric {entry.name!r} is given twice")
                continue
            options = self._options(spec.options, entry.options, entry.path, ())
            if options is not None:
                self._check_names(options, entry.path)
                self._plan.metrics.append((spec, options))

    def study(self) -> None:
        """Add the families that a study of vocabulary sizes rests on."""
        counts = self._plan.family(Role.ID_COUNTS)
        if self._config.study.vocabulary:
            for role in _STUDIED:
                self._add(role)
        elif counts:
            path = next(entry.path for entry in self._config.metrics if entry.name == counts.name)
            self._problem(path, f"{counts.name!r} comes with {_STUDY} instead")

    def same_ids(self) -> None:
        """Add the comparison of tokenizers where one is declared the same as another."""
        if any(each.same_as for each in self._plan.tokenizers):
            self._add(Role.SAME_IDS)

    def _add(self, role: Role) -> None:
        """Add the first registered family that has a role, unless the plan has one."""
        if not self._plan.family(role):
            family = next((family for family in self._registry.metrics if family.has_role(role)), None)
            if family is None:
                self._problem(("metrics",), f"no plugin brings a metric with the role {role.value!r}")
            else:
                self._plan.metrics.append((family, family.options()))

    def reporters(self) -> None:
        for k, name in enumerate(self._config.formats):
            spec = self._try(("report", "formats", k), lambda name=name: self._registry.reporters.get(name))  # type: ignore[misc]
            if spec is not None:
                self._plan.reporters.append(spec)
        for family in self._registry.metrics:
            if family.companion:
                self._companion(family)

    def _companion(self, family: MetricFamily) -> None:
        """Add the format that comes with a family of the run; refuse the format without the family."""
        name = family.companion
        known = [spec.name for spec in self._plan.reporters]
        due = {entry.name for entry in self._config.metrics} | {planned.name for planned, _ in self._plan.metrics}
        if family.name in due and name not in known:
            spec = self._try(("metrics",), lambda: self._registry.reporters.get(name))
            self._plan.reporters += [spec] if spec else []
        elif name in known and family.name not in due:
            path = ("report", "formats", self._config.formats.index(name))
            lacking = _STUDY if family.has_role(Role.ID_COUNTS) else f"the metrics {family.name!r}: add them"
            self._problem(path, f"format {name!r} comes with {lacking} as well")
