"""The contract of a metric: how it computes its numbers, and what a plugin registers for a family of metrics.

There are three kinds:

* A :class:`TextMetric` computes a state from each shard of encoded text (``map``), adds states up in any order
  (``merge``), and makes values of the sum (``finish``). Memory does not grow with the corpus.
* A :class:`CorpusMetric` compares groups or tokenizers: its ``finish_corpus`` sees all states of a corpus.
* What a study measures, such as speed or bits per byte of small language models, has the contract of that study.

A ratio of counts need only be declared, see :mod:`tokbench.measuring.counted`. Any other text metric in a few lines:

>>> from tokbench.plugin import Options
>>> from tokbench.plugin.metrics import EncodedShard, Measured
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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from tokbench.results.blocks import MARGIN, MOST_LOST
from tokbench.results.cells import WHOLE

if TYPE_CHECKING:
    from tokbench.measuring.encoded_shard import EncodedShard
    from tokbench.results.blocks import LossCause, LossExample, PairComparison


class Measured(NamedTuple):
    """A measured value."""

    value: float
    n: int
    """The number of documents behind it."""
    ci_low: float | None = None
    ci_high: float | None = None
    unit: str = ""
    """Set where it differs from group to group."""
    no_interval: str = ""
    ratio_of: tuple[str, ...] = ()
    """The names of the two sums of which it is the ratio, by which two runs are compared group by group."""


class NotApplicable(NamedTuple):
    """The reason why a value does not exist here."""

    reason: str


class Role(StrEnum):
    """The meaning of a metric to the rest of tokbench, which asks for a role and never for an id.

    A run uses the first metric that has a role. A study of vocabulary sizes reads states by role: ``TEXT_PER_TOKEN``
    keeps :class:`~tokbench.measuring.sums.Sums` with a column ``bytes``, ``TOKENS_PER_WORD``
    :class:`~tokbench.measuring.word_units.UnitSums` with a column ``words``, and ``ID_COUNTS``
    :class:`~tokbench.measuring.token_counts.TokenCounts`.
    """

    TEXT_PER_TOKEN = "text per token"  # noqa: S105 - not a password
    TOKENS_PER_WORD = "tokens per word"
    ROUND_TRIP = "share of exact documents"
    LOST_CHARACTERS = "share of characters lost"
    ERRORS = "character error rate beyond NFC"
    UNKNOWN = "share of unknown tokens"
    ENCODING_SPEED = "encoding speed"
    PREMIUM = "premium over the reference language"
    RELATIVE_CONTEXT = "relative context"
    INEQUALITY = "inequality of premiums"
    PREMIUM_RANGE = "dearest over cheapest language"
    RANK = "rank among the tokenizers"
    ID_COUNTS = "counts of ids"
    ID_HASHES = "hashes of the ids of documents"


class Basis(NamedTuple):
    """The documents that count, where not all do."""

    column: str
    """The column of the sums that counts them."""
    missing: str
    """The reason for a missing value if no document counts."""


@dataclass(frozen=True)
class Metric:
    """One number of a family, with its definition: a column of ``results.csv``."""

    id: str
    """The name in ``results.csv``."""
    unit: str
    """A part of a whole has one that begins with ``share``."""
    direction: Literal["higher", "lower", "none"]
    formula: str = ""
    """How the value is computed, aggregation included."""
    definition: str = ""
    """What the value says, in a sentence or two."""
    of: tuple[str, ...] = ()
    """The columns of :class:`~tokbench.measuring.sums.Sums` of which it is the ratio, or the one whose sum it is; empty
    if the family computes it otherwise. See :func:`tokbench.measuring.counted.declared`."""
    basis: Basis | None = None
    """The documents that count; ``None`` for all."""
    needs: tuple[type, ...] = ()
    """Capabilities of which a tokenizer must have one."""
    whole: bool = False
    """Only the whole corpus and the slices of a corpus metric have a value, but no single group."""
    label: str = ""
    """The name in reports; by default the id with spaces."""
    short_label: str = ""
    """The name in narrow columns; by default the label."""
    headline: bool = False
    """Among the few metrics that a summary of tokenizers begins with."""
    no_interval: str = ""
    """The reason why its values never have an interval."""
    loss_cannot_help: str = ""
    """The reason why losing text cannot improve the value; else a lossy tokenizer is marked, and ranked by the rule of
    loss alone."""
    role: Role | None = None
    by_output: bool = False
    """Only tokenizers whose engines return the same are compared."""

    def means(self, formula: str, definition: str) -> Metric:
        """Return it with its formula and its definition."""
        return replace(self, formula=formula, definition=definition)


class _MapsShards(Protocol):
    """The common part of metrics of text; a state must be picklable, because the store keeps it."""

    def map(self, encoded: EncodedShard, /) -> Any:
        """Return the state of one shard. It depends on nothing else, because a run may take it from the store."""

    def merge(self, one: Any, other: Any, /) -> Any:
        """Return the state of both together. It is associative and commutative, and changes neither argument."""

    def raw(self, state: Any, /) -> Any:
        """Return plain JSON data (with arrays for lists) for the file of raw states; ``None`` for nothing."""


class TextMetric(_MapsShards, Protocol):
    """A metric of text: ``map``, ``merge``, ``raw``, and ``finish``."""

    def finish(self, state: Any, /) -> Mapping[str, Measured | NotApplicable]:
        """Return the values by id. A metric whose ``needs`` the tokenizer does not meet may be left out."""


class CorpusStates(NamedTuple):
    """The states of a corpus metric on one corpus, after all shards."""

    corpus: str
    parallel: bool
    """Its groups are translations of one another."""
    reference: str
    """The group with which the others are compared; empty if the configuration names none."""
    groups: Mapping[str, int]
    """The number of documents of each group, in the order of the corpus."""
    tokenizers: Sequence[str]
    states: Mapping[tuple[str, str], Any]
    """By tokenizer and group. One that failed is missing; the run gives its cells the reason."""
    designed: bool = False
    """Its texts were chosen and not drawn, so that nothing is inferred from them."""
    most_lost: float = MOST_LOST
    """The highest character error rate of a tokenizer that is ranked."""
    margin: float = MARGIN
    """A smaller relative difference is a tie."""

    def merged(self, tokenizer: str, group: str) -> Any | None:
        """Return the state of a group, or of the whole corpus; ``None`` if a part was not measured."""
        parts = [self.states.get((tokenizer, member)) for member in (self.groups if group == WHOLE else [group])]
        return None if not parts or any(part is None for part in parts) else reduce(add, parts)


class CorpusOutcome(NamedTuple):
    """The result of a corpus metric on one corpus."""

    values: Mapping[tuple[str, str], Mapping[str, Measured | NotApplicable]]
    """By tokenizer and group, the values by id. ``*`` is the whole corpus; a name that is not a group is a slice of
    several, such as ``script: Latin``."""
    pairs: Sequence[PairComparison] = ()
    """Comparisons of two tokenizers each."""


@runtime_checkable
class CorpusMetric(_MapsShards, Protocol):
    """A metric that compares groups or tokenizers: ``map``, ``merge`` and ``raw``, and ``finish_corpus``."""

    def finish_corpus(self, states: CorpusStates, /) -> CorpusOutcome:
        """Return the values of every tokenizer and group of one corpus."""


class LossSummary(NamedTuple):
    """The lossy documents of one group: their number, the first of them, and the causes that take part."""

    documents: int
    first: LossExample
    causes: list[LossCause]


@runtime_checkable
class FindsLosses(Protocol):
    """A text metric that can show lossy texts."""

    def loss(self, state: Any, /) -> LossSummary | None:
        """Return what a report shows of a group, or ``None`` if nothing is lost."""


class DocumentExample(NamedTuple):
    """A document of a group that a report shows."""

    number: int
    """How many documents of the group come before it."""
    origin: str
    """Such as ``news.txt:12``."""
    tokens: int
    bytes: int
    """In UTF-8; of the whole document, as the tokens."""
    excerpt: str

    @property
    def tokens_per_byte(self) -> float:
        """The number of tokens for a byte of text.

        >>> DocumentExample(0, "x.txt:1", tokens=6, bytes=4, excerpt="text").tokens_per_byte
        1.5
        """
        return self.tokens / self.bytes


@runtime_checkable
class FindsWorstDocuments(Protocol):
    """A text metric that can show the documents of which a tokenizer makes the most tokens."""

    def worst(self, state: Any, /) -> Sequence[DocumentExample]:
        """Return a few documents of a group, the one with the most tokens per byte first."""
