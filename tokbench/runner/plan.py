"""Configuration and plugins -> what will be done, or everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tokbench.config.grid import Variant, expand
from tokbench.config.model import Config, CorpusEntry, TokenizerEntry
from tokbench.config.validate import validate
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.errors import InputError, Problem, did_you_mean
from tokbench.guard import Failure, attempt
from tokbench.metrics.contract import MetricSpec
from tokbench.progress import Progress
from tokbench.protocol import BackendSpec, Options
from tokbench.registry import Registry, missing
from tokbench.reporter import ReporterSpec

__all__ = ["Plan", "PlannedTokenizer", "make_plan", "reading_order"]

CURVE: Final = "curve"
"""What a study of vocabulary sizes adds: a family of metrics, and a report format."""

STUDIED: Final = ("compression", "fertility", CURVE)
"""The families that a study of vocabulary sizes rests on."""

T = TypeVar("T")
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class PlannedTokenizer:
    """A tokenizer that will be loaded or trained.

    Attributes:
        name: its name in the run.
        entry: the name of its entry, which may make several tokenizers.
        spec: its backend.
        options: the backend's options, validated.
        given: the options as they were written.
        train_on: names of the corpora to train on; empty if it is loaded.
        vocab_size: the size to train at.
        optional: whether the run goes on without it.
        same_as: the tokenizer whose ids it must give; ``""`` if none.
        where: its place in the configuration.
        absent: why the backend cannot be used here; ``""`` if it can.
    """

    name: str
    entry: str
    spec: BackendSpec
    options: Options
    given: dict[str, Any]
    train_on: tuple[str, ...]
    vocab_size: int
    optional: bool
    same_as: str
    where: str
    absent: str


@dataclass
class Plan:
    """What a run will do.

    Attributes:
        config: the configuration file.
        corpora, surveys: by name, with what one pass over each found.
        measured: names of the corpora that are evaluated.
        tokenizers: in the order of the file.
        metrics: families with their options.
        reporters: report formats.
        problems: all that is wrong; a run begins only if there is nothing.
    """

    config: Config
    corpora: dict[str, Corpus] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    measured: list[str] = field(default_factory=list)
    tokenizers: list[PlannedTokenizer] = field(default_factory=list)
    metrics: list[tuple[MetricSpec, Options]] = field(default_factory=list)
    reporters: list[ReporterSpec] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def make_plan(config: Config, registry: Registry, progress: Progress) -> Plan:
    """Resolve every name, validate every option, read every corpus once. Nothing is raised: see ``problems``."""
    plan = Plan(config, problems=list(config.problems))
    planner = _Planner(config, registry, plan)
    for done, (name, corpus) in enumerate(config.corpora.items(), 1):
        planner.corpus(name, corpus)
        progress("reading corpora", done, len(config.corpora))
    for name, tokenizer in config.tokenizers.items():
        planner.tokenizer(name, tokenizer)
    planner.same_as()
    planner.metrics()
    planner.study()
    planner.reporters()
    return plan


class _Planner:
    def __init__(self, config: Config, registry: Registry, plan: Plan) -> None:
        self._config = config
        self._registry = registry
        self._plan = plan

    def _problem(self, path: Path, message: str) -> None:
        self._plan.problems.append(Problem(self._config.located.where(path), message))

    def _try(self, path: Path, step: Callable[[], T]) -> T | None:
        """The result of a step; if it raises, a problem at a place of the file and ``None``."""

        def told() -> T | InputError:
            try:
                return step()
            except InputError as error:
                return error

        result = attempt(told)
        if isinstance(result, InputError):
            for problem in result.problems:
                self._problem(path, str(problem))
            return None
        if isinstance(result, Failure):
            self._problem(path, result.reason)
            return None
        return result

    def _options(self, model: type[Options], given: dict[str, Any], path: Path, own: tuple[str, ...]) -> Options | None:
        config = self._config
        return validate(model, given, config.located, path, config.base, self._plan.problems, also=own)

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

    def tokenizer(self, name: str, entry: TokenizerEntry) -> None:
        path = ("tokenizers", name)
        spec = self._try((*path, "backend"), lambda: self._registry.backends.get(entry.backend))
        if spec is None:
            return
        if (spec.train if entry.train else spec.load) is None:
            verb, remedy = ("be trained", "remove 'train'") if entry.train else ("be loaded", "add 'train'")
            self._problem(path, f"backend {spec.name!r} cannot {verb}; {remedy}")
            return
        self._named_corpora(entry.train.corpus if entry.train else (), (*path, "train", "corpus"))
        absent = missing(spec)
        if absent and not entry.optional:
            self._problem((*path, "backend"), f"backend {spec.name!r} {absent}; or mark it 'optional: true'")
        rungs = self._rungs(entry, spec)
        if rungs:
            train = entry.train.model_copy(update={"vocab_size": (*rungs, *entry.train.vocab_size)})  # type: ignore[union-attr]
            entry = self._config.tokenizers[name] = entry.model_copy(update={"train": train})
        for variant in expand(name, entry):
            # A rung that the text is too small for, say, is no failure: nobody asked for that very size.
            optional = entry.optional or variant.vocab_size in rungs
            self._variant(variant, name, entry.model_copy(update={"optional": optional}), spec, absent)

    def _rungs(self, entry: TokenizerEntry, spec: BackendSpec) -> tuple[int, ...]:
        """For a study of sizes: what cannot be cut is also trained at each smaller size of the study."""
        study, train = self._config.study.vocabulary, entry.train
        if not study or not train or spec.nested or len(train.vocab_size) > 1:
            return ()
        return tuple(size for size in study.sizes if spec.min_vocab_size <= size < train.vocab_size[0])

    def _variant(self, variant: Variant, name: str, entry: TokenizerEntry, spec: BackendSpec, absent: str) -> None:
        path = ("tokenizers", name)
        if variant.name in {planned.name for planned in self._plan.tokenizers}:
            self._problem(path, f"two tokenizers would be called {variant.name!r}; rename one")
            return
        size = variant.vocab_size or 0
        if entry.train and size < spec.min_vocab_size:
            self._problem(
                (*path, "train", "vocab_size"),
                f"vocab_size {size} is too small: {spec.name} needs at least {spec.min_vocab_size}",
            )
        model = spec.train_options if entry.train else spec.load_options
        options = self._options(model, variant.options, path, tuple(TokenizerEntry.model_fields))
        if options is None:
            return
        self._plan.tokenizers.append(
            PlannedTokenizer(
                name=variant.name,
                entry=name,
                spec=spec,
                options=options,
                given=variant.options,
                train_on=entry.train.corpus if entry.train else (),
                vocab_size=size,
                optional=entry.optional,
                same_as=entry.same_as,
                where=self._config.located.where(path, key=True),
                absent=absent,
            )
        )

    def same_as(self) -> None:
        """Refuse references that are not there, or that are themselves measured against another."""
        entries = self._config.tokenizers
        variants = {name: [each.name for each in expand(name, entry)] for name, entry in entries.items()}
        declared = {each: entry.same_as for name, entry in entries.items() for each in variants[name]}
        for name, entry in entries.items():
            other, path = entry.same_as, ("tokenizers", name, "same_as")
            if not other:
                continue
            if other in variants[name]:
                self._problem(path, f"{other!r} cannot be compared with itself; name another tokenizer")
            elif declared.get(other):
                self._problem(
                    path, f"{other!r} is itself the same as {declared[other]!r}; name that one, the reference of all"
                )
            elif other in variants and variants[other] != [other]:
                self._problem(path, f"{other!r} is several tokenizers; name one of {', '.join(variants[other])}")
            elif other not in declared and other not in self._config.located.data["tokenizers"]:
                self._problem(path, f"unknown tokenizer {other!r}; {did_you_mean(other, declared)}")

    def _named_corpora(self, names: tuple[str, ...], path: Path) -> None:
        for name in names:
            if name not in self._config.named:
                self._problem(path, f"unknown corpus {name!r}; {did_you_mean(name, self._config.named)}")

    def _named_groups(self, names: Iterable[str], path: Path) -> None:
        surveys = self._plan.surveys
        groups = {group for survey in surveys.values() for group in survey.groups}
        for name in names:
            # Where a corpus could not be read, its groups are not known either.
            if name not in groups and len(surveys) == len(self._config.corpora):
                self._problem((*path, name), f"no corpus has a group {name!r}; {did_you_mean(name, groups)}")

    def _named_tokenizer(self, name: str, path: Path) -> None:
        known = [each.name for each in self._plan.tokenizers]
        # One that is malformed has a problem of its own.
        if name and name not in known and name not in self._config.located.data["tokenizers"]:
            self._problem(path, f"unknown tokenizer {name!r}; {did_you_mean(name, known)}")
        elif name and name not in known and name in self._config.tokenizers:
            variants = [each.name for each in expand(name, self._config.tokenizers[name])]
            if variants != [name]:
                self._problem(path, f"{name!r} is several tokenizers; name one of {', '.join(variants)}")

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
                self._named_corpora(getattr(options, "corpora", ()), (*entry.path, "corpora"))
                self._named_groups(getattr(options, "units", {}), (*entry.path, "units"))
                self._named_tokenizer(getattr(options, "reference", ""), (*entry.path, "reference"))
                self._plan.metrics.append((spec, options))

    def study(self) -> None:
        """A study of sizes needs the ids counted, and bytes and words to divide them by."""
        known = {spec.name for spec, _ in self._plan.metrics}
        if self._config.study.vocabulary:
            for name in STUDIED:
                if name not in known:
                    spec = self._registry.metrics.get(name)
                    self._plan.metrics.append((spec, spec.options()))
        elif CURVE in known:
            path = next(entry.path for entry in self._config.metrics if entry.name == CURVE)
            self._problem(path, f"{CURVE!r} comes with a study: write 'study: {{vocabulary: {{}}}}' instead")

    def reporters(self) -> None:
        for k, name in enumerate(self._config.formats):
            spec = self._try(("report", "formats", k), lambda name=name: self._registry.reporters.get(name))  # type: ignore[misc]
            if spec is not None:
                self._plan.reporters.append(spec)
        studied = self._config.study.vocabulary is not None
        known = [spec.name for spec in self._plan.reporters]
        if studied and CURVE not in known:
            self._plan.reporters.append(self._registry.reporters.get(CURVE))
        elif CURVE in known and not studied:
            path = ("report", "formats", self._config.formats.index(CURVE))
            self._problem(path, f"format {CURVE!r} comes with a study: write 'study: {{vocabulary: {{}}}}' as well")


def reading_order(problems: list[Problem]) -> list[Problem]:
    """Problems in the order of their places, each once."""

    def key(problem: Problem) -> tuple[str, list[int], str]:
        name, places = re.fullmatch(r"(.*?)((?::\d+)*)", problem.where, re.DOTALL).groups()  # type: ignore[union-attr]
        return name, [int(number) for number in places.split(":")[1:]], problem.message

    return sorted(set(problems), key=key)
