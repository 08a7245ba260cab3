"""The family ``composition``: shares of kinds of token and of scripts in a vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Final

from tokbench.inspect.tokens import TokenKind, list_tokens, script_of
from tokbench.plugin import Tokenizer, metrics

KindCounts = Mapping[str, int]
"""The ids of each kind and of each script, by metric; empty for a vocabulary that is too large."""

_LARGEST: Final = 1 << 20
_NOT_TEXT: Final = frozenset({TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.GAP, TokenKind.FRAGMENT})
_KINDS: Final = {
    TokenKind.SPECIAL: "special tokens that the tokenizer lists",
    TokenKind.UNKNOWN: "the unknown token",
    TokenKind.GAP: "ids without bytes",
    TokenKind.FRAGMENT: "ids whose bytes are not UTF-8 by themselves",
    TokenKind.WHITE_SPACE: "ids of nothing but white space",
    TokenKind.WORD_START: "ids of a space and letters",
    TokenKind.WORD_INSIDE: "ids of letters",
    TokenKind.DIGITS: "ids of numbers, with a space before them or without",
    TokenKind.PUNCTUATION: "ids of punctuation and symbols, with a space before them or without",
    TokenKind.MIXED: "ids of anything else",
}
_SCRIPTS: Final = (
    *("Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Bengali", "Tamil", "Thai"),
    *("Han", "Hiragana", "Katakana", "Hangul"),
)
_REST: Final = {"several": "several scripts", "other": "one of the other scripts", "none": "no script"}


def _kind_id(kind: TokenKind) -> str:
    return f"kind_{kind.value.replace(' ', '_')}"


_value = partial(
    metrics.Metric,
    direction="none",
    whole=True,
    loss_cannot_help="it counts the ids of the vocabulary, whatever the text",
)

VALUES: Final = (
    *(
        _value(_kind_id(kind), "share of ids", label=f"{kind.value} tokens").means(
            f"{says} / vocab_size",
            "Share of the vocabulary. Each id is of one kind, the first that fits; the kinds add up to 1.",
        )
        for kind, says in _KINDS.items()
    ),
    *(
        _value(
            f"script_{name.lower()}",
            "share of text tokens",
            label=f"{name} tokens" if name in _SCRIPTS else f"tokens of {_REST[name]}",
        ).means(
            f"ids with characters of {name if name in _SCRIPTS else _REST[name]} / ids whose bytes are text"
            if name != "none"
            else "ids of common characters alone / ids whose bytes are text",
            "Share of the ids whose bytes are UTF-8 on their own, special tokens aside; by the Unicode property Script "
            "of their characters. The scripts add up to 1.",
        )
        for name in (*_SCRIPTS, *_REST)
    ),
)


class Composition(metrics.SummedMetric):
    """The corpus metric; a state is what one look at the vocabulary found, whatever the text."""

    def map(self, encoded: metrics.EncodedShard) -> KindCounts:
        return encoded.loaded.cached("kinds of tokens", _look)

    def merge(self, one: KindCounts, _: KindCounts) -> KindCounts:
        return one

    def raw(self, _: KindCounts) -> None:
        return None

    def finish_corpus(self, states: metrics.CorpusStates) -> metrics.CorpusOutcome:
        found = {name: state for (name, _), state in states.states.items()}
        return metrics.CorpusOutcome({(name, metrics.WHOLE): _values(state) for name, state in found.items()})


def _look(tokenizer: Tokenizer) -> KindCounts:
    """Skip more than a million ids: they are made by a formula."""
    if tokenizer.vocab_size > _LARGEST:
        return {}
    listing = list_tokens(tokenizer)
    counts = Counter(map(_kind_id, listing.kinds))
    text = (data.decode() for data, kind in zip(listing.data, listing.kinds, strict=True) if kind not in _NOT_TEXT)
    counts.update(f"script_{_script(characters).lower()}" for characters in text)
    return counts


def _values(found: KindCounts) -> dict[str, metrics.Measured | metrics.NotApplicable]:
    if not found:
        reason = metrics.NotApplicable(f"a vocabulary of more than {_LARGEST:,} ids is not looked through")
        return {value.id: reason for value in VALUES}
    kinds, scripts = (sum(n for name, n in found.items() if name.startswith(start)) for start in ("kind_", "script_"))
    values: dict[str, metrics.Measured | metrics.NotApplicable] = {}
    for metric in VALUES:
        of = kinds if metric.id.startswith("kind_") else scripts
        values[metric.id] = (
            metrics.Measured(found.get(metric.id, 0) / of, kinds) if of else metrics.NotApplicable("no id is text")
        )
    return values


def _script(text: str) -> str:
    """Return the script as metrics name it.

    >>> [_script(text) for text in (" the", "ក", "東京タワー", "42")]
    ['Latin', 'other', 'several', 'none']
    """
    script = script_of(text)
    return script if script in _SCRIPTS or script in _REST else "other"


SPEC: Final = metrics.MetricFamily(
    name="composition",
    summary="what a vocabulary is made of: kinds of tokens, and scripts of their characters",
    text=Composition,
    values=VALUES,
)
