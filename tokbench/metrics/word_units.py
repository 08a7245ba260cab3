"""The common part of the families that count words: their options, and sums that know their unit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tokbench.contracts.metric import Measured, NotApplicable
from tokbench.contracts.options import GroupName, Options
from tokbench.contracts.tokenizer import EncodesWithOffsets, HasTokenBytes, HasUnknown
from tokbench.corpus.shards import Shard
from tokbench.corpus.words.find import Spans
from tokbench.corpus.words.gold import GOLD_UNITS
from tokbench.corpus.words.units import UNIT_NAMES, Unit, default_unit, foreign, usable_unit
from tokbench.metrics.encoded_shard import EncodedShard, TokenEnds
from tokbench.metrics.sums import Sums

NO_GOLD = "the corpus has no gold words; read it with 'source: conllu', or from rows with 'segments'"
NO_PLACE = "morae are counted; those of a word in kanji have no places in the text where a token could end"
NOT_ALIGNED = "no document's tokens could be laid onto its bytes"


class WordOptions(Options):
    """Options of the families that count words."""

    unit: Unit | None = Field(
        default=None,
        description=(
            "what a word is: gold, gold_nonpunct, icu, uax29, whitespace, character, grapheme, syllable or mora; "
            "default: by language"
        ),
    )
    units: dict[GroupName, Unit] = Field(default_factory=dict, description="the same for single groups, by name")


class UnitSums(NamedTuple):
    """Sums over words, and the units in which the words were counted.

    Attributes:
        units: the units of all shards in the sums.
        sums: the sums.
        lacking: the reason why there are no words to count; empty if there are.
    """

    units: frozenset[Unit]
    sums: Sums
    lacking: str = ""

    def merged(self, other: UnitSums) -> UnitSums:
        """Return the sums of both."""
        return UnitSums(self.units | other.units, self.sums + other.sums, self.lacking or other.lacking)

    def refusal(self) -> NotApplicable | None:
        """Return the reason why there is no value; ``None`` if there is one.

        There is none for groups that are counted in different units, and for text without words.
        """
        if len(self.units) > 1:
            names = ", ".join(UNIT_NAMES[unit][1] for unit in sorted(self.units))
            return NotApplicable(f"groups are counted in different units: {names}")
        return NotApplicable(self.lacking) if self.lacking else None

    def aligned_share(self, above: str) -> Measured | NotApplicable:
        """Return a share of the words in aligned documents, with its unit; ``n`` is the number of these documents."""
        refusal = self.refusal()
        if refusal:
            return refusal
        aligned = int(self.sums.columns["aligned"].sum())
        if not aligned:
            return NotApplicable(NOT_ALIGNED)
        [unit] = self.units
        ratio = self.sums.share(above, "words", unit=f"share of {UNIT_NAMES[unit][1]}")
        return ratio._replace(n=aligned) if isinstance(ratio, Measured) else ratio

    def raw(self) -> dict[str, object]:
        """Return the sums and their units as JSON data."""
        return {"units": sorted(self.units), **self.sums.raw()}


def words_of(options: WordOptions, shard: Shard, *, placed: bool) -> tuple[Unit, Spans, str]:
    """Return the unit of a shard, its words, and the reason why there are none (empty if there are).

    The options name the unit; if they do not, the language of the group decides.

    Args:
        options: the options of the family.
        shard: the documents.
        placed: ``True`` if the places of the words are needed, so that a unit that can only be counted is refused.
    """
    group = shard.group
    wanted = options.units.get(group) or options.unit or default_unit(group)
    lacking = foreign(wanted, group)
    unit = wanted if lacking else usable_unit(wanted, group)
    if unit in GOLD_UNITS and shard.gold is None:
        lacking = NO_GOLD
    elif unit == "mora" and placed:
        lacking = lacking or NO_PLACE
    if lacking:
        nothing = np.empty(0, dtype=np.int64)
        return unit, Spans(nothing, nothing, nothing), lacking
    return unit, shard.words(unit), ""


def token_ends(encoded: EncodedShard) -> TokenEnds:
    """Return where tokens end. If the tokenizer has neither bytes nor offsets, no document is aligned."""
    if isinstance(encoded.tokenizer, HasTokenBytes | EncodesWithOffsets):
        return encoded.token_ends
    return TokenEnds(np.empty(0, dtype=np.int64), np.zeros(len(encoded.shard), dtype=np.bool_))


def unknown_tokens(encoded: EncodedShard) -> NDArray[np.bool_]:
    """Return bool[n], ``True`` for the unknown tokens of a shard."""
    unknown = encoded.tokenizer.unk_id if isinstance(encoded.tokenizer, HasUnknown) else None
    ids = encoded.ids
    return np.zeros(len(ids), dtype=np.bool_) if unknown is None else ids == unknown


def count_by_document(shard: Shard, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[d], how often each document of a shard is in a list of documents."""
    return np.bincount(documents, minlength=len(shard))
