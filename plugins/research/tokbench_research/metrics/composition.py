"""The family ``composition``: shares of kinds of token and of scripts in a vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Final

from tokbench.inspect.tokens import TokenKind, list_tokens, script_of
from tokbench.plugin import Tokenizer, metrics

Shares = Mapping[str, metrics.Measured | metrics.NotApplicable]

_LARGEST: Final = 1 << 20
"""Larger vocabularies are made by a formula."""
_NOT_TEXT: Final = frozenset({TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.GAP, TokenKind.FRAGMENT})
_SCRIPTS: Final = {
    name: name
    for name in "Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil Thai Han Hiragana Katakana Hangul".split()
} | {"several": "mixed-script", "other": "other-script", "none": "no-script"}


class Composition(metrics.SummedMetric):
    """The corpus metric; a state is what one look at the vocabulary found, whatever the text."""

    def map(self, encoded: metrics.EncodedShard) -> Shares:
        return encoded.loaded.cached("kinds of tokens", _look)

    def merge(self, one: Shares, _: Shares) -> Shares:
        return one

    def finish_corpus(self, states: metrics.CorpusStates) -> metrics.CorpusOutcome:
        return metrics.CorpusOutcome({(name, metrics.WHOLE): state for (name, _), state in states.states.items()})


def _look(tokenizer: Tokenizer) -> Shares:
    if tokenizer.vocab_size > _LARGEST:
        reason = metrics.NotApplicable(f"a vocabulary of more than {_LARGEST:,} ids is not looked through")
        return {value.id: reason for value in SPEC.values}
    listing = list_tokens(tokenizer)
    text = (data.decode() for data, kind in zip(listing.data, listing.kinds, strict=True) if kind not in _NOT_TEXT)
    scripts = Counter(name if (name := script_of(some)) in _SCRIPTS else "other" for some in text)
    counts = {_of_kind(kind): count for kind, count in Counter(listing.kinds).items()}
    counts |= {_of_script(name): count for name, count in scripts.items()}
    totals = {"kind": len(listing.kinds), "script": scripts.total()}
    return {
        value.id: metrics.Measured(counts.get(value.id, 0) / of, len(listing.kinds))
        if (of := totals[value.id.partition("_")[0]])
        else metrics.NotApplicable("no id is text")
        for value in SPEC.values
    }


def _of_kind(kind: str) -> str:
    return f"kind_{kind.replace(' ', '_')}"


def _of_script(name: str) -> str:
    return f"script_{name.lower()}"


_value = partial(
    metrics.Metric,
    direction="none",
    whole=True,
    loss_cannot_help="it counts the ids of the vocabulary, whatever the text",
)
_KIND: Final = (
    "Share of the vocabulary. Each id is of one kind, the first that fits; the kinds add up to 1: special; unknown; "
    "gap, without bytes; fragment, whose bytes are not UTF-8 by themselves; white space alone; word start, a space and "
    "letters; word inside, letters; digits and punctuation, with a space before them or without; mixed, anything else."
)
_SCRIPT: Final = (
    "Share of the ids whose bytes are UTF-8 on their own, special tokens aside; by the Unicode property Script of "
    "their characters: one, several, one of the others, or none, if all are common. The scripts add up to 1."
)

SPEC: Final = metrics.MetricFamily(
    name="composition",
    summary="what a vocabulary is made of: kinds of tokens, and scripts of their characters",
    text=Composition,
    values=(
        *(
            _value(_of_kind(kind), "share of ids", label=f"{kind} tokens").means(f"{kind} ids / vocab_size", _KIND)
            for kind in TokenKind
        ),
        *(
            _value(_of_script(name), "share of text tokens", label=f"{label} tokens").means(
                f"{label} ids / ids whose bytes are text", _SCRIPT
            )
            for name, label in _SCRIPTS.items()
        ),
    ),
)
