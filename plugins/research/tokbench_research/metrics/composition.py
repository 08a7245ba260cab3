"""The family ``composition``: shares of kinds of token and of scripts in a vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final

from tokbench.inspect.tokens import TokenKind, list_tokens, script_of
from tokbench.measuring.metric import Answer
from tokbench.plugin import Tokenizer
from tokbench.plugin.metrics import Measured, Metric, MetricFamily, NotApplicable

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
_REST: Final = {"several": "several scripts", "other": "one of the other scripts", "none": "no letters"}


def _kind_id(kind: TokenKind) -> str:
    return f"kind_{kind.value.replace(' ', '_')}"


_value = partial(Metric, direction="none", loss_cannot_help="it counts the ids of the vocabulary, whatever the text")

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
            f"ids with letters of {name if name in _SCRIPTS else _REST[name]} / ids whose bytes are text"
            if name != "none"
            else "ids without letters / ids whose bytes are text",
            "Share of the ids whose bytes are UTF-8 on their own, special tokens aside; by the Unicode property Script "
            "of their letters. The scripts add up to 1.",
        )
        for name in (*_SCRIPTS, *_REST)
    ),
)


class Composition:
    """The probe."""

    name = "composition"
    title = "Composition of the vocabulary"
    explanation = "What a vocabulary is made of, whatever the text: kinds of tokens, and scripts of their letters."
    values = VALUES

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        """Skip more than a million ids: they are made by a formula."""
        if tokenizer.vocab_size > _LARGEST:
            reason = NotApplicable(f"a vocabulary of more than {_LARGEST:,} ids is not looked through")
            return Answer({value.id: reason for value in VALUES}, ())
        listing = list_tokens(tokenizer)
        kinds = Counter(listing.kinds)
        text = [data.decode() for data, kind in zip(listing.data, listing.kinds, strict=True) if kind not in _NOT_TEXT]
        scripts = Counter(_script(character) for character in text)
        size = len(listing.kinds)
        values: dict[str, Measured | NotApplicable] = {
            _kind_id(kind): Measured(kinds[kind] / size, size) for kind in _KINDS
        }
        for name in (*_SCRIPTS, *_REST):
            share = Measured(scripts[name] / len(text), size) if text else NotApplicable("no id is text")
            values[f"script_{name.lower()}"] = share
        return Answer(values, ())


def _script(text: str) -> str:
    """Return the script as metrics name it.

    >>> [_script(text) for text in (" the", "ក", "東京タワー", "42")]
    ['Latin', 'other', 'several', 'none']
    """
    script = script_of(text)
    return script if script in _SCRIPTS or script in _REST else "other"


def _probes(_: object) -> Sequence[Composition]:
    return (Composition(),)


SPEC: Final = MetricFamily(
    name="composition",
    summary="what a vocabulary is made of: kinds of tokens, and scripts of their letters",
    study="probes",
    make=_probes,
    own_texts=True,
    values=VALUES,
)
