"""The blocks of ``results.json`` beside the cells, each a documented dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tokbench.results.cells import TokenizerState
from tokbench.results.metric_curves import CurvePoint


@dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """A file that a configuration extends.

    Attributes:
        file: its path, from the folder of the configuration on, or the name of a suite that ships with tokbench.
        sha256: the digest of its text, UTF-8.
        text: its text.
    """

    file: str
    sha256: str
    text: str


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """The configuration of a run: with the files and options that are named here, the run can be made again.

    Attributes:
        file, text, sha256: the name of the file without its folder, its text, and the digest of the text in UTF-8.
        bases: the files that it extends, directly or through one another, in the order in which they were read.
        limit: the number of documents of each group that were measured at most; ``None`` if all were.
        only: the names to which the tokenizers were restricted; empty if all were measured.
        settings: values that replaced those of the files, as they were given: ``metrics.fertility.unit=icu``.
        quick: ``True`` for a quick look: the first of ``settings`` are those that the file lists under ``quick``.
        formats: the names of the report formats.
    """

    file: str = ""
    sha256: str = ""
    text: str = ""
    bases: list[ConfigFile] = field(default_factory=list)
    limit: int | None = None
    only: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    quick: bool = False
    formats: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Machine and versions; no host or user name, so that reports can be published.

    Attributes:
        tokbench, python, system, cpu: names and versions.
        cores: processors that the run might use.
        memory_gib: main memory, GiB; ``None`` where the system does not tell.
        load_average: the load of the last minute when the run began.
        timer_resolution_ns: the resolution of the clock that timed, nanoseconds.
        threads: environment variables that limit the threads of native libraries.
        packages: versions of the packages that measure, by name of the distribution.
        segmentation: by way to cut text, such as ``words (UAX #29)``, its version of Unicode and the tables' library.
    """

    tokbench: str = ""
    python: str = ""
    system: str = ""
    cpu: str = ""
    cores: int | None = None
    memory_gib: float | None = None
    load_average: float | None = None
    timer_resolution_ns: int | None = None
    threads: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    segmentation: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Durations:
    """The seconds that the phases of a run took; ``None`` for a phase that did not come, or that nobody measured.

    The names that begin with ``worker`` are CPU time, summed over all workers; it may be more than the wall time of
    their phase, ``measuring``. All others are wall time, and the phases follow one another.

    Attributes:
        reading: reading all corpora for the first time.
        loading: waiting for the tokenizers that are not trained; they are loaded while corpora are read.
        training: training tokenizers, saving them, and hashing all vocabularies.
        measuring: encoding and decoding all documents, and the text metrics, in the workers.
        cells: merging what the workers found, and making cells of it.
        studies: by study, its time.
        timing: timing tokenizers, alone on the machine.
        reports: writing ``results.json`` and the reports; a report itself cannot know it.
        worker_encode: CPU time of encoding.
        worker_decode: CPU time of decoding, for the round trip.
        worker_metrics: CPU time of the text metrics, with counting words and the like.
    """

    reading: float | None = None
    loading: float | None = None
    training: float | None = None
    measuring: float | None = None
    cells: float | None = None
    studies: dict[str, float] = field(default_factory=dict)
    timing: float | None = None
    reports: float | None = None
    worker_encode: float | None = None
    worker_decode: float | None = None
    worker_metrics: float | None = None


@dataclass(frozen=True, kw_only=True)
class PartialRun:
    """The extent of a run that was stopped before it was through.

    Attributes:
        phase: the phase in which it was stopped, one of the names of :class:`Durations`, or a study.
        groups: by corpus and group, the share of the documents that was measured, 0 to 1, over all its tokenizers.
    """

    phase: str
    groups: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PluginInfo:
    """One entry point, usable or not.

    Attributes:
        name: the name of the entry point.
        distribution, version: the package that declares it.
        state: ``usable`` or ``broken``.
        reason: why it is broken; empty if it is usable.
    """

    name: str
    distribution: str = ""
    version: str = ""
    state: Literal["usable", "broken"] = "usable"
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CorpusInfo:
    """One corpus of a run.

    Attributes:
        source: the kind of source, such as ``text``.
        options: the source's options, as they were written.
        licence: the licence of the texts; empty if nobody said.
        sha256: the digest of all documents without those that a limit left out; empty if it is not known. For parts
            that were merged it is ``merged:`` and a digest of the digests in ``parts``.
        parts: the digests of the parts, if runs over them were merged; else empty.
        limit: the number of documents of each group that were measured at most; ``None`` if all were.
        documents, bytes: the size of what ``sha256`` covers, UTF-8.
        evaluated_bytes: bytes of the part that was measured.
        holdout: the share of the documents kept from training; ``None`` if all serve for both.
        parallel: whether the groups are translations of one another.
        reference: the group that the others are compared with; empty if none is named.
        designed: whether the texts were chosen and not drawn, so that numbers on them have no intervals.
        groups: the number of evaluated documents by group; empty if the corpus is for training alone.
    """

    source: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    licence: str = ""
    sha256: str = ""
    parts: list[str] = field(default_factory=list)
    limit: int | None = None
    documents: int | None = None
    bytes: int | None = None
    evaluated_bytes: int | None = None
    holdout: float | None = None
    parallel: bool = False
    reference: str = ""
    designed: bool = False
    groups: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TrainingInfo:
    """The training of a tokenizer.

    Attributes:
        corpora: the names of the corpora.
        documents, bytes: the size of the training text, UTF-8.
        vocab_size: the size that was asked for.
        seconds: how long the training took; ``None`` if it did not end.
        from_store: ``True`` if an earlier run trained it; ``seconds`` is then what it took there.
    """

    corpora: list[str]
    documents: int = 0
    bytes: int = 0
    vocab_size: int = 0
    seconds: float | None = None
    from_store: bool = False


@dataclass(frozen=True, kw_only=True)
class TokenizerInfo:
    """One tokenizer of a run.

    Attributes:
        backend: the name of its backend.
        distribution: the package that brings the backend, with its version.
        libraries: versions of the packages that the backend needs, by name.
        engine: what encodes, and was timed, with its version; empty if it was not ready.
        options: the backend's options, as they were written.
        optional: whether the run goes on without it.
        baseline: whether it is a bound that gives proportion, and is never the best.
        same_as: the tokenizer whose ids it must give; empty if there is none.
        corpora: the corpora on which alone it was measured; empty for all that were evaluated.
        state: whether it was ready, or what kept it away.
        reason: the same in words; empty if it was ready.
        vocab_size: the number of its ids; ``None`` if it was not ready.
        load_s: seconds that loading took, the library's import included; ``None`` if it was trained.
        train: how it was trained; ``None`` if it was loaded.
        sha256: digests of the files that its options name, by option, and ``vocabulary``, that of the bytes of all ids.
        lacks: the metrics that it cannot have, because its backend lacks the capability.
        notes: sentences that a reader of its numbers must know.
        repairs: by the cause of a loss, the options that it would have to be trained with.
        artefact, artefact_sha256: the file it was saved to and the file's digest; empty if it was not saved.
    """

    backend: str = ""
    distribution: str = ""
    libraries: dict[str, str] = field(default_factory=dict)
    engine: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    optional: bool = False
    baseline: bool = False
    same_as: str = ""
    corpora: list[str] = field(default_factory=list)
    state: TokenizerState = TokenizerState.READY
    reason: str = ""
    vocab_size: int | None = None
    load_s: float | None = None
    train: TrainingInfo | None = None
    sha256: dict[str, str] = field(default_factory=dict)
    lacks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repairs: dict[str, str] = field(default_factory=dict)
    artefact: str = ""
    artefact_sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class MetricInfo:
    """The definition of one metric.

    Attributes:
        family: the metric family it belongs to.
        unit: its unit, unless the cells name another.
        direction: which way is better.
        formula, definition: how it is computed, and what it says.
        label: its name in reports; empty for its id with spaces.
        short_label: its name in narrow columns; empty for the label.
        headline: whether it is one of the few by which tokenizers are told apart at first sight.
        leads: whether it is a headline metric of the study's subject, with which a report begins.
        no_interval: why its values never have an interval; empty if they may have one.
        loss_cannot_help: why losing text cannot improve the value; empty if it can: such a tokenizer is never best.
        role: what it means to the rest of tokbench, as :class:`tokbench.measuring.metric.Role`; empty if nothing.
        curve: its place on a curve that reports draw; ``None`` if it lies on no curve.
        timed: whether it was timed, so that its cells rest on rounds and not on documents.
        corpora: the corpora on which alone it was measured; empty for all that were evaluated.
        ratio_of: the names of the two sums of which its values are ratios, in the raw states; empty if they are not.
    """

    family: str = ""
    unit: str = ""
    direction: Literal["higher", "lower", "none"] = "none"
    formula: str = ""
    definition: str = ""
    label: str = ""
    short_label: str = ""
    headline: bool = False
    leads: bool = False
    no_interval: str = ""
    loss_cannot_help: str = ""
    role: str = ""
    curve: CurvePoint | None = None
    timed: bool = False
    corpora: list[str] = field(default_factory=list)
    ratio_of: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class LossExample:
    """The first difference between a text and what came back of it.

    Attributes:
        origin: where the document is found, such as ``en.txt:12``.
        position: the place of the difference, in characters.
        expected, got: what stands there in the text and in what came back, with a little context before.
    """

    origin: str
    position: int
    expected: str
    got: str


@dataclass(frozen=True, kw_only=True)
class LossCause:
    """One cause of losses in one group.

    Attributes:
        cause: such as ``whitespace``.
        documents: the number of documents whose first difference it explains; these add up.
        taking_part: the number of documents in which it takes part.
        first: the first document that it explains; ``None`` if it explains none.
    """

    cause: str
    documents: int
    taking_part: int
    first: LossExample | None = None


@dataclass(frozen=True, kw_only=True)
class LossInfo:
    """The losses of one tokenizer on one group.

    Attributes:
        tokenizer, corpus, group: the place.
        documents: the number of documents that did not come back.
        first: the first of them.
        causes: the causes that take part.
    """

    tokenizer: str
    corpus: str
    group: str
    documents: int
    first: LossExample
    causes: list[LossCause] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class IdDifference:
    """The first place where two tokenizers that should give the same ids differ.

    Attributes:
        position: the place, in characters.
        text: the text from a little before the place on.
        expected, got: ``(id, text)`` of the tokens there, of the reference and of the tokenizer.
    """

    position: int
    text: str
    expected: list[tuple[int, str]]
    got: list[tuple[int, str]]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A tokenizer whose ids are not those of its reference, in one group.

    Attributes:
        tokenizer, same_as: the tokenizer, and the one whose ids it should give.
        corpus, group: the place.
        compared, documents: the number of documents that were compared, and of those that differ.
        origin: the first document that differs.
        first: how its ids differ; ``None`` if that could not be shown.
        reason: why it could not be shown; empty if it is.
    """

    tokenizer: str
    same_as: str
    corpus: str
    group: str
    compared: int
    documents: int
    origin: str
    first: IdDifference | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """Two tokenizers on the same documents; the one with fewer tokens comes first.

    Attributes:
        corpus, group: the place.
        tokenizer, other: the two tokenizers.
        tokens: the tokens of both.
        difference: tokens saved as a share of the other's tokens; never above 0.
        ci_low, ci_high: its 95 % interval; ``None`` if nothing varies.
        n: the number of documents.
        p: the p-value of a two-sided paired test.
        p_holm: ``p`` corrected for all pairs of the group (Holm 1979).
        differ: whether the two can be told apart.
    """

    corpus: str
    group: str
    tokenizer: str
    other: str
    tokens: tuple[int, int]
    difference: float
    ci_low: float | None
    ci_high: float | None
    n: int
    p: float
    p_holm: float = 1.0
    differ: bool = False


@dataclass(frozen=True, kw_only=True)
class PairMatrix:
    """A number for every two groups under one tokenizer, or for every two tokenizers in one group.

    Attributes:
        metric: the id of the metric, whose definition holds for the numbers.
        corpus: the corpus.
        of: the kind of things that are compared.
        within: the tokenizer under which groups are compared, or the group (``*`` for all) in which tokenizers are.
        names: the things, in the order of the run.
        values: a list for each name, with its number beside each name up to itself; ``None`` where there is none.
        ci_low, ci_high: the 95 % intervals in the same order; empty if the numbers have no intervals.
        likeness: ``True`` if a larger number says that the two are more alike, and 1 that they are the same.
    """

    metric: str
    corpus: str
    of: Literal["groups", "tokenizers"]
    within: str
    names: list[str]
    values: list[list[float | None]]
    ci_low: list[list[float | None]] = field(default_factory=list)
    ci_high: list[list[float | None]] = field(default_factory=list)
    likeness: bool = False


@dataclass(frozen=True, kw_only=True)
class StatesFile:
    """The file of the raw states, ``states.bin``, whose form :mod:`tokbench.results.states` documents.

    Attributes:
        file: its name; it is in the folder of ``results.json``.
        sha256: the digest of its content.
        states: the number of states in it.
    """

    file: str
    sha256: str
    states: int


@dataclass(frozen=True, kw_only=True)
class FamilyInfo:
    """A metric family of a run, as it must be made again to merge runs.

    Attributes:
        options: all its options, those that nobody wrote included.
        distribution: the package that brings it, with its version.
    """

    options: dict[str, Any] = field(default_factory=dict)
    distribution: str = ""


@dataclass(frozen=True, kw_only=True)
class RawState:
    """The raw sums behind the cells of one group.

    Attributes:
        tokenizer, corpus, group, family: the place.
        state: the state of the metric family, as plain JSON data.
    """

    tokenizer: str
    corpus: str
    group: str
    family: str
    state: Any = None


@dataclass(frozen=True, kw_only=True)
class OwnTexts:
    """The answer to whether the texts that a metric brings come back from a tokenizer."""

    metric: str
    """The metric."""
    tokenizer: str
    """The tokenizer."""
    comes_back: bool | None = None
    """``None`` if that is not known."""
