"""The common part of the families that count words: their options, and sums that know their unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from tokbench.corpus.shards import Shard
from tokbench.corpus.words.find import Spans
from tokbench.corpus.words.gold import GOLD_UNITS
from tokbench.corpus.words.units import UNIT_NAMES, CountedUnit, Unit, default_unit, foreign, uninstalled
from tokbench.measuring.encoded_shard import EncodedShard, TokenEnds
from tokbench.measuring.metric import Measured, Metric, NotApplicable
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.tokenizers.contract import EncodesWithOffsets, HasTokenBytes, HasUnknown
from tokbench.tokenizers.options import GroupName, Options

NO_GOLD = "the corpus has no gold words; read it with 'source: conllu', or from rows with 'segments'"

NOT_ALIGNED = "no document's tokens could be laid onto its bytes"


def _installed(unit: Unit) -> Unit:
    lacking = uninstalled(unit)
    if lacking:
        raise ValueError(lacking)
    return unit


WantedUnit = Annotated[Unit, AfterValidator(_installed)]
"""A unit that somebody asked for. It is refused where its library is not installed, and never replaced by another."""


class WordOptions(Options):
    """Options of the families that count words."""

    unit: WantedUnit | None = Field(
        default=None,
        description=(
            "what a word is: gold, gold_nonpunct, icu, uax29, whitespace, character, grapheme or syllable; "
            "default: gold if the corpus has gold words (strr, continued_words: gold_nonpunct), else by language"
        ),
    )
    units: dict[GroupName, WantedUnit] = Field(default_factory=dict, description="the same for single groups, by name")


class UnitSums(NamedTuple):
    """Sums over words, and the units of all shards in them."""

    units: frozenset[CountedUnit]
    sums: Sums
    lacking: str = ""

    def __add__(self, other: UnitSums) -> UnitSums:  # type: ignore[override]
        return UnitSums(self.units | other.units, self.sums + other.sums, self.lacking or other.lacking)

    def refusal(self) -> NotApplicable | None:
        if len(self.units) > 1:
            names = ", ".join(UNIT_NAMES[unit][1] for unit in sorted(self.units))
            return NotApplicable(f"groups are counted in different units: {names}")
        return NotApplicable(self.lacking) if self.lacking else None


def words_of(options: WordOptions, shard: Shard) -> tuple[Unit, Spans, str]:
    """Return the unit in which the words of a shard have places, its words, or the reason why there are none.

    By default words are those that people marked, where they did, without punctuation, which is never cut.
    """
    unit, lacking = _unit_of(options, shard, "gold_nonpunct")
    nothing = np.empty(0, dtype=np.int64)
    return unit, Spans(nothing, nothing, nothing) if lacking else shard.words(unit), lacking


class WordCounts(NamedTuple):
    """How many words the documents of a shard have."""

    unit: Unit
    words: NDArray[np.int64]
    """int64[d]."""
    lacking: str
    """Why there are none, or empty."""


def word_counts_of(options: WordOptions, shard: Shard) -> WordCounts:
    """Count the words of a shard; by default those that people marked, where they did, with punctuation."""
    unit, lacking = _unit_of(options, shard, "gold")
    return WordCounts(unit, np.zeros(len(shard), dtype=np.int64) if lacking else shard.word_counts(unit), lacking)


def _unit_of(options: WordOptions, shard: Shard, gold: Unit) -> tuple[Unit, str]:
    group = shard.group
    unit = options.units.get(group) or options.unit or (default_unit(group) if shard.gold is None else gold)
    return unit, NO_GOLD if unit in GOLD_UNITS and shard.gold is None else foreign(unit, group)


def token_ends(encoded: EncodedShard) -> TokenEnds:
    """Return where tokens end. If the tokenizer has neither bytes nor offsets, no document is aligned."""
    if isinstance(encoded.tokenizer, HasTokenBytes | EncodesWithOffsets):
        return encoded.token_ends
    return TokenEnds(np.empty(0, dtype=np.int64), np.zeros(len(encoded.shard), dtype=np.bool_))


class WordsOnTokens(NamedTuple):
    """The words of the aligned documents of a shard, laid onto their tokens."""

    words: Spans
    tokens: NDArray[np.int64]
    """int64[w], for each word the number of the token with its first byte, as ``ends`` counts tokens."""
    ends: NDArray[np.int64]
    """int64[m], where tokens end, rising."""

    def cut(self) -> NDArray[np.bool_]:
        """Return bool[w], ``True`` for words inside which a token ends.

        >>> at = np.array([0, 0])  # "dogs bark" as "do", "gs", " bark"
        >>> words = Spans(np.array([0, 5]), np.array([4, 9]), at)
        >>> WordsOnTokens(words, tokens=np.array([0, 2]), ends=np.array([2, 4, 9])).cut().tolist()
        [True, False]
        """
        ends = np.append(self.ends, np.iinfo(np.int64).max)
        return ends[self.tokens] < self.words.ends

    def where(self, chosen: NDArray[Any]) -> WordsOnTokens:
        return WordsOnTokens(self.words.where(chosen), self.tokens[chosen], self.ends)


def words_on_tokens(encoded: EncodedShard, unit: Unit, words: Spans) -> WordsOnTokens:
    """Lay the words of a shard in a unit onto its tokens, once for all families."""

    def lay() -> WordsOnTokens:
        ends, aligned = token_ends(encoded)
        counted = words if aligned.all() else words.where(aligned[words.documents])
        return WordsOnTokens(counted, np.searchsorted(ends, counted.starts, side="right"), ends)

    return encoded.cached(("laid words", unit), lay)


Choose = Callable[[EncodedShard, WordsOnTokens], NDArray[np.bool_]]
"""Returns bool[w], the words that count, of those in aligned documents."""


class AlignedWords(SummedMetric):
    """The share of the words that are chosen by the places where tokens end, over the aligned documents."""

    def __init__(self, choose: Choose, metric: Metric, options: WordOptions) -> None:
        super().__init__(options)
        self._choose, self._metric = choose, metric

    def map(self, encoded: EncodedShard) -> UnitSums:
        shard, aligned = encoded.shard, token_ends(encoded).aligned
        unit, words, lacking = words_of(self._options, shard)
        laid = WordsOnTokens(words, words.starts, words.starts) if lacking else words_on_tokens(encoded, unit, words)
        documents = laid.words.documents
        columns: dict[str, NDArray[Any]] = {
            self._metric.of[0]: count_by_document(shard, documents, self._choose(encoded, laid)),
            "words": count_by_document(shard, documents),
            "aligned": aligned,
        }
        return UnitSums(frozenset({unit}), Sums.of(shard, **columns), lacking)

    def finish(self, state: UnitSums) -> dict[str, Measured | NotApplicable]:
        aligned = int(state.sums.columns["aligned"].sum())
        refusal = state.refusal() or (None if aligned else NotApplicable(NOT_ALIGNED))
        if refusal:
            return {self._metric.id: refusal}
        [unit] = state.units
        return {self._metric.id: state.sums.share(*self._metric.of, unit=f"share of {UNIT_NAMES[unit][1]}", n=aligned)}


def unknown_tokens(encoded: EncodedShard) -> NDArray[np.bool_]:
    """Return bool[n], ``True`` for the unknown tokens of a shard."""
    unknown = encoded.tokenizer.unk_id if isinstance(encoded.tokenizer, HasUnknown) else None
    ids = encoded.ids
    return np.zeros(len(ids), dtype=np.bool_) if unknown is None else ids == unknown


def count_by_document(
    shard: Shard, documents: NDArray[np.int64], chosen: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return int64[d], how often each document of a shard is in a list of documents, at the chosen places of it."""
    return np.bincount(documents if chosen is None else documents[chosen], minlength=len(shard))
