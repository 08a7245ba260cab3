"""From configuration and plugins to the plan of a run, or to everything that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Final, TypeVar

from tokbench.config.model import (
    Config,
    CorpusEntry,
    MetricKeys,
    NamedTokenizerEntry,
    TokenizerEntry,
    TopLevel,
    Variant,
    expand,
)
from tokbench.config.validate import ConfigPart, validate
from tokbench.corpus.contract import Source
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.corpus.languages import did_you_mean_group
from tokbench.engine.describe import distribution_of, installed_version
from tokbench.engine.restrictions import check_restrictions, group_notes, restriction_notes
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.packages import elsewhere
from tokbench.foundation.progress import Progress
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Role
from tokbench.measuring.plan import Plan, RunTokenizer
from tokbench.measuring.study import StudyProblem, StudySpec
from tokbench.registry.plugins import Registry, missing
from tokbench.results.blocks import TokenizerInfo, TrainingInfo
from tokbench.results.cells import TokenizerState
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.members import missing_members
from tokbench.tokenizers.options import GivenOptions, Options, names_in

_ANY_SIZE: Final = 1 << 20

T = TypeVar("T")
Path = tuple[str | int, ...]

READING: Final = "reading corpora (MB)"

_AUTO: Final = "auto needs a study that chooses a size: add 'study: {vocabulary: {}}', or name a size"
_SMALL: Final = "vocab_size {0} is too small: {1.name} needs at least {1.min_vocab_size}"
_LEFT_OUT: Final = "{0} needs tokenizer {1!r}, which --only leaves out; add --only {1}"


def make_plan(config: Config, registry: Registry, progress: Progress) -> Plan:
    """Return a plan, with all that is wrong in ``problems``."""
    plan = plan_tokenizers(config, registry)
    complete_plan(plan, registry, progress)
    return plan


def plan_tokenizers(config: Config, registry: Registry) -> Plan:
    """Return a plan that has nothing but the tokenizers, for which no corpus must be read."""
    plan = Plan(config, problems=list(config.problems))
    planner = _Planner(config, registry, plan)
    planner.study_options()
    for name, tokenizer in config.tokenizers.items():
        planner.tokenizer(name, tokenizer)
    planner.same_as()
    planner.absent_backends()
    return plan


def complete_plan(plan: Plan, registry: Registry, progress: Progress) -> None:
    """Read every corpus once, and plan all that follows."""
    config, megabytes = plan.config, 0.0
    planner = _Planner(config, registry, plan)
    for name, corpus in config.corpora.items():
        planner.corpus(name, corpus, partial(_read, progress, megabytes))
        megabytes += plan.surveys[name].bytes / 1e6 if name in plan.surveys else 0.0
    progress(READING, megabytes, megabytes)
    planner.metrics()
    planner.counts()
    planner.studies()
    planner.restrictions()
    planner.weights()
    planner.study_problems()
    planner.reporters()


_PACKED: Final = {".gz", ".xz", ".bz2", ".zst", ".parquet"}


def _size_of_files(corpus: Corpus) -> float:
    """Return the bytes of the files that a source reads; 0 if they tell nothing of its text."""
    if any(path.suffix in _PACKED or not path.is_file() for path in corpus.files):
        return 0.0
    return float(sum(path.stat().st_size for path in corpus.files))


def _read(progress: Progress, before: float, size: float, total: float) -> None:
    progress(READING, before + size / 1e6, before + max(size, total) / 1e6 if total else None)


_STUDY: Final = "study"

_FORMATS: Final = ("report", "formats")


class _Planner:
    """Adds to a plan, or to its problems, which have places in the configuration."""

    def __init__(self, config: Config, registry: Registry, plan: Plan) -> None:
        self._config = config
        self._registry = registry
        self._plan = plan
        self._absent, self._names = list[Problem](), set[str]()

    def corpus(self, name: str, entry: CorpusEntry, progress: Callable[[float, float], object]) -> None:
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
        if lacking := missing_members(source, "a corpus source", Source):
            self._problem((*path, "source"), f"corpus source {spec.name!r} is incomplete: {lacking}")
            return
        limit, most = self._config.overrides.limit, self._config.limits.document
        made = partial(Corpus, holdout=entry.holdout, parallel=entry.parallel, limit=limit, document_limit=most)
        corpus = self._try(path, lambda: made(name, source))
        if corpus is None:
            return
        total = _size_of_files(corpus)
        if corpus.counts and (entry.holdout or entry.parallel):
            message = "counts have no documents to hold out or to pair: remove 'holdout' and 'parallel'"
            self._problem((*path, "source"), message)
            return
        survey = self._try(path, lambda: corpus.survey(lambda size: progress(size, total)))
        self._plan.notes += [f"corpus {name}: {note}" for note in corpus.notes]
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
            hint = did_you_mean_group(entry.reference, survey.groups)
            self._problem(path, f"unknown group {entry.reference!r}; {hint}")

    def tokenizer(self, name: str, entry: TokenizerEntry) -> None:
        path = ("tokenizers", name)
        if isinstance(entry, NamedTokenizerEntry):
            resolved = self._resolved(entry, path)
            if resolved is None:
                return
            entry = resolved
        spec = self._try((*path, "backend"), lambda: self._registry.backends.get(entry.backend))
        if spec is None:
            return
        if (spec.train if entry.train else spec.load) is None:
            verb, remedy = ("be trained", "remove 'train'") if entry.train else ("be loaded", "add 'train'")
            self._problem(path, f"backend {spec.name!r} cannot {verb}; {remedy}")
            return
        for corpus in entry.train.corpus if entry.train else ():
            self._named_corpus(corpus, (*path, "train", "corpus"))
        absent = missing(spec) or ""
        if absent and not entry.optional:
            message = f"backend {spec.name!r} {absent}; or mark it 'optional: true'"
            self._absent.append(Problem(self._config.located.where((*path, "backend")), message))
        for variant in expand(name, entry):
            if variant.name not in self._config.left_out:
                self._variant(variant, name, entry, spec, absent)

    def _largest(self) -> int:
        """Return the largest vocabulary that a study of the configuration can use; 0 without one."""
        choosing = [spec for spec in self._registry.studies if spec.largest]
        sizes = [spec.largest(self._plan.studies[spec.name]) for spec in choosing if spec.name in self._plan.studies]  # type: ignore[misc]
        # A study whose options are wrong has a problem of its own.
        wrong = any(spec.key.rpartition(".")[2] in self._config.study for spec in choosing)
        return max(sizes, default=_ANY_SIZE if wrong else 0)

    def absent_backends(self) -> None:
        if all(tokenizer.failure for tokenizer in self._plan.tokenizers):
            self._plan.problems += self._absent

    def _resolved(self, entry: NamedTokenizerEntry, path: Path) -> TokenizerEntry | None:
        from tokbench.registry.tokenizer_names import Grammar

        located = self._config.located
        base = located.folders.get(located.place(path).name, self._config.base)
        try:
            backend, options = Grammar(self._registry, base).resolve(entry.name)
        except InputError as error:
            for problem in error.problems:
                named = "" if repr(entry.name)[1:-1] in problem.message else f"{entry.name}: "
                self._problem(path, f"{named}{problem.message}")
            return None
        return TokenizerEntry.model_validate({**options, "backend": backend})

    def _variant(self, variant: Variant, name: str, entry: TokenizerEntry, spec: BackendSpec, absent: str) -> None:
        path = ("tokenizers", name)
        if variant.name in self._names:
            self._problem(path, f"two tokenizers would be called {variant.name!r}; rename one")
            return
        auto = entry.train is not None and variant.vocab_size is None
        size = self._largest() if auto else variant.vocab_size or 0
        if entry.train and size < spec.min_vocab_size:
            self._problem((*path, "train", "vocab_size"), _AUTO if auto else _SMALL.format(size, spec))
        model = spec.train_options if entry.train else spec.load_options
        options = self._options(model, variant.options, path, tuple(TokenizerEntry.model_fields))
        if options is None:
            return
        if auto and not spec.is_nested(options):
            able = ", ".join(known.name for known in self._registry.backends if known.train and known.nested)
            message = f"auto needs a backend whose smaller vocabularies begin its larger ones: {able}; or name sizes"
            self._problem((*path, "train", "vocab_size"), message)
        self._names.add(variant.name)
        train = TrainingInfo(corpora=list(entry.train.corpus), vocab_size=size) if entry.train else None
        tokenizer = RunTokenizer(
            name=variant.name,
            entry=name,
            spec=spec,
            options=options,
            location=self._config.located.where(path, key=True),
            vocab_size=size,
            auto=auto,
            info=TokenizerInfo(
                backend=spec.name,
                distribution=distribution_of(self._registry.backends, spec.name),
                libraries={library: installed_version(library) for library in spec.requires},
                options=variant.options,
                optional=entry.optional,
                baseline=spec.baseline,
                same_as=entry.same_as,
                corpora=list(entry.corpora),
                train=train,
                repairs=getattr(options, "repairs", {}) if train else {},
            ),
        )
        if absent:
            tokenizer.fail(Failure(absent), TokenizerState.UNAVAILABLE)
        self._plan.tokenizers.append(tokenizer)

    def same_as(self) -> None:
        entries = self._config.tokenizers
        variants = {name: [variant.name for variant in expand(name, entry)] for name, entry in entries.items()}
        declared = {variant: entry.same_as for name, entry in entries.items() for variant in variants[name]}
        for name, entry in entries.items():
            other, path = entry.same_as, ("tokenizers", name, "same_as")
            if not other:
                continue
            if other in self._config.left_out:
                self._problem(path, _LEFT_OUT.format(name, other))
            elif other in variants[name]:
                self._problem(path, f"{other!r} cannot be compared with itself; name another tokenizer")
            elif declared.get(other):
                self._problem(
                    path, f"{other!r} is itself the same as {declared[other]!r}; name that one, the reference of all"
                )
            elif other in variants and variants[other] != [other]:
                self._problem(path, f"{other!r} is several tokenizers; name one of {', '.join(variants[other])}")
            elif other not in declared and other not in self._config.located.data["tokenizers"]:
                self._problem(path, f"unknown tokenizer {other!r}; {did_you_mean(other, declared)}")

    def metrics(self) -> None:
        for entry in self._config.metrics:
            spec = self._try(entry.path, lambda name=entry.name: self._registry.metrics.get(name))  # type: ignore[misc]
            if spec is None:
                continue
            if spec in [known for known, _ in self._plan.metrics]:
                self._problem(entry.path, f"metric {entry.name!r} is given twice")
                continue
            # A plugin may have an option of that name, too: it gets the value of the key.
            own = {"corpora": entry.corpora} if entry.corpora and "corpora" in spec.options.model_fields else {}
            options = self._options(spec.options, entry.options | own, entry.path, tuple(MetricKeys.model_fields))
            if options is not None:
                lacking = self._try(entry.path, lambda spec=spec, options=options: self._lacking(spec, options))  # type: ignore[misc]
                if lacking:
                    self._problem(entry.path, f"metric {spec.name!r} is incomplete: {lacking}")
                self._check_names(options, entry.path)
                self._plan.metrics.append((spec, options))
                if entry.corpora:
                    self._plan.restricted_to[spec.name] = entry.corpora

    def _lacking(self, family: MetricFamily, options: Options) -> str:
        if not family.study or family.make is None:
            return family.missing_members(options)
        spec = self._registry.studies.get(family.study)
        if spec.makes is None:
            raise InputError(f"the study {spec.name!r} measures no metrics")
        return missing_members(family.make(options), *spec.makes)

    def study_options(self) -> None:
        keys = [tuple(spec.key.split(".")) for spec in self._registry.studies if spec.key]
        top = [info.alias or name for name, info in TopLevel.model_fields.items()]
        known = {
            (): [*top, *(key[0] for key in keys if len(key) == 1)],
            (_STUDY,): [key[-1] for key in keys if key[1:]],
        }
        given = {(): self._config.further, (_STUDY,): self._config.study}
        for path, names in known.items():
            for key in given[path]:
                if key not in names:
                    where = self._config.located.where((*path, key), key=True)
                    gone = elsewhere("key", ".".join((*path, key)))
                    message = gone or self._registry.studies.why_unknown(key, "key", names)
                    self._plan.problems.append(Problem(where, message))
        for spec in (spec for spec in self._registry.studies if spec.key):
            path = tuple(spec.key.split("."))
            value = given[path[:-1]].get(path[-1])
            part = ConfigPart(self._config.located, path, self._config.base, called=path[1:])
            options = None if value is None else validate(spec.options, value, part, self._plan.problems)
            if options is not None:
                self._plan.studies[spec.name] = options

    def studies(self) -> None:
        asked = {family.study for family, _ in self._plan.metrics if family.study}
        given = self._plan.studies
        due = {spec.name: self._due(spec) for spec in self._registry.studies}
        wanted = [spec for spec in self._registry.studies if spec.name in {*given, *asked} or due[spec.name]]
        in_order = sorted(wanted, key=attrgetter("alone"))
        self._plan.studies = {spec.name: given.get(spec.name) or spec.options() for spec in in_order}
        self._plan.study_specs = {spec.name: spec for spec in in_order}
        for spec in wanted:
            for role in spec.roles:
                self._add(role, due[spec.name])
        rest_on = {role for spec in wanted for role in spec.roles}
        for entry in self._config.metrics:
            family = next((family for family, _ in self._plan.metrics if family.name == entry.name), None)
            study = next((spec for spec in self._registry.studies if family and family.role in spec.roles), None)
            if family and study and not family.values and family.role not in rest_on:
                self._problem(entry.path, f"{entry.name!r} comes with a study: write {study.key!r} instead")

    def _due(self, spec: StudySpec) -> frozenset[str]:
        """Return the tokenizers for which a study runs; one that cannot say it runs for none."""
        due = attempt(lambda: frozenset(spec.due(self._plan)), f"the study {spec.name!r} is left out")
        self._plan.notes += [due.reason] if isinstance(due, Failure) else []
        return frozenset() if isinstance(due, Failure) else due

    def weights(self) -> None:
        weights = self._config.weights
        if weights and not any(weights.values()):
            self._problem(("weights",), "every weight is 0; give at least one corpus a weight above 0")
        for name in weights:
            if problem := self._plan.corpus_problem(name):
                self._problem(("weights", name), problem)

    def counts(self) -> None:
        """Refuse trainings on counts that their backends cannot do; note what is not measured on counts."""
        of_text = [family.name for family, _ in self._plan.metrics if family.text and not family.from_counts]
        for name in self._plan.measured if of_text else ():
            if self._plan.corpora[name].counts:
                self._plan.notes.append(
                    f"corpus {name}: a table of counts, on which {', '.join(of_text)} cannot be measured"
                )
        for tokenizer in self._plan.tokenizers:
            if any(name not in self._plan.corpora for name in tokenizer.train_on):
                continue
            tables, path = self._plan.counts(tokenizer), ("tokenizers", tokenizer.entry, "train")
            if not tables:
                continue
            if tokenizer.spec.train_counts is None:
                able = ", ".join(spec.name for spec in self._registry.backends if spec.train_counts)
                cannot = f"backend {tokenizer.spec.name!r} cannot be trained on counts"
                self._problem(path, f"{cannot}: it needs the text; these can: {able}")
            elif len(tables) < len(tokenizer.train_on):
                self._problem(path, "counts and texts cannot be mixed; count the texts, and add the tables")
            elif problem := tokenizer.spec.check_counts(tokenizer.options, tables):
                self._problem(path, problem)
            self._plan.notes += [f"{tokenizer.name}: {note}" for table in tables.values() for note in table.notes]

    def study_problems(self) -> None:
        for name, options in self._plan.studies.items():
            spec = self._registry.studies.get(name)
            path = tuple(spec.key.split(".")) if spec.key else ()
            found = attempt(partial(_problems_of, spec, self._plan, options), f"the study {name!r} cannot be checked")
            if isinstance(found, Failure):
                self._problem(path, found.reason)
                continue
            for problem in found:
                if not isinstance(problem, StudyProblem):
                    msg = f"the study {name!r}: check yielded {problem!r}, and not a StudyProblem(place, message)"
                    raise TypeError(msg)
                self._problem((*path, *problem.place), problem.message)

    def restrictions(self) -> None:
        for path, message in check_restrictions(self._plan):
            self._problem(path, message)
        self._plan.notes += [*restriction_notes(self._plan), *group_notes(self._plan)]

    def _add(self, role: Role, names: frozenset[str]) -> None:
        """Add a family with a role, if there is none, to measure some tokenizers, or all if none is named."""
        if not self._plan.family(role):
            family = next((family for family in self._registry.metrics if family.has_role(role)), None)
            if family is None:
                self._problem(("metrics",), f"no plugin brings a metric with the role {role.value!r}")
            else:
                self._plan.metrics.append((family, family.options()))
                self._plan.only |= {family.name: names} if names else {}

    def reporters(self) -> None:
        self._leave_out_default_formats()
        # What is malformed has a problem of its own.
        written = self._config.located.values
        due = {spec.name for spec in self._registry.studies if tuple(spec.key.split(".")) in written}
        due |= {*self._plan.studies, *(entry.name for entry in self._config.metrics)}
        due |= {family.name for family, _ in self._plan.metrics}
        for k, name in enumerate(self._config.formats):
            spec = self._try((*_FORMATS, k), lambda name=name: self._registry.reporters.get(name))  # type: ignore[misc]
            if spec is not None and (absent := missing(spec)):
                self._problem((*_FORMATS, k), f"format {name!r} {absent}")
            elif spec is not None and spec.needs and spec.needs not in due:
                self._problem((*_FORMATS, k), f"format {name!r} needs {self._needed(spec.needs)}")
            elif spec is not None:
                self._plan.reporters.append(spec)
        named = [spec.name for spec in self._plan.reporters]
        self._plan.reporters += [s for s in self._registry.reporters if s.needs in due and s.name not in named]

    def _leave_out_default_formats(self) -> None:
        """Leave out formats that no plugin brings, if the configuration does not name its formats."""
        config, known = self._config, self._registry.reporters.entries
        if _FORMATS in config.located.values:
            return
        absent = [name for name in config.formats if name not in known]
        config.formats = tuple(name for name in config.formats if name in known)
        self._plan.notes += [
            f"no report in the format {name!r}, which is a default: no plugin brings it" for name in absent
        ]

    def _needed(self, name: str) -> str:
        study = next((spec for spec in self._registry.studies if spec.name == name), None)
        return f"a study: add {study.key!r}" if study else f"the metrics {name!r}: add them"

    def _problem(self, path: Path, message: str) -> None:
        self._plan.problems.append(Problem(self._config.located.where(path), message))

    def _try(self, path: Path, step: Callable[[], T]) -> T | None:
        """Return the result of a step, or add a problem at a place of the file."""

        def done() -> T | InputError:
            try:
                return step()
            except InputError as error:
                return error

        result = attempt(done)
        if isinstance(result, InputError):
            for problem in result.problems:
                self._problem(path, str(problem))
            return None
        if isinstance(result, Failure):
            self._problem(path, result.reason)
            return None
        return result

    def _options(self, model: type[Options], given: GivenOptions, path: Path, own: tuple[str, ...]) -> Options | None:
        config = self._config
        return validate(model, given, ConfigPart(config.located, path, config.base, also=own), self._plan.problems)

    def _check_names(self, options: Options, path: Path) -> None:
        for kind, name, place in names_in(options):
            check = {"corpus": self._named_corpus, "group": self._named_group, "tokenizer": self._named_tokenizer}[kind]
            check(name, (*path, *place))

    def _named_corpus(self, name: str, path: Path) -> None:
        if name not in self._config.named:
            self._problem(path, f"unknown corpus {name!r}; {did_you_mean(name, self._config.named)}")

    def _named_group(self, name: str, path: Path) -> None:
        surveys = self._plan.surveys
        groups = {group for survey in surveys.values() for group in survey.groups}
        # Where a corpus could not be read, its groups are not known either.
        if name not in groups and len(surveys) == len(self._config.corpora):
            self._problem(path, f"no corpus has a group {name!r}; {did_you_mean_group(name, groups)}")

    def _named_tokenizer(self, name: str, path: Path) -> None:
        known = [tokenizer.name for tokenizer in self._plan.tokenizers]
        if name in self._config.left_out:
            self._problem(path, _LEFT_OUT.format(path[1 if path[0] == "tokenizers" else 2], name))
        # One that is malformed has a problem of its own.
        elif name and name not in known and name not in self._config.located.data["tokenizers"]:
            self._problem(path, f"unknown tokenizer {name!r}; {did_you_mean(name, known)}")
        elif name and name not in known and name in self._config.tokenizers:
            variants = [variant.name for variant in expand(name, self._config.tokenizers[name])]
            if variants != [name]:
                self._problem(path, f"{name!r} is several tokenizers; name one of {', '.join(variants)}")


def _problems_of(spec: StudySpec, plan: Plan, options: Any) -> list[StudyProblem]:
    return list(spec.check(plan, options)) if spec.check else []
