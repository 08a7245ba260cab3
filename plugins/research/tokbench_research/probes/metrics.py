"""The family ``probes``: how tokenizers cut texts that were written to show one thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import HasSpecialTokens, metrics
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES
from tokbench.tokenizers.contract import EncodesWithSpecial
from tokbench_research.probes.count import COUNTS, ways_of_dates

_WAYS: Final = "probe_dates_alike"


def _probe(group: str, name: str, unit: str, direction: Any, of: str, **more: Any) -> metrics.Metric:
    """Make a metric of a group: ``of`` names two of its columns; one of another group has that group before a colon."""
    columns = (part if ":" in part else f"{group}: {part}" for part in of.split(" / "))
    return metrics.Metric(name, unit, direction, of=tuple(columns), whole=True, **more)


_FORMATS: Final = {
    "yaml": "YAML",
    "json": "JSON, indented by two",
    "json_compact": "JSON without white space",
    "xml": "XML",
}
_SPECIAL: Final = (HasSpecialTokens,)
_ALLOWS: Final = (EncodesWithSpecial,)

VALUES: Final = (
    _probe("case", "probe_case", "tokens/form", "lower", "tokens / texts").means(
        "Σ tokens / 6, over hat, Hat, HAT, with and without a space before",
        "How well a common word stays whole in capitals and without its space: one word to a reader, six strings to a "
        "tokenizer.",
    ),
    _probe("spaces", "probe_trailing_space", "share of prompts", "lower", "led away / texts").means(
        "prompts with a space at the end whose ids are not the first ids of the continued text / prompts",
        "How often a space at the end of a prompt changes the tokens of the continued text: most vocabularies put the "
        "space before a word into the word's token.",
    ),
    _probe("reversed", "probe_reversal", "ratio", "none", "tokens / words: tokens").means(
        "Σ tokens of the reversed words / Σ tokens of the words: strawberry, lollipop, responsibilities",
        "Tokens needed to write a word backwards, per token of the word.",
    ),
    _probe(
        "spelled", "probe_spelling", "share of letters", "higher", "alone / letters", needs=metrics.TOKEN_PLACES
    ).means(
        "letters that are the only letter of their token / letters, in the words spelled with hyphens",
        "Whether letters are separate tokens in a word that is spelled out; a hyphen may share the token.",
    ),
    _probe(
        "sums", "probe_operands_alike", "share of sums", "higher", "alike / laid out", needs=metrics.TOKEN_PLACES
    ).means(
        "sums with both operands cut at the same places / sums",
        "How often the operands of a sum, of the same length, are cut alike. Sums are learnt column by column, which "
        "is hard where 1234 is one token and 5678 is 56|78.",
    ),
    _probe("dates", "probe_dates", "tokens/date", "lower", "tokens / texts").means(
        "Σ tokens / dates", "Tokens of a date, in four formats."
    ),
    metrics.Metric(_WAYS, "share of dates", "higher", whole=True, needs=metrics.TOKEN_PLACES).means(
        "dates such as 2024-02-29 cut in the most frequent way / such dates",
        "Share of the dates of one format that are cut in the most frequent way.",
    ),
    *(
        _probe(group, f"probe_{group}", "tokens", "lower", "tokens / texts").means(
            f"tokens of the data as {label}", f"Tokens of one small record as {label}."
        )
        for group, label in _FORMATS.items()
    ),
    _probe("urls", "probe_urls", "bytes/token", "higher", "bytes / tokens").means(
        "Σ bytes / Σ tokens", "Bytes of an address or path per token."
    ),
    _probe("emoji", "probe_emoji", "tokens/emoji", "lower", "tokens / texts").means(
        "Σ tokens / 7 emoji", "Tokens of an emoji: one picture to a reader, up to seven code points."
    ),
    _probe("emoji", "probe_emoji_joined", "tokens/emoji", "lower", "joined tokens / joined").means(
        "Σ tokens / emoji, over those with a zero-width joiner", "Tokens of an emoji that is joined from others."
    ),
    _probe("glitch", "probe_glitch", "share of strings", "lower", "single / texts").means(
        "published glitch tokens that are one id / 18 published glitch tokens",
        "How many of the glitch tokens published for other vocabularies this one has, too: GPT-2's (Rumbelow and "
        "Watkins 2023), cl100k_base's and Llama 2's (Land and Bartolo 2024).",
    ),
    _probe("special", "special_typed_text", "share of markers", "higher", "kept / texts").means(
        "markers that are in the decoded text and give no special id / 20 markers",
        "The share of typed markers that stay ordinary text.",
    ),
    _probe("special", "special_typed_control", "share of markers", "lower", "control / texts", needs=_SPECIAL).means(
        "markers that give a special id in ordinary text / 20 markers",
        "The share of typed markers that become control tokens although special tokens are not allowed.",
    ),
    _probe("special", "special_typed_lost", "share of markers", "lower", "lost / texts").means(
        "markers that are not in the decoded text / 20 markers",
        "The share of typed markers that an ordinary round trip loses.",
    ),
    _probe("special", "special_allowed_control", "share of markers", "none", "allowed / texts", needs=_ALLOWS).means(
        "markers that give a special id where all special tokens are allowed / 20 markers",
        "The share of typed markers that become control tokens in a program that allows special tokens.",
    ),
    _probe(
        "special", "special_allowed_swallowed", "share of markers", "none", "swallowed / allowed", needs=_ALLOWS
    ).means(
        "markers that are a special token and not in the decoded text / markers that are a special token",
        "The share of these control tokens that decoding leaves out: a reader does not see them.",
    ),
    *(
        _probe("chat", f"template_{template.id}", "tokens/message", "lower", f"{template.id} / texts").means(
            f"(tokens of a conversation as {title} has it - Σ tokens of its messages alone) / messages",
            f"The tokens that the chat template of {title} adds to a message, over a conversation of four. Marks that "
            "the vocabulary has as special tokens are one token each; other marks are ordinary text.",
        )
        for title, template in CHAT_TEMPLATES.items()
    ),
)
_COLUMNS: Final = {
    *(column for metric in VALUES for column in metric.of),
    *(f"{metric.of[0].partition(':')[0]}: texts" for metric in VALUES if metric.of),
}
_GROUPS: Final = {column.partition(":")[0] for column in _COLUMNS}


class ProbeState(NamedTuple):
    """Sums, and how often dates of one format are cut in each way."""

    sums: metrics.Sums
    ways: Counter[int]

    def __add__(self, other: ProbeState) -> ProbeState:  # type: ignore[override]
        return ProbeState(self.sums + other.sums, self.ways + other.ways)


class Probes(metrics.SummedMetric):
    """The corpus metric."""

    def map(self, encoded: metrics.EncodedShard) -> ProbeState:
        group, size = encoded.shard.group, len(encoded.shard)
        counts: dict[str, NDArray[Any]] = dict.fromkeys(_COLUMNS, np.zeros(size, dtype=np.int64))
        if group in _GROUPS:
            own = {"texts": np.ones(size), "tokens": encoded.tokens, "bytes": encoded.shard.n_bytes}
            own = {**own, **COUNTS[group](encoded)} if group in COUNTS else own
            counts |= {name: own[name.partition(": ")[2]] for name in _COLUMNS if name.partition(": ")[0] == group}
        return ProbeState(
            metrics.Sums.of(encoded.shard, **counts), ways_of_dates(encoded) if group == "dates" else Counter()
        )

    def finish_corpus(self, states: metrics.CorpusStates) -> metrics.CorpusOutcome:
        known = {name: states.merged(name, metrics.WHOLE) for name in states.tokenizers}
        return metrics.CorpusOutcome({(name, metrics.WHOLE): _values(state) for name, state in known.items() if state})


def _values(state: ProbeState) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
    totals = {name: float(column.sum()) for name, column in state.sums.columns.items()}
    values = {metric.id: _value(metric, totals) for metric in VALUES if metric.of}
    dates = state.ways.total()
    alike = (
        metrics.Measured(max(state.ways.values()) / dates, dates)
        if dates
        else metrics.NotApplicable("no date is laid out")
    )
    return values | {_WAYS: alike}


def _value(metric: metrics.Metric, totals: Mapping[str, float]) -> metrics.Measured | metrics.NotApplicable:
    group = metric.of[0].partition(":")[0]
    texts, below = totals[f"{group}: texts"], totals[metric.of[1]]
    if not texts:
        return metrics.NotApplicable(f"the corpus has no group {group!r} of probes; its source may be 'probes'")
    return (
        metrics.Measured(totals[metric.of[0]] / below, int(texts))
        if below
        else metrics.NotApplicable(f"there is no {metric.of[1]}")
    )


SPEC: Final = metrics.MetricFamily(
    name="probes",
    summary="the classic probes: case, spaces, spelling, sums, dates, formats, addresses, emoji, glitch tokens, "
    "special tokens that a user types, chat templates; on the source probes",
    text=Probes,
    values=VALUES,
)
