"""The family ``nsl``: the number of tokens relative to another tokenizer."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import CorpusOutcome, CorpusStates, Measured, Metric, NotApplicable
from tokbench.measuring.sums import PairedSums, Sums, compared_sums
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import jackknife
from tokbench.tokenizers.options import Options, TokenizerName


class NslOptions(Options):
    """Options of ``nsl``."""

    reference: TokenizerName = Field(description="the tokenizer that has length 1")


class Nsl(PairedSums):
    """The corpus metric."""

    _options: NslOptions

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        groups = {group: compared_sums(states, group) for group in [*states.groups, WHOLE]}
        places = [(name, group) for name in states.tokenizers for group in groups]
        return CorpusOutcome({(name, group): {"nsl": self._value(groups[group], name)} for name, group in places})

    def _value(self, sums: dict[str, Sums | str], name: str) -> Measured | NotApplicable:
        reference = self._options.reference
        one, other = sums[name], sums.get(reference, f"{reference} was not measured")
        if isinstance(one, str) or isinstance(other, str):
            return NotApplicable(one if isinstance(one, str) else str(other))
        paired = one.paired(other)
        above, below = paired.one.columns["tokens"], paired.other.columns["tokens"]
        ends = jackknife(above, below, paired.units)
        value = float(above.sum() / below.sum())
        return Measured(value, one.documents, ends.low, ends.high, no_interval=ends.reason)


SPEC: Final = MetricFamily(
    name="nsl",
    summary="normalized sequence length: tokens relative to a reference tokenizer",
    text=Nsl,
    options=NslOptions,
    values=(
        Metric("nsl", "times the reference", "lower", label="sequence length").means(
            "Σ tokens / Σ tokens of the reference tokenizer for the same documents",
            "Normalized sequence length: below 1, the tokenizer needs fewer tokens than the one that the option "
            "'reference' names. The interval is paired, as both are measured on the same documents. No value where "
            "either tokenizer loses too much text to be ranked.",
        ),
    ),
)
