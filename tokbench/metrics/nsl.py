"""The family ``nsl``: the number of tokens relative to another tokenizer."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from tokbench.plugin import (
    WHOLE,
    CorpusOutcome,
    CorpusStates,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Options,
    PairedSums,
    TokenizerName,
    jackknife,
    shortcoming,
    sums_of,
)


class NslOptions(Options):
    """Options of ``nsl``."""

    reference: TokenizerName = Field(description="the tokenizer that has length 1")


class Nsl(PairedSums):
    """Divides tokens by those of the reference, group by group."""

    _options: NslOptions

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        """Divide the tokens of each tokenizer by those of the reference."""
        places = [(name, group) for name in states.tokenizers for group in [*states.groups, WHOLE]]
        return CorpusOutcome({place: {"nsl": self._value(states, *place)} for place in places})

    def _value(self, states: CorpusStates, name: str, group: str) -> Measured | NotApplicable:
        reference = self._options.reference
        one, other = sums_of(states, name, group), sums_of(states, reference, group)
        reason = shortcoming(name, one) or shortcoming(reference, other)
        if reason or one is None or other is None:
            return NotApplicable(reason)
        paired = one.paired(other)
        above, below = paired.one.columns["tokens"], paired.other.columns["tokens"]
        ends = jackknife(above, below, paired.units)
        value = float(above.sum() / below.sum())
        return Measured(value, one.documents, ends.low, ends.high, no_interval=ends.reason)


SPEC: Final = MetricFamily(
    name="nsl",
    summary="normalized sequence length: tokens in proportion to those of a reference tokenizer",
    text=Nsl,
    options=NslOptions,
    values=(
        Metric(
            id="nsl",
            unit="times the reference",
            direction="lower",
            label="sequence length",
            loss_cannot_help="a tokenizer that loses text has no value",
            formula="Σ tokens / Σ tokens of the reference tokenizer for the same documents",
            definition=(
                "Normalized sequence length: below 1, the tokenizer needs fewer tokens than the one that the option "
                "'reference' names. The interval is paired, as both are measured on the same documents. There is no "
                "value where one of the two loses text or has unknown tokens."
            ),
        ),
    ),
)
