"""The family ``fertility``: tokens per word, with the word defined language by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from pydantic import Field

from tokbench.corpus.words import UNIT_NAMES, Unit, default_unit
from tokbench.metrics.contract import Measured, MetricSpec, NotApplicable, ValueSpec
from tokbench.metrics.sums import Sums
from tokbench.metrics.view import View
from tokbench.protocol import Options

__all__ = ["SPEC", "FertilityOptions", "UnitSums", "mixed", "unit_of"]


class FertilityOptions(Options):
    """Options of ``fertility`` and ``continued_words``."""

    units: dict[str, Unit] = Field(
        default_factory=dict,
        description="what a word is, by group: uax29, whitespace or character; default: by language",
    )


class UnitSums(NamedTuple):
    """Sums over words, and the units in which the words were counted."""

    units: frozenset[Unit]
    sums: Sums

    def merged(self, other: UnitSums) -> UnitSums:
        """The sums of both."""
        return UnitSums(self.units | other.units, self.sums + other.sums)

    def raw(self) -> dict[str, Any]:
        """The sums and their units as JSON data."""
        return {"units": sorted(self.units), **self.sums.raw()}


def unit_of(options: FertilityOptions, group: str) -> Unit:
    """The unit of a group: as the options say, else as its language wants."""
    return options.units.get(group) or default_unit(group)


def mixed(units: frozenset[Unit]) -> NotApplicable | None:
    """Why groups that were counted in different units have no common value; ``None`` if they have."""
    if len(units) == 1:
        return None
    return NotApplicable("groups are counted in different units: " + ", ".join(UNIT_NAMES[u][1] for u in sorted(units)))


class Fertility:
    """Sums of tokens and words."""

    def __init__(self, options: FertilityOptions) -> None:
        self._options = options

    def map(self, view: View) -> UnitSums:
        """The sums of one shard."""
        unit = unit_of(self._options, view.shard.group)
        words = np.bincount(view.shard.words(unit).documents, minlength=len(view.shard))
        return UnitSums(frozenset({unit}), Sums.of(view.shard, tokens=view.tokens, words=words))

    def merge(self, one: UnitSums, other: UnitSums) -> UnitSums:
        """The sums of both."""
        return one.merged(other)

    def finish(self, state: UnitSums) -> Mapping[str, Measured | NotApplicable]:
        """The ratio of sums, in its unit."""
        reason = mixed(state.units)
        if reason:
            return {"fertility": reason, "words": reason}
        [unit] = state.units
        return {
            "fertility": state.sums.ratio("tokens", "words", unit=f"tokens/{UNIT_NAMES[unit][0]}"),
            "words": state.sums.total("words")._replace(unit=UNIT_NAMES[unit][1]),
        }

    def raw(self, state: UnitSums) -> Any:
        """The sums and their units."""
        return state.raw()


SPEC: Final = MetricSpec(
    name="fertility",
    summary="tokens per word, the word defined language by language",
    text=Fertility,
    options=FertilityOptions,
    values=(
        ValueSpec(
            id="fertility",
            unit="tokens/word",
            direction="lower",
            formula="Σ tokens / Σ words",
            definition=(
                "Tokens per word of running text, spaces and punctuation included in the tokens. The unit names "
                "the word: UAX #29 words by default; what stands between spaces for Korean; a letter or digit "
                "with its combining marks for Thai, Lao, Khmer, Burmese, Tibetan, Chinese and Japanese. Not "
                "comparable between groups whose units differ."
            ),
        ),
        ValueSpec(
            id="words",
            unit="words",
            direction="none",
            formula="Σ words",
            definition="Words of the text, in the unit of the fertility.",
        ),
    ),
)
