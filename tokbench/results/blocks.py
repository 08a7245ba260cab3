"""The blocks of ``results.json`` other than the cells, each a documented dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tokbench.results.cells import TokenizerState

NOT_SAVED: Final = "not saved"
"""Begins the note of a trained tokenizer that could not be saved."""


@dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """A file that a configuration extends."""

    file: str
    """Its path relative to the configuration, or the name of a shipped suite."""
    sha256: str
    """The digest of its text, UTF-8."""
    text: str


MARGIN: Final = 0.01
"""A smaller relative difference is a tie."""

LEAST_SHARE: Final = 0.01
"""A group with a smaller share of the bytes of a run does not count alike."""

LEAST_DOCUMENTS: Final = 10
"""Nor does one with fewer documents."""

MOST_LOST: Final = 1e-3
"""A tokenizer that loses a larger share of the characters of a corpus, beyond canonical equivalence, is not ranked."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """The configuration of a run, with all that is needed to repeat it."""

    file: str = ""
    """The name of the file without its folder."""
    sha256: str = ""
    """The digest of the text in UTF-8."""
    text: str = ""
    """The text of the file."""
    bases: list[ConfigFile] = field(default_factory=list)
    """The files that it extends, directly or not, in the order of reading."""
    limit: int | None = None
    """The most documents of a group that were measured; ``None`` for all."""
    only: list[str] = field(default_factory=list)
    """The tokenizers to which the run was restricted; empty for all."""
    settings: list[str] = field(default_factory=list)
    """Values set by the command, such as ``metrics.fertility.unit=icu``."""
    formats: list[str] = field(default_factory=list)
    """The names of the report formats."""
    weights: dict[str, float] = field(default_factory=dict)
    """By corpus, its share in the reader's text; empty where languages count alike."""
    practical_margin: float = MARGIN
    """A smaller difference in tokens is a tie."""
    least_share: float = LEAST_SHARE
    """A group with a smaller share of the bytes does not count alike."""
    least_documents: int = LEAST_DOCUMENTS
    """A group with fewer documents does not count alike."""
    most_lost: float = MOST_LOST
    """The largest share of characters lost of a tokenizer that is ranked."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Machine and versions, without host and user name."""

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
    """Main memory, GiB, if known."""
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
    """The seconds of each phase of a run; ``None`` if it did not run or was not measured."""

    reading: float | None = None
    """Reading all corpora for the first time."""
    loading: float | None = None
    """Waiting for tokenizers that are loaded while corpora are read."""
    training: float | None = None
    """Training tokenizers, saving them, and hashing all vocabularies."""
    measuring: float | None = None
    """Encoding and decoding all documents, and the text metrics, in the workers."""
    cells: float | None = None
    """Merging the workers' results into cells."""
    studies: dict[str, float] = field(default_factory=dict)
    """By study, its time."""
    reports: float | None = None
    """Writing ``results.json`` and the reports; unknown to a report itself."""


@dataclass(frozen=True, kw_only=True)
class PartialRun:
    """The extent of a run that was stopped."""

    phase: str
    """The phase in which it was stopped, named as in :class:`Durations`, or a study."""
    reason: str = ""
    """Why it could not go on; empty if a person or a signal stopped it."""


@dataclass(frozen=True, kw_only=True)
class PluginInfo:
    """One entry point, usable or not."""

    name: str
    distribution: str = ""
    """The package that declares it."""
    version: str = ""
    """The version of that package."""
    state: Literal["usable", "broken"] = "usable"
    """``usable`` or ``broken``."""
    reason: str = ""
    """Why it is broken; empty if it is usable."""


@dataclass(frozen=True, kw_only=True)
class CorpusInfo:
    """One corpus of a run."""

    source: str = ""
    """The kind of source, such as ``text``."""
    options: dict[str, Any] = field(default_factory=dict)
    """The source's options as written."""
    licence: str = ""
    """The licence of the texts; empty if unknown."""
    sha256: str = ""
    """The digest of all documents within the limit; empty if unknown."""
    limit: int | None = None
    """The most documents of a group that were measured; ``None`` for all."""
    documents: int | None = None
    """The number of documents that ``sha256`` covers."""
    bytes: int | None = None
    """Their size in UTF-8."""
    evaluated_bytes: int | None = None
    """Bytes of the part that was measured."""
    holdout: float | None = None
    """The share of documents kept from training; ``None`` if all serve for both."""
    parallel: bool = False
    """``True`` if the groups are translations of one another."""
    reference: str = ""
    """The group that others are compared with; empty for none."""
    designed: bool = False
    """``True`` for curated texts, on which numbers have no intervals."""
    groups: dict[str, int] = field(default_factory=dict)
    """Evaluated documents by group; empty for a training corpus."""
    group_documents: dict[str, int] = field(default_factory=dict)
    """With a holdout, all documents by group, with those for training; else empty."""
    group_bytes: dict[str, int] = field(default_factory=dict)
    """With a holdout, the bytes of all documents by group; else empty."""


@dataclass(kw_only=True)
class TrainingInfo:
    """The training of a tokenizer; the run fills it in."""

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
    """Peak memory, 10^6 bytes, if measured."""
    from_store: bool = False
    """``True`` if an earlier run trained it, in ``seconds`` and ``memory_mb``."""


@dataclass(kw_only=True)
class TokenizerInfo:
    """One tokenizer of a run, which fills it in."""

    backend: str = ""
    """The name of its backend."""
    distribution: str = ""
    """The backend's package with its version."""
    libraries: dict[str, str] = field(default_factory=dict)
    """Versions of the packages that the backend needs, by name."""
    engine: str = ""
    """The engine with its version; empty if it was not ready."""
    returns: str = ""
    """What its engine returns: ``arrays``, ``lists`` or ``counts``; speeds are compared among equals."""
    options: dict[str, Any] = field(default_factory=dict)
    """The backend's options as written."""
    optional: bool = False
    """``True`` if the run goes on without it."""
    baseline: bool = False
    """``True`` for a baseline, which is never the best."""
    same_as: str = ""
    """The tokenizer whose ids it must have; empty for none."""
    corpora: list[str] = field(default_factory=list)
    """The only corpora on which it was measured; empty for all."""
    state: TokenizerState = TokenizerState.READY
    """Ready, or why not."""
    reason: str = ""
    """The same in words; empty if it was ready."""
    vocab_size: int | None = None
    """The number of its ids, if it was ready."""
    load_s: float | None = None
    """Seconds of loading, with the library's import; ``None`` if it was not loaded."""
    train: TrainingInfo | None = None
    """The training; ``None`` if it was loaded."""
    sha256: dict[str, str] = field(default_factory=dict)
    """Digests of its files by option, and ``vocabulary``, the digest of the bytes of all ids."""
    lacks: list[str] = field(default_factory=list)
    """The metrics that need a capability that its backend lacks."""
    notes: list[str] = field(default_factory=list)
    """Sentences that a reader of its numbers must know."""
    repairs: dict[str, str] = field(default_factory=dict)
    """By the cause of a loss, the training options that prevent it."""
    artefact: str = ""
    """The file it was saved to; empty for none."""
    artefact_sha256: str = ""
    """The digest of that file."""

    @property
    def only_counts(self) -> bool:
        """Whether it counts tokens and gives no ids."""
        return self.returns == "counts"


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
    """``True`` if it is one of the few main metrics."""
    leads: bool = False
    """``True`` for a headline metric of the subject, with which a report begins."""
    no_interval: str = ""
    """Why its values never have an interval; empty if they may."""
    loss_cannot_help: str = ""
    """Why losing text cannot improve the value; empty if the rule of loss decides."""
    role: str = ""
    """Its role, as in :class:`tokbench.measuring.metric.Role`; empty for none."""
    timed: bool = False
    """``True`` if it was timed: its cells count rounds, not documents."""
    by_output: bool = False
    """``True`` if only tokenizers with the same ``returns`` are compared."""
    corpora: list[str] = field(default_factory=list)
    """The only corpora on which it was measured; empty for all."""
    ratio_of: list[str] = field(default_factory=list)
    """The two sums in the raw states whose ratio it is; empty for others."""


@dataclass(frozen=True, kw_only=True)
class LossExample:
    """The first difference between a text and its decoded ids."""

    origin: str
    """The place where the document is found, such as ``en.txt:12``."""
    position: int
    """The place of the difference, in characters."""
    expected: str
    """The text there, with a little context before."""
    got: str
    """The same place in the decoded text, with the same context."""


@dataclass(frozen=True, kw_only=True)
class LossCause:
    """One cause of losses in one group."""

    cause: str
    """Such as ``whitespace``."""
    documents: int
    """Documents whose first difference it explains; these add up."""
    taking_part: int
    """Documents in which it takes part."""
    first: LossExample | None = None
    """The first document that it explains, if any."""


@dataclass(frozen=True, kw_only=True)
class LossInfo:
    """The losses of one tokenizer on one group."""

    tokenizer: str
    corpus: str
    group: str
    documents: int
    """The number of lossy documents."""
    first: LossExample
    """The first of them."""
    causes: list[LossCause] = field(default_factory=list)
    """The causes that take part."""


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """Two tokenizers on the same documents; the one with fewer tokens comes first."""

    corpus: str
    group: str
    tokenizer: str
    """The tokenizer with fewer tokens."""
    other: str
    """The other tokenizer."""
    tokens: tuple[int, int]
    """The tokens of both."""
    difference: float
    """Tokens saved as a share of the other's tokens; never above 0."""
    ci_low: float | None
    """The lower end of its 95% interval; ``None`` if nothing varies."""
    ci_high: float | None
    """The upper end, likewise."""
    n: int
    """The number of documents."""
    p: float
    """The p-value of a two-sided paired test."""
    p_holm: float = 1.0
    """``p`` corrected for all pairs of the group (Holm 1979)."""
    differ: bool = False
    """``True`` if the difference is significant."""


@dataclass(frozen=True, kw_only=True)
class StatesFile:
    """The file of the raw states, ``states.jsonl.gz``."""

    file: str
    """Its name; it is in the folder of ``results.json``."""
    sha256: str
    """The digest of its content."""
    states: int
    """The number of states in it."""


@dataclass(frozen=True, kw_only=True)
class FamilyInfo:
    """A metric family of a run."""

    options: dict[str, Any] = field(default_factory=dict)
    """All its options, with defaults."""
    distribution: str = ""
    """Its package with its version."""


@dataclass(frozen=True, kw_only=True)
class RawState:
    """The raw sums behind the cells of one group."""

    tokenizer: str
    corpus: str
    group: str
    family: str
    state: Any = None
    """The state of the metric family, as plain JSON data."""


@dataclass(frozen=True, kw_only=True)
class OwnTexts:
    """The round trip of a metric's own texts with a tokenizer."""

    metric: str
    tokenizer: str
    round_trip: str = "unknown"
    """The worst of them, as :class:`tokbench.measuring.round_trip.RoundTrip` names it."""
