"""What a metric is, and what a plugin registers for one family of them.

A text metric looks at each shard by itself (``map``), its states are put together in any order
(``merge``), and values come out at the end (``finish``): so shards can be worked on anywhere, and
memory does not grow with the corpus. The text has been encoded already; no metric encodes it again.

A probe asks one tokenizer at a time about texts of its own, whatever the corpora are.

An across metric is a text metric whose values are about groups or tokenizers beside one another: once a
corpus is through, it sees the states of all of them.

A bench metric sees all tokenizers at once, alone on the machine, after all else: speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from tokbench.contracts.options import Options
from tokbench.contracts.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokbench.failures import Failure
    from tokbench.metrics.encoded_shard import EncodedShard
    from tokbench.progress import Progress
    from tokbench.results.blocks import LossCause, LossExample, PairComparison
    from tokbench.results.cells import Cell

__all__ = [
    "Answer",
    "CorpusMetric",
    "CorpusOutcome",
    "CorpusStates",
    "FindsLosses",
    "LossSummary",
    "Measured",
    "Metric",
    "MetricFamily",
    "NotApplicable",
    "Probe",
    "Role",
    "Segmented",
    "TextMetric",
    "TimedMetric",
    "TimedOutcome",
    "TimedText",
]


class Measured(NamedTuple):
    """A value that was measured.

    Attributes:
        value: the number, finite.
        n: how many documents it rests on.
        ci_low, ci_high: its 95 % interval, if there is one.
        unit: its unit, where it differs from group to group; else that of the :class:`Metric`.
    """

    value: float
    n: int
    ci_low: float | None = None
    ci_high: float | None = None
    unit: str = ""


class NotApplicable(NamedTuple):
    """A value that does not exist here, and why."""

    reason: str


class Role(StrEnum):
    """What a metric means to the rest of tokbench, which asks for a role and never for an id.

    A plugin's metric may have a role, too: a run uses the first metric that has it. A study of vocabulary sizes reads
    the states of families by role: that of ``TEXT_PER_TOKEN`` keeps :class:`~tokbench.metrics.sums.Sums` with a column
    ``bytes``, that of ``TOKENS_PER_WORD`` :class:`~tokbench.metrics.word_units.UnitSums` with a column ``words``, and
    that of ``ID_COUNTS`` :class:`~tokbench.metrics.token_counts.TokenCounts`.
    """

    TEXT_PER_TOKEN = "text per token"  # noqa: S105 - not a password
    TOKENS_PER_WORD = "tokens per word"
    ROUND_TRIP = "share of documents that come back"
    UNKNOWN = "share of unknown tokens"
    ENCODING_SPEED = "encoding speed"
    PREMIUM = "premium over the reference language"
    RELATIVE_CONTEXT = "relative context"
    INEQUALITY = "inequality of premiums"
    PREMIUM_RANGE = "dearest over cheapest language"
    RANK = "rank among the tokenizers"
    SAME_IDS = "same ids as the reference"
    ID_COUNTS = "counts of ids"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One number of a family: a column, with its definition.

    Attributes:
        id: its name in ``results.csv``.
        unit: its unit.
        direction: which way is better.
        formula: how it is computed, aggregation included.
        definition: what it says, in a sentence or two.
        needs: capabilities of which a tokenizer must have at least one.
        whole: whether no group has it, but only the whole corpus and the slices of a corpus metric.
        label: its name in reports; empty for its id with spaces.
        short_label: its name in narrow columns; empty for the label.
        headline: whether it is one of the few by which tokenizers are told apart at first sight.
        loss_looks_better: whether a tokenizer that loses text looks better in it than it is, so that it must not win.
        role: what it means to the rest of tokbench; ``None`` if nothing.
    """

    id: str
    unit: str
    direction: Literal["higher", "lower", "none"]
    formula: str
    definition: str
    needs: tuple[type, ...] = ()
    whole: bool = False
    label: str = ""
    short_label: str = ""
    headline: bool = False
    loss_looks_better: bool = False
    role: Role | None = None


class TextMetric(Protocol):
    """Map, merge, finish. A state is whatever the metric likes, as long as it can be pickled."""

    def map(self, view: EncodedShard, /) -> Any:
        """The state of one shard."""

    def merge(self, one: Any, other: Any, /) -> Any:
        """Two states as one; associative and commutative. Neither argument is changed."""

    def finish(self, state: Any, /) -> Mapping[str, Measured | NotApplicable]:
        """The values, by id. One whose ``needs`` the tokenizer does not meet may be left out."""

    def raw(self, state: Any, /) -> Any:
        """The state as plain JSON data, for ``results.json``."""


class CorpusStates(NamedTuple):
    """What is known of one corpus when all its shards have been looked at.

    Attributes:
        corpus: its name.
        parallel: whether its groups are translations of one another.
        reference: the group that the others are compared with; ``""`` if none is named.
        groups: how many documents each group has, in the order of the corpus.
        tokenizers: those that were measured, in the order of the run.
        states: by tokenizer and group; what failed is not there, and its cells say why without your help.
    """

    corpus: str
    parallel: bool
    reference: str
    groups: Mapping[str, int]
    tokenizers: Sequence[str]
    states: Mapping[tuple[str, str], Any]


class CorpusOutcome(NamedTuple):
    """What an across metric found.

    Attributes:
        values: by tokenizer and group (``*`` is the whole corpus) the values by id. A group that the corpus
            does not have is a slice of several, such as ``script: Latin``: it gets the cells that are there.
        pairs: what is to stand in ``Results.pairs``.
    """

    values: Mapping[tuple[str, str], Mapping[str, Measured | NotApplicable]]
    pairs: Sequence[PairComparison] = ()


@runtime_checkable
class CorpusMetric(Protocol):
    """Map and merge as a text metric does; then look at the states of all groups and tokenizers of a corpus."""

    def map(self, view: EncodedShard, /) -> Any:
        """The state of one shard."""

    def merge(self, one: Any, other: Any, /) -> Any:
        """Two states of one group as one; associative and commutative. Neither argument is changed."""

    def finish_corpus(self, states: CorpusStates, /) -> CorpusOutcome:
        """The values of every tokenizer and group."""

    def raw(self, state: Any, /) -> Any:
        """The state of a group as plain JSON data, for ``results.json``."""


class LossSummary(NamedTuple):
    """The documents of one group that did not come back.

    Attributes:
        documents: their number.
        first: the first of them.
        causes: the causes that take part.
    """

    documents: int
    first: LossExample
    causes: list[LossCause]


@runtime_checkable
class FindsLosses(Protocol):
    """A text metric that can show a text that did not come back."""

    def loss(self, state: Any, /) -> LossSummary | None:
        """Return what a report shows of a group, or ``None`` where all documents came back."""


class Segmented(NamedTuple):
    """A text and its tokens.

    Attributes:
        label: what a table calls it.
        text: the text.
        tokens: ids, each with the text that it stands for by itself.
    """

    label: str
    text: str
    tokens: Sequence[tuple[int, str]]


class Answer(NamedTuple):
    """What a tokenizer makes of a probe.

    Attributes:
        values: by id.
        segmented: the texts of the probe, the same for all tokenizers.
        own: further texts, which are not those of another tokenizer.
    """

    values: Mapping[str, Measured | NotApplicable]
    segmented: Sequence[Segmented]
    own: Sequence[Segmented] = ()


class Probe(Protocol):
    """A question to a tokenizer, with texts of its own."""

    @property
    def name(self) -> str:
        """One word."""

    @property
    def title(self) -> str:
        """A few words, for a heading."""

    @property
    def explanation(self) -> str:
        """What it shows and why one would care, in a few sentences."""

    @property
    def values(self) -> tuple[Metric, ...]:
        """The numbers it yields."""

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        """Ask one tokenizer. A value whose ``needs`` it does not meet may be left out."""


class TimedOutcome(NamedTuple):
    """The cells of a timed metric, and what a reader of them must know.

    Attributes:
        cells: the numbers.
        notes: sentences for the reader.
        failures: the failures behind failed cells; their tracebacks go to ``Results.tracebacks``.
    """

    cells: list[Cell]
    notes: list[str]
    failures: Sequence[Failure] = ()


class TimedText(NamedTuple):
    """A corpus, or its held-out part.

    Attributes:
        corpus: its name.
        n_bytes: its size, UTF-8.
        evaluated: whether the text metrics are measured on it; if not, it is there because somebody names it.
        documents: the texts of all groups; can be gone through once.
    """

    corpus: str
    evaluated: bool
    n_bytes: int
    documents: Iterable[str]


class TimedMetric(Protocol):
    """Measures all tokenizers against one another."""

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress, /
    ) -> TimedOutcome:
        """Measure every tokenizer on every corpus.

        A tokenizer that raises gets failed cells; the others are measured all the same.
        """


@dataclass(frozen=True, kw_only=True)
class MetricFamily:
    """What a plugin registers for one family; at most one of ``text``, ``probes`` and ``timed`` is given.

    Attributes:
        name: the word under ``metrics:`` in a configuration.
        summary: one line for ``tokbench list``.
        values: the numbers it yields.
        text: makes the text metric, or the across metric, from its options.
        probes: makes the probes from its options.
        bench: makes the bench metric from its options.
        options: the options class. A field called ``corpora`` names corpora of the run, and the keys of one
            called ``units`` name groups; one called ``reference`` names a tokenizer: such names are checked with the
            rest of the configuration.
        by_script: whether a text metric also has cells for the groups of each script put together, where groups are
            languages.
        companion: the report format that comes by itself with the family, and not without it; empty for none.
        role: what its states mean to the rest of tokbench; ``None`` if nothing. Its metrics have roles of their own.
    """

    name: str
    summary: str
    values: tuple[Metric, ...]
    text: Callable[[Any], TextMetric | CorpusMetric] | None = None
    probes: Callable[[Any], Sequence[Probe]] | None = None
    timed: Callable[[Any], TimedMetric] | None = None
    options: type[Options] = Options
    by_script: bool = False
    companion: str = ""
    role: Role | None = None

    def has_role(self, role: Role) -> bool:
        """Tell whether the family or one of its metrics has a role."""
        return role == self.role or any(metric.role == role for metric in self.values)

    @property
    def automatic(self) -> bool:
        """Whether the runner measures the family by itself where its role applies; a configuration cannot name it."""
        return not (self.text or self.probes or self.timed) and any(metric.role for metric in self.values)
