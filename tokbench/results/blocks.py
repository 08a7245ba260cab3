"""The blocks of ``results.json`` beside the cells, each a documented dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tokbench.results.cells import TokenizerState
from tokbench.results.metric_curves import CurvePoint

NOT_SAVED: Final = "not saved"
"""The beginning of the note of a trained tokenizer that could not be saved."""


@dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """A file that a configuration extends."""

    file: str
    """Its path, from the folder of the configuration on, or the name of a suite that ships with tokbench."""
    sha256: str
    """The digest of its text, UTF-8."""
    text: str
    """Its text."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """The configuration of a run: with the files and options that are named here, the run can be made again."""

    file: str = ""
    """The name of the file without its folder."""
    sha256: str = ""
    """The digest of the text in UTF-8."""
    text: str = ""
    """The text of the file."""
    bases: list[ConfigFile] = field(default_factory=list)
    """The files that it extends, directly or through one another, in the order in which they were read."""
    limit: int | None = None
    """The number of documents of each group that were measured at most; ``None`` if all were."""
    only: list[str] = field(default_factory=list)
    """The names to which the tokenizers were restricted; empty if all were measured."""
    settings: list[str] = field(default_factory=list)
    """Values that replaced those of the files, as they were given: ``metrics.fertility.unit=icu``."""
    quick: bool = False
    """``True`` for a quick look: the first of ``settings`` are those that the file lists under ``quick``."""
    formats: list[str] = field(default_factory=list)
    """The names of the report formats."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Machine and versions; no host or user name, so that reports can be published."""

    tokbench: str = ""
    """The version of tokbench."""
    python: str = ""
    """The version of Python, and the name of its kind."""
    system: str = ""
    """The name and version of the system."""
    cpu: str = ""
    """The name of the processor."""
    cores: int | None = None
    """Processors that the run might use."""
    memory_gib: float | None = None
    """Main memory, GiB; ``None`` where the system does not tell."""
    load_average: float | None = None
    """The load of the last minute when the run began."""
    timer_resolution_ns: int | None = None
    """The resolution of the clock that timed, nanoseconds."""
    threads: dict[str, str] = field(default_factory=dict)
    """Environment variables that limit the threads of native libraries."""
    packages: dict[str, str] = field(default_factory=dict)
    """Versions of the packages that measure, by name of the distribution."""
    segmentation: dict[str, str] = field(default_factory=dict)
    """By way to cut text, such as ``words (UAX #29)``, its version of Unicode and the tables' library."""


@dataclass(frozen=True, kw_only=True)
class Durations:
    """The seconds that the phases of a run took; ``None`` for a phase that did not come, or that nobody measured.

    The names that begin with ``worker`` are CPU time, summed over all workers; it may be more than the wall time of
    their phase, ``measuring``. All others are wall time, and the phases follow one another.
    """

    reading: float | None = None
    """Reading all corpora for the first time."""
    loading: float | None = None
    """Waiting for the tokenizers that are not trained; they are loaded while corpora are read."""
    training: float | None = None
    """Training tokenizers, saving them, and hashing all vocabularies."""
    measuring: float | None = None
    """Encoding and decoding all documents, and the text metrics, in the workers."""
    cells: float | None = None
    """Merging what the workers found, and making cells of it."""
    studies: dict[str, float] = field(default_factory=dict)
    """By study, its time."""
    timing: float | None = None
    """Timing tokenizers, alone on the machine."""
    reports: float | None = None
    """Writing ``results.json`` and the reports; a report itself cannot know it."""
    worker_encode: float | None = None
    """CPU time of encoding."""
    worker_decode: float | None = None
    """CPU time of decoding, for the round trip."""
    worker_metrics: float | None = None
    """CPU time of the text metrics, with counting words and the like."""


@dataclass(frozen=True, kw_only=True)
class PartialRun:
    """The extent of a run that was stopped before it was through."""

    phase: str
    """The phase in which it was stopped, one of the names of :class:`Durations`, or a study."""
    reason: str = ""
    """The reason why it could not go on; empty if a person or a signal stopped it."""
    groups: dict[str, dict[str, float]] = field(default_factory=dict)
    """By corpus and group, the share of the documents that was measured, 0 to 1, over all its tokenizers."""


@dataclass(frozen=True, kw_only=True)
class PluginInfo:
    """One entry point, usable or not."""

    name: str
    """The name of the entry point."""
    distribution: str = ""
    """The package that declares it."""
    version: str = ""
    """The version of that package."""
    state: Literal["usable", "broken"] = "usable"
    """``usable`` or ``broken``."""
    reason: str = ""
    """The reason why it is broken; empty if it is usable."""


@dataclass(frozen=True, kw_only=True)
class CorpusInfo:
    """One corpus of a run."""

    source: str = ""
    """The kind of source, such as ``text``."""
    options: dict[str, Any] = field(default_factory=dict)
    """The source's options, as they were written."""
    licence: str = ""
    """The licence of the texts; empty if nobody said."""
    sha256: str = ""
    """The digest of all documents without those that a limit left out; empty if it is not known."""
    limit: int | None = None
    """The number of documents of each group that were measured at most; ``None`` if all were."""
    documents: int | None = None
    """The number of documents that ``sha256`` covers."""
    bytes: int | None = None
    """Their size in UTF-8."""
    evaluated_bytes: int | None = None
    """Bytes of the part that was measured."""
    holdout: float | None = None
    """The share of the documents kept from training; ``None`` if all serve for both."""
    parallel: bool = False
    """``True`` if the groups are translations of one another."""
    reference: str = ""
    """The group that the others are compared with; empty if none is named."""
    designed: bool = False
    """``True`` if the texts were chosen and not drawn, so that numbers on them have no intervals."""
    groups: dict[str, int] = field(default_factory=dict)
    """The number of evaluated documents by group; empty if the corpus is for training alone."""


@dataclass(frozen=True, kw_only=True)
class TrainingInfo:
    """The training of a tokenizer."""

    corpora: list[str]
    """The names of the corpora."""
    documents: int = 0
    """The number of documents of the training text."""
    bytes: int = 0
    """Its size in UTF-8."""
    vocab_size: int = 0
    """The size that was asked for."""
    seconds: float | None = None
    """The duration of the training; ``None`` if it did not end."""
    memory_mb: float | None = None
    """The most memory that it took, 10^6 bytes; ``None`` if it was not measured."""
    from_store: bool = False
    """``True`` if an earlier run trained it; ``seconds`` and ``memory_mb`` are then what it took there."""


@dataclass(frozen=True, kw_only=True)
class TokenizerInfo:
    """One tokenizer of a run."""

    backend: str = ""
    """The name of its backend."""
    distribution: str = ""
    """The package that brings the backend, with its version."""
    libraries: dict[str, str] = field(default_factory=dict)
    """Versions of the packages that the backend needs, by name."""
    engine: str = ""
    """The engine that encodes, and was timed, with its version; empty if it was not ready."""
    returns: str = ""
    """The shape of what its engine returns: ``arrays``, ``lists`` or ``counts``; speeds are compared among equals.
    Empty if it was not ready, and in files of earlier versions."""
    options: dict[str, Any] = field(default_factory=dict)
    """The backend's options, as they were written."""
    optional: bool = False
    """``True`` if the run goes on without it."""
    baseline: bool = False
    """``True`` if it is a bound that gives proportion, and is never the best."""
    same_as: str = ""
    """The tokenizer whose ids it must give; empty if there is none."""
    corpora: list[str] = field(default_factory=list)
    """The corpora on which alone it was measured; empty for all that were evaluated."""
    state: TokenizerState = TokenizerState.READY
    """``True`` if it was ready, or what kept it away."""
    reason: str = ""
    """The same in words; empty if it was ready."""
    vocab_size: int | None = None
    """The number of its ids; ``None`` if it was not ready."""
    load_s: float | None = None
    """Seconds that loading took, the library's import included; ``None`` if it was trained."""
    train: TrainingInfo | None = None
    """The training; ``None`` if it was loaded."""
    sha256: dict[str, str] = field(default_factory=dict)
    """Digests of the files that its options name, by option, and ``vocabulary``, that of the bytes of all ids."""
    lacks: list[str] = field(default_factory=list)
    """The metrics that it cannot have, because its backend lacks the capability."""
    notes: list[str] = field(default_factory=list)
    """Sentences that a reader of its numbers must know."""
    repairs: dict[str, str] = field(default_factory=dict)
    """By the cause of a loss, the options that it would have to be trained with."""
    artefact: str = ""
    """The file it was saved to; empty if it was not saved."""
    artefact_sha256: str = ""
    """The digest of that file."""


@dataclass(frozen=True, kw_only=True)
class MetricInfo:
    """The definition of one metric."""

    family: str = ""
    """The metric family it belongs to."""
    unit: str = ""
    """Its unit, unless the cells name another."""
    direction: Literal["higher", "lower", "none"] = "none"
    """The direction that is better."""
    formula: str = ""
    """The formula in words or signs."""
    definition: str = ""
    """Its meaning."""
    label: str = ""
    """Its name in reports; empty for its id with spaces."""
    short_label: str = ""
    """Its name in narrow columns; empty for the label."""
    headline: bool = False
    """``True`` if it is one of the few by which tokenizers are told apart at first sight."""
    leads: bool = False
    """``True`` if it is a headline metric of the study's subject, with which a report begins."""
    no_interval: str = ""
    """The reason why its values never have an interval; empty if they may have one."""
    loss_cannot_help: str = ""
    """The reason why losing text cannot improve the value; empty if it can: the rule of loss decides then."""
    role: str = ""
    """Its meaning to the rest of tokbench, as :class:`tokbench.measuring.metric.Role`; empty if nothing."""
    curve: CurvePoint | None = None
    """Its place on a curve that reports draw; ``None`` if it lies on no curve."""
    timed: bool = False
    """``True`` if it was timed, so that its cells rest on rounds and not on documents."""
    by_output: bool = False
    """``True`` if only tokenizers whose engines return the same are compared."""
    corpora: list[str] = field(default_factory=list)
    """The corpora on which alone it was measured; empty for all that were evaluated."""
    ratio_of: list[str] = field(default_factory=list)
    """The names of the two sums of which its values are ratios, in the raw states; empty if they are not."""


@dataclass(frozen=True, kw_only=True)
class LossExample:
    """The first difference between a text and what came back of it."""

    origin: str
    """The place where the document is found, such as ``en.txt:12``."""
    position: int
    """The place of the difference, in characters."""
    expected: str
    """The text there, with a little context before."""
    got: str
    """The same place in the text that came back, with the same context."""


@dataclass(frozen=True, kw_only=True)
class LossCause:
    """One cause of losses in one group."""

    cause: str
    """Such as ``whitespace``."""
    documents: int
    """The number of documents whose first difference it explains; these add up."""
    taking_part: int
    """The number of documents in which it takes part."""
    first: LossExample | None = None
    """The first document that it explains; ``None`` if it explains none."""


@dataclass(frozen=True, kw_only=True)
class LossInfo:
    """The losses of one tokenizer on one group."""

    tokenizer: str
    """The tokenizer."""
    corpus: str
    """The corpus."""
    group: str
    """The group."""
    documents: int
    """The number of documents that did not come back."""
    first: LossExample
    """The first of them."""
    causes: list[LossCause] = field(default_factory=list)
    """The causes that take part."""


@dataclass(frozen=True, kw_only=True)
class IdDifference:
    """The first place where two tokenizers that should give the same ids differ."""

    position: int
    """The place, in characters."""
    text: str
    """The text from a little before the place on."""
    expected: list[tuple[int, str]]
    """``(id, text)`` of the tokens there, of the reference."""
    got: list[tuple[int, str]]
    """The same of the tokenizer."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A tokenizer whose ids are not those of its reference, in one group."""

    tokenizer: str
    """The tokenizer."""
    same_as: str
    """The tokenizer whose ids it should give."""
    corpus: str
    """The corpus."""
    group: str
    """The group."""
    compared: int
    """The number of documents that were compared."""
    documents: int
    """The number of those that differ."""
    origin: str
    """The first document that differs."""
    first: IdDifference | None = None
    """The difference of its ids; ``None`` if that could not be shown."""
    reason: str = ""
    """The reason why it could not be shown; empty if it is."""


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """Two tokenizers on the same documents; the one with fewer tokens comes first."""

    corpus: str
    """The corpus."""
    group: str
    """The group."""
    tokenizer: str
    """The tokenizer with fewer tokens."""
    other: str
    """The other tokenizer."""
    tokens: tuple[int, int]
    """The tokens of both."""
    difference: float
    """Tokens saved as a share of the other's tokens; never above 0."""
    ci_low: float | None
    """The lower end of its 95 % interval; ``None`` if nothing varies."""
    ci_high: float | None
    """The upper end, likewise."""
    n: int
    """The number of documents."""
    p: float
    """The p-value of a two-sided paired test."""
    p_holm: float = 1.0
    """``p`` corrected for all pairs of the group (Holm 1979)."""
    differ: bool = False
    """``True`` if the two can be told apart."""


@dataclass(frozen=True, kw_only=True)
class PairMatrix:
    """A number for every two groups under one tokenizer, or for every two tokenizers in one group."""

    metric: str
    """The id of the metric, whose definition holds for the numbers."""
    corpus: str
    """The corpus."""
    of: Literal["groups", "tokenizers"]
    """The kind of things that are compared."""
    within: str
    """The tokenizer under which groups are compared, or the group (``*`` for all) in which tokenizers are."""
    names: list[str]
    """The things, in the order of the run."""
    values: list[list[float | None]]
    """A list for each name, with its number beside each name up to itself; ``None`` where there is none."""
    ci_low: list[list[float | None]] = field(default_factory=list)
    """The lower ends of the 95 % intervals, in the same order; empty if the numbers have no intervals."""
    ci_high: list[list[float | None]] = field(default_factory=list)
    """The upper ends, likewise."""
    likeness: bool = False
    """``True`` if a larger number says that the two are more alike, and 1 that they are the same."""


@dataclass(frozen=True, kw_only=True)
class StatesFile:
    """The file of the raw states, ``states.jsonl.gz``, whose form :mod:`tokbench.results.states` documents."""

    file: str
    """Its name; it is in the folder of ``results.json``."""
    sha256: str
    """The digest of its content."""
    states: int
    """The number of states in it."""


@dataclass(frozen=True, kw_only=True)
class FamilyInfo:
    """A metric family of a run, as it must be made again to merge runs."""

    options: dict[str, Any] = field(default_factory=dict)
    """All its options, those that nobody wrote included."""
    distribution: str = ""
    """The package that brings it, with its version."""


@dataclass(frozen=True, kw_only=True)
class RawState:
    """The raw sums behind the cells of one group."""

    tokenizer: str
    """The tokenizer."""
    corpus: str
    """The corpus."""
    group: str
    """The group."""
    family: str
    """The metric family."""
    state: Any = None
    """The state of the metric family, as plain JSON data."""


@dataclass(frozen=True, kw_only=True)
class OwnTexts:
    """The round trip of the texts that a metric brings, by a tokenizer."""

    metric: str
    """The metric."""
    tokenizer: str
    """The tokenizer."""
    round_trip: str = "unknown"
    """The worst of them, as :class:`tokbench.measuring.round_trip.RoundTrip` names it."""
