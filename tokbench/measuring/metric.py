"""The contract of a metric: how it computes its numbers, and what a plugin registers for a family of metrics.

There are six kinds:

* A :class:`TextMetric` computes a state from each shard of encoded text (``map``), adds states up in any order
  (``merge``), and makes values of the sum at the end (``finish``). So shards can be measured on any machine, and memory
  does not grow with the corpus. The text is already encoded; no metric encodes it again.
* A :class:`CorpusMetric` is a text metric that compares groups or tokenizers with one another. Its ``finish_corpus``
  sees the states of all groups and tokenizers of a corpus.
* A :class:`Probe` asks one tokenizer about texts of its own, whatever the corpora are.
* A :class:`TimedMetric` measures all tokenizers together, after everything else and alone on the machine: speed.
* An :class:`~tokbench.measuring.isolated_metric.IsolatedMetric` measures one tokenizer after the other, each in a
  process of its own that may die: memory, and text that hangs or crashes an engine.
* What a study measures, such as bits per byte of small language models, has the contract of that study.

A text metric in a few lines:

>>> from tokbench.plugin import EncodedShard, Measured, Options
>>> class LongestDocument:
...     def __init__(self, options: Options) -> None: ...
...
...     def map(self, encoded: EncodedShard) -> int:
...         return int(encoded.tokens.max())
...
...     def merge(self, one: int, other: int) -> int:
...         return max(one, other)
...
...     def finish(self, state: int) -> dict[str, Measured]:
...         return {"longest_document": Measured(state, n=1)}
...
...     def raw(self, state: int) -> int:
...         return state
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from tokbench.foundation.failures import Failure
from tokbench.results.cells import Cell
from tokbench.tokenizers.contract import Tokenizer

if TYPE_CHECKING:
    from tokbench.foundation.progress import Progress
    from tokbench.measuring.encoded_shard import EncodedShard
    from tokbench.results.blocks import LossCause, LossExample, PairComparison, PairMatrix
    from tokbench.results.metric_curves import CurvePoint


class Measured(NamedTuple):
    """A measured value.

    Attributes:
        value: a finite number.
        n: the number of documents on which the value rests.
        ci_low, ci_high: the 95 % interval of the value; ``None`` if there is none.
        unit: the unit, if it differs from group to group; empty for the unit of the :class:`Metric`.
        no_interval: the reason why a possible interval is missing, or is rough.
        ratio_of: the names of the two sums of which the value is the ratio, such as ``("bytes", "tokens")``; empty if
            it is not a ratio. Two runs are compared by these sums, document group by document group.
    """

    value: float
    n: int
    ci_low: float | None = None
    ci_high: float | None = None
    unit: str = ""
    no_interval: str = ""
    ratio_of: tuple[str, ...] = ()


class NotApplicable(NamedTuple):
    """The reason why a value does not exist here."""

    reason: str


class Role(StrEnum):
    """The meaning of a metric to the rest of tokbench, which asks for a role and never for an id.

    A plugin's metric may have a role, too: a run uses the first metric that has it. A study of vocabulary sizes reads
    the states of families by role: ``TEXT_PER_TOKEN`` keeps :class:`~tokbench.measuring.sums.Sums` with a
    column ``bytes``, ``TOKENS_PER_WORD`` :class:`~tokbench.measuring.word_units.UnitSums` with a column
    ``words``, and ``ID_COUNTS`` :class:`~tokbench.measuring.token_counts.TokenCounts`.
    """

    TEXT_PER_TOKEN = "text per token"  # noqa: S105 - not a password
    TOKENS_PER_WORD = "tokens per word"
    ROUND_TRIP = "share of exact documents"
    LOST_CHARACTERS = "share of characters lost"
    ERRORS = "character error rate beyond NFC"
    CHARGE = "charge for lost text"
    UNKNOWN = "share of unknown tokens"
    ENCODING_SPEED = "encoding speed"
    PREMIUM = "premium over the reference language"
    RELATIVE_CONTEXT = "relative context"
    INEQUALITY = "inequality of premiums"
    PREMIUM_RANGE = "dearest over cheapest language"
    RANK = "rank among the tokenizers"
    SAME_IDS = "same ids as the reference"
    SAME_COUNTS = "same counts as the reference"
    ID_COUNTS = "counts of ids"


@dataclass(frozen=True)
class Metric:
    """One number of a family, with its definition: a column of ``results.csv``.

    Attributes:
        id: the name in ``results.csv``.
        unit: the unit; a part of a whole has one that begins with ``share``.
        direction: the direction in which values are better.
        formula: how the value is computed, aggregation included.
        definition: what the value says, in a sentence or two.
        of: the columns of :class:`~tokbench.measuring.sums.Sums` of which it is the ratio, or the one whose sum it is;
            see :func:`~tokbench.measuring.counted.declared`. Empty if the family computes it otherwise.
        needs: capabilities; a tokenizer must have at least one of them. Empty if none is needed.
        whole: ``True`` if only the whole corpus and the slices of a corpus metric have a value, but no single group.
        label: the name in reports; empty for the id with spaces.
        short_label: the name in narrow columns; empty for the label.
        headline: ``True`` for the few metrics that a summary of tokenizers begins with.
        no_interval: the reason why its values never have an interval; empty if they may have one.
        loss_cannot_help: the reason why losing text cannot improve the value. Empty if none is known, which
            is the safe assumption: a lossy tokenizer is then marked, and ranked by the rule of loss alone.
        role: the meaning of the metric to the rest of tokbench; ``None`` if it has none.
        curve: the place of the metric on a curve that reports draw, such as tokens over the strength of a change;
            ``None`` if it lies on no curve.
        by_output: ``True`` if only tokenizers whose engines return the same are compared, see
            :func:`tokbench.tokenizers.engine_contract.output_of`.
    """

    id: str
    unit: str
    direction: Literal["higher", "lower", "none"]
    formula: str = ""
    definition: str = ""
    of: tuple[str, ...] = ()
    needs: tuple[type, ...] = ()
    whole: bool = False
    label: str = ""
    short_label: str = ""
    headline: bool = False
    no_interval: str = ""
    loss_cannot_help: str = ""
    role: Role | None = None
    curve: CurvePoint | None = None
    by_output: bool = False

    def means(self, formula: str, definition: str) -> Metric:
        """Return it with its formula and its definition."""
        return replace(self, formula=formula, definition=definition)


class _MapsShards(Protocol):
    """The common part of metrics of text.

    A state is made of numbers, text, lists, tuples, dictionaries, sets and NumPy arrays, and of dataclasses, named
    tuples and enums that hold such values. The types that their fields and the return value of ``map`` declare are
    compared with what the store has. Any other state must be picklable, and no store keeps it.
    """

    def map(self, encoded: EncodedShard, /) -> Any:
        """Return the state of one shard. It depends on nothing else, because a run may take it from the store."""

    def merge(self, one: Any, other: Any, /) -> Any:
        """Return the state of both together. It is associative and commutative, and changes neither argument."""

    def raw(self, state: Any, /) -> Any:
        """Return what the file of raw states keeps of the state of one group; ``None`` for nothing.

        It is plain JSON data; a NumPy array of one dimension counts as its list.
        """


class TextMetric(_MapsShards, Protocol):
    """A metric of text: ``map``, ``merge``, ``raw``, and ``finish``."""

    def finish(self, state: Any, /) -> Mapping[str, Measured | NotApplicable]:
        """Return the values by id. A metric whose ``needs`` the tokenizer does not meet may be left out."""


class CorpusStates(NamedTuple):
    """The states of a corpus metric on one corpus, after all shards.

    Attributes:
        corpus: the name of the corpus.
        parallel: ``True`` if its groups are translations of one another.
        reference: the group with which the others are compared; empty if the configuration names none.
        groups: the number of documents of each group, in the order of the corpus.
        tokenizers: the tokenizers that were measured, in the order of the run.
        states: the states by tokenizer and group. One that failed is missing; the run gives its cells the reason.
        designed: ``True`` if its texts were chosen and not drawn, so that nothing is inferred from them.
    """

    corpus: str
    parallel: bool
    reference: str
    groups: Mapping[str, int]
    tokenizers: Sequence[str]
    states: Mapping[tuple[str, str], Any]
    designed: bool = False


class CorpusOutcome(NamedTuple):
    """The result of a corpus metric on one corpus.

    Attributes:
        values: by tokenizer and group (``*`` is the whole corpus), the values by id. A name that is not a group of the
            corpus is a slice of several groups, such as ``script: Latin``.
        pairs: comparisons of two tokenizers each, for ``Results.pairs``.
        matrices: numbers of every two groups or tokenizers, for ``Results.matrices``.
    """

    values: Mapping[tuple[str, str], Mapping[str, Measured | NotApplicable]]
    pairs: Sequence[PairComparison] = ()
    matrices: Sequence[PairMatrix] = ()


@runtime_checkable
class CorpusMetric(_MapsShards, Protocol):
    """A metric that compares groups or tokenizers: ``map``, ``merge`` and ``raw``, and ``finish_corpus``."""

    def finish_corpus(self, states: CorpusStates, /) -> CorpusOutcome:
        """Return the values of every tokenizer and group of one corpus."""


class LossSummary(NamedTuple):
    """The lossy documents of one group.

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
    """A text metric that can show lossy texts."""

    def loss(self, state: Any, /) -> LossSummary | None:
        """Return what a report shows of a group, or ``None`` if nothing is lost."""


class Segmented(NamedTuple):
    """A text and its tokens.

    Attributes:
        label: the name of the text in tables.
        text: the text.
        tokens: the ids, each with the text that it alone decodes to.
    """

    label: str
    text: str
    tokens: Sequence[tuple[int, str]]


class Answer(NamedTuple):
    """The answer of one tokenizer to a probe.

    Attributes:
        values: the values by id.
        segmented: the texts of the probe, which are the same for all tokenizers.
        own: further texts, chosen for this tokenizer.
    """

    values: Mapping[str, Measured | NotApplicable]
    segmented: Sequence[Segmented]
    own: Sequence[Segmented] = ()


class Probe(Protocol):
    """A question to a tokenizer, with texts of its own."""

    @property
    def name(self) -> str:
        """The name: one word."""

    @property
    def title(self) -> str:
        """The heading in reports: a few words."""

    @property
    def explanation(self) -> str:
        """The meaning of the probe, and why it matters, in a few sentences."""

    @property
    def values(self) -> tuple[Metric, ...]:
        """The metrics of the probe."""

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        """Ask one tokenizer. A metric whose ``needs`` it does not meet may be left out."""


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
    """The text of a corpus, or of its held-out part.

    Attributes:
        corpus: the name of the corpus.
        evaluated: ``True`` if the corpus is evaluated; ``False`` if only the key ``corpora`` of the family names it.
        n_bytes: the size in UTF-8 bytes.
        documents: the texts of all groups, or of one; they can be iterated once.
        group: the group of the cells; ``*`` for the whole corpus.
    """

    corpus: str
    evaluated: bool
    n_bytes: int
    documents: Iterable[str]
    group: str = "*"


class TimedMetric(Protocol):
    """A metric that measures all tokenizers together, alone on the machine."""

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress, /
    ) -> TimedOutcome:
        """Measure every tokenizer on every corpus. It is called again for corpora that have other tokenizers.

        A tokenizer that raises gets failed cells; the others are measured all the same.
        """


@runtime_checkable
class TimesGroups(Protocol):
    """A timed metric that may want the text of every group, too."""

    @property
    def by_group(self) -> bool:
        """``True`` to be given a :class:`TimedText` for each group after the whole corpus."""


@runtime_checkable
class RefersToOthers(Protocol):
    """A timed metric that compares each tokenizer with the one whose ids it is declared to give."""

    def refer(self, same_as: Mapping[str, str], /) -> None:
        """Take note, before measuring, of the tokenizers with a ``same_as``, each with the name that it gives."""


@runtime_checkable
class RepeatsInProcesses(Protocol):
    """A timed metric that may be measured in several fresh processes, because one process can be lucky."""

    @property
    def processes(self) -> int:
        """The number of processes, 1 or more; every one of them measures everything."""

    def combine(self, outcomes: Sequence[TimedOutcome], /) -> TimedOutcome:
        """Make one outcome of two or more."""
