"""Checks the key ``corpora``, by which tokenizers and metrics have no cell on other corpora; what studies foresee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from tokbench.config.model import Config
from tokbench.foundation.errors import did_you_mean
from tokbench.foundation.failures import Failure, attempt
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Role
from tokbench.measuring.plan import Plan
from tokbench.measuring.study import StudyProblem, StudySpec
from tokbench.registry.plugins import Registry
from tokbench.tokenizers.options import Options, names_in

Path = tuple[str | int, ...]


def check_restrictions(plan: Plan) -> Iterator[StudyProblem]:
    """Yield everything that is wrong with the restrictions of a plan whose tokenizers and metrics are known."""
    problems = [*_unknown(plan.config), *_of_families(plan)]
    yield from problems
    # A name that does not exist, or a corpus that cannot be read, would be reported a second time below.
    if not problems and len(plan.corpora) == len(plan.config.named):
        yield from _nothing_left(plan)
        yield from _without_common_corpus(plan)
        yield from _references(plan)


def _bound(config: Config) -> Iterator[tuple[Path, tuple[str, ...]]]:
    yield from ((("tokenizers", name, "corpora"), entry.corpora) for name, entry in config.tokenizers.items())
    yield from (((*entry.path, "corpora"), entry.corpora) for entry in config.metrics if entry.corpora)


def _unknown(config: Config) -> Iterator[StudyProblem]:
    for path, names in _bound(config):
        for k, name in enumerate(names):
            if name not in config.named:
                yield StudyProblem((*path, k), f"unknown corpus {name!r}; {did_you_mean(name, config.named)}")


def _of_families(plan: Plan) -> Iterator[StudyProblem]:
    """Yield families that have no corpora, and metrics of text or models on a corpus that is not evaluated."""
    families = {family.name: family for family, _ in plan.metrics}
    for entry in plan.config.metrics:
        family, path = families.get(entry.name), (*entry.path, "corpora")
        if family and plan.has_own_texts(family) and entry.corpora:
            yield StudyProblem(path, f"{entry.name!r} has texts of its own and needs no corpus; remove 'corpora'")
        elif family and not plan.is_alone(family):
            for k, name in enumerate(entry.corpora):
                if name in plan.config.named and (problem := plan.corpus_problem(name)):
                    yield StudyProblem((*path, k), problem)
    alone = {
        name for family, _ in plan.metrics if plan.is_alone(family) for name in plan.restricted_to.get(family.name, ())
    }
    for tokenizer, bound in plan.config.tokenizers.items():
        for k, name in enumerate(bound.corpora):
            problem = plan.corpus_problem(name) if name in plan.config.named and name not in alone else ""
            if problem:
                yield StudyProblem(("tokenizers", tokenizer, "corpora", k), problem)


def _nothing_left(plan: Plan) -> Iterator[StudyProblem]:
    for entry in plan.config.metrics:
        for k, corpus in enumerate(entry.corpora):
            if not plan.names_on(corpus):
                message = f"no tokenizer is measured on corpus {corpus!r}; remove it here, or add it to a tokenizer"
                yield StudyProblem((*entry.path, "corpora", k), message)
    probed = any(plan.has_own_texts(family) for family, _ in plan.metrics)
    measured = {corpus for family, _ in plan.metrics for corpus in plan.corpora_of(family)}
    for name, tokenizer in plan.config.tokenizers.items():
        if tokenizer.corpora and plan.metrics and not probed and measured.isdisjoint(tokenizer.corpora):
            message = f"no metric is measured on {_listed(tokenizer.corpora)}, so the run would not measure {name!r}"
            yield StudyProblem(
                ("tokenizers", name, "corpora"), f"{message}; known with metrics: {_listed(sorted(measured))}"
            )


def _without_common_corpus(plan: Plan) -> Iterator[StudyProblem]:
    """Yield tokenizers that have no corpus in common with their reference."""
    for name, entry in plan.config.tokenizers.items():
        other = next((tokenizer for tokenizer in plan.tokenizers if tokenizer.name == entry.same_as), None)
        theirs = other.info.corpora if other else []
        if other and entry.corpora and theirs and set(entry.corpora).isdisjoint(theirs):
            message = f"{name!r} is measured on {_listed(entry.corpora)}, {other.name!r} on {_listed(theirs)}"
            yield StudyProblem(("tokenizers", name, "same_as"), f"{message}; give both a common corpus, to compare ids")


def _references(plan: Plan) -> Iterator[StudyProblem]:
    """Yield families that compare with a tokenizer on corpora on which it is not measured."""
    paths = {entry.name: entry.path for entry in plan.config.metrics}
    planned = {tokenizer.name for tokenizer in plan.tokenizers}
    for family, options in plan.metrics:
        for reference, place in _tokenizers(options):
            lacking = [corpus for corpus in _places(plan, family) if reference not in plan.names_on(corpus)]
            if lacking and reference in planned:
                message = f"tokenizer {reference!r} is not measured on {_listed(lacking)}; add it to its 'corpora'"
                yield StudyProblem(
                    (*paths[family.name], *place), f"{message}, or restrict {family.name!r} to the others"
                )


def _tokenizers(options: Options) -> Iterator[tuple[str, tuple[str, ...]]]:
    return ((name, place) for kind, name, place in names_in(options) if kind == "tokenizer")


def _places(plan: Plan, family: MetricFamily) -> list[str]:
    return [corpus for corpus in plan.corpora_of(family) if plan.names_on(corpus)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "no corpus"


MANY_GROUPS: Final = 200


def group_notes(plan: Plan) -> Iterator[str]:
    """Yield notes on corpora with very many groups."""
    for corpus in plan.measured:
        groups = len(plan.surveys[corpus].groups)
        if groups <= MANY_GROUPS:
            continue
        cells = plan.cells_on(corpus, len(plan.names_on(corpus)), groups)
        where = plan.config.located.where(("corpora", corpus, "group"))
        yield (
            f"corpus {corpus} has {groups:,} groups, which make {cells:,} results; reports show {MANY_GROUPS} groups; "
            f"if one is enough, write 'group: files' ({where})"
        )


def restriction_notes(plan: Plan) -> Iterator[str]:
    """Yield notes on losses that are not measured because of a restriction."""
    losses = plan.family(Role.ROUND_TRIP)
    if losses is None or losses.name not in plan.restricted_to:
        return
    for corpus in plan.measured:
        gain = any(not metric.loss_cannot_help for family in plan.families_on(corpus) for metric in family.values)
        if gain and corpus not in plan.corpora_of(losses):
            unknown = "losses are unknown there, so no tokenizer is ranked"
            yield f"{losses.name} is not measured on corpus {corpus}: {unknown}"


def outlook(plan: Plan, registry: Registry) -> Iterator[str]:
    """Yield what the studies of a plan can say of it before it runs."""
    for name, options in plan.studies.items():
        spec = registry.studies.get(name)
        said = attempt(partial(_said_by, spec, plan, options), f"the study {spec.name!r} says nothing of the plan")
        yield from [said.reason] if isinstance(said, Failure) else said


def _said_by(spec: StudySpec, plan: Plan, options: Any) -> list[str]:
    return list(spec.outlook(plan, options)) if spec.outlook else []
