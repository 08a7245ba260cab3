"""The family ``injectable``: whether a user's text can become a control id under the tokenizer's chat template."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from tokbench import InputError
from tokbench.plugin.metrics import EncodedShard, Measured, Metric, MetricFamily, NotApplicable, SummedMetric


class _Found(NamedTuple):
    """The answer for a tokenizer, the same for each of its texts."""

    slots: int
    forged: int
    undecided: str
    shortest: int

    def __add__(self, other: object) -> _Found:
        return self


@lru_cache(maxsize=16)
def _found(tokenizer: Any) -> _Found:
    from tokbench_identity.inject.calls import CALLS, model_of_tokenizer
    from tokbench_identity.inject.decide import inject

    try:
        model = model_of_tokenizer(tokenizer, "the tokenizer")
    except InputError as error:
        return _Found(0, 0, str(error), 0)
    answer = inject(model, CALLS[:1])
    undecided = [one.reason for one in answer.verdicts if one.verdict == "undecided"]
    shortest = answer.shortest(CALLS[0].key)
    forged = sum(one.verdict == "forged" for one in answer.verdicts)
    return _Found(
        len(answer.verdicts), forged, undecided[0] if undecided else "", len(shortest.text or "") if shortest else 0
    )


class _Injectable(SummedMetric):
    def map(self, encoded: EncodedShard) -> _Found:
        tokenizer: Any = encoded.tokenizer
        return _found(tokenizer)

    def finish(self, state: _Found) -> Mapping[str, Measured | NotApplicable]:
        if state.undecided:
            return dict.fromkeys(_IDS, NotApplicable(f"not decided: {state.undecided}"))
        shortest = (
            Measured(state.shortest, 1) if state.forged else NotApplicable("no text becomes a control id: proved")
        )
        return dict(zip(_IDS, (Measured(state.forged / state.slots, state.slots), shortest), strict=True))


_NO_INTERVAL: Final = "it is of the tokenizer, whatever the text"
_IDS: Final = ("injectable", "injection_length")

SPEC: Final = MetricFamily(
    name="injectable",
    summary="whether a user's text can become a control id under the chat template, and the shortest that does",
    text=_Injectable,
    values=(
        Metric("injectable", "share of slots", "lower", label="slots that forge", no_interval=_NO_INTERVAL).means(
            "slots in which some text becomes a control id / slots",
            "Slots of the chat template (user, system, names, arguments, results), or the text alone without one, "
            "as transformers and vLLM encode a conversation: special tokens are recognised in it. 0 is proved.",
        ),
        Metric("injection_length", "characters", "higher", label="shortest forgery", no_interval=_NO_INTERVAL).means(
            "characters of the shortest such text", "It was rendered and encoded, and its control id was there."
        ),
    ),
)
