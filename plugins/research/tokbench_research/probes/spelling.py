"""Probes of words: case, trailing spaces, reversal and spelling."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

import numpy as np

from tokbench.measuring.spans import touches
from tokbench.plugin import HasTokenBytes, Tokenizer
from tokbench.plugin.metrics import EncodedShard, Measured, NotApplicable
from tokbench.tokenizers.contract import HasDummyPrefix
from tokbench_research.probes.text_probe import LAID, TextProbe, Values, probe_value, tokens_each

_FORMS: Final = tuple(f"{space}{word}" for space in ("", " ") for word in ("hat", "Hat", "HAT"))
_PROMPTS: Final = (
    ("The capital of France is", "Paris."),
    ("2 + 2 =", "four"),
    ("def main():\n   ", "return 0"),
    ("Once upon", "a time"),
)
_WORDS: Final = ("strawberry", "lollipop", "responsibilities")

_WORD: Final = re.compile(rb" ?([A-Za-z][a-z]+)")
_LETTERS: Final = 4

LARGEST: Final = 1 << 21
"""Larger vocabularies come from a formula and contain no words."""


def _label(text: str) -> str:
    """Return a text with visible outer spaces and line ends.

    >>> print(_label(" hat"), _label("It is "))
    ␣hat It is␣
    """
    return re.sub("^ +| +$", lambda spaces: "␣" * len(spaces[0]), text).replace("\n", "⏎")


def _spaces(encoded: EncodedShard) -> Values:
    ids, offsets = encoded.arrays
    parts = [ids[start:end].tolist() for start, end in pairwise(offsets.tolist())]
    other = [whole[: len(prompt)] != prompt for prompt, whole in zip(parts[::2], parts[1::2], strict=True)]
    return {"probe_trailing_space": Measured(float(np.mean(other)), len(_PROMPTS))}


def _spell(word: str) -> str:
    return "-".join(word)


def _spelling(encoded: EncodedShard) -> Values:
    words, backwards, spelled = (range(k, len(encoded.shard), 3) for k in range(3))
    values: dict[str, Measured | NotApplicable] = {}
    tokens = int(encoded.tokens[list(words)].sum())
    values["probe_reversal"] = Measured(float(encoded.tokens[list(backwards)].sum() / tokens), len(words))
    if isinstance(encoded.tokenizer, HasTokenBytes):
        longest = longest_words(encoded.tokenizer, 1)
        none = NotApplicable("no token of this vocabulary is a word of ASCII letters")
        values["probe_longest_word"] = Measured(len(longest[0].strip()), 1) if longest else none
    if isinstance(encoded.tokenizer, LAID):
        values["probe_spelling"] = _letters_alone(encoded, list(spelled))
    return values


def _letters_alone(encoded: EncodedShard, spelled: list[int]) -> Measured | NotApplicable:
    if not encoded.token_ends.aligned[spelled].all():
        return NotApplicable("the tokens of the spelled words could not be laid onto their bytes")
    lengths, starts = encoded.shard.n_bytes[spelled], encoded.shard.byte_offsets[spelled]
    at = np.concatenate([np.arange(start, start + length, 2) for start, length in zip(starts, lengths, strict=True)])
    # A hyphen, or the beginning or end of the text, may share the token.
    alone = touches(encoded, at - 1, at) & touches(encoded, at + 1, at + 2)
    return Measured(float(alone.mean()), len(spelled))


def longest_words(tokenizer: Tokenizer, count: int) -> list[str]:
    """Return the longest tokens that are words of ASCII letters, perhaps with a leading space.

    Variants in the first letter's case or the space count once. A word's text must encode to this one id.
    """
    assert isinstance(tokenizer, HasTokenBytes)
    if tokenizer.vocab_size > LARGEST:
        return []
    prefix = tokenizer.dummy_prefix.decode() if isinstance(tokenizer, HasDummyPrefix) else ""
    candidates: list[tuple[int, str, int, str]] = []
    for token_id in range(tokenizer.vocab_size):
        match = _WORD.fullmatch(tokenizer.token_bytes(token_id))
        if match and len(set(match[1].lower())) >= _LETTERS:
            candidates.append((-len(match[1]), match[1].decode().lower(), token_id, match[0].decode()))
    words: dict[str, str] = {}
    for _, word, token_id, token in sorted(candidates):
        text = token.removeprefix(prefix)
        if word not in words and list(tokenizer.encode(text)) == [token_id]:
            words[word] = text
        if len(words) == count:
            break
    return list(words.values())


def _own(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    words = longest_words(tokenizer, len(_WORDS)) if isinstance(tokenizer, HasTokenBytes) else []
    return [labelled for word in words for labelled in _three(word)]


def _three(text: str) -> list[tuple[str, str]]:
    word = text.strip()
    return [(_label(text), text), (f"{word} reversed", word[::-1]), (f"{word} spelled", _spell(word))]


CASE: Final = TextProbe(
    name="case",
    title="One word in six guises",
    explanation=(
        "hat, Hat and HAT, at the beginning of a text and after a space, are one word to a reader and six strings to a "
        "tokenizer. Where each is one id, a model has to learn six times what the word means; where the rarer ones "
        "fall apart, writing in capitals costs more and looks different."
    ),
    texts=tuple((_label(form), form) for form in _FORMS),
    values=(
        probe_value(
            "probe_case",
            "tokens/form",
            "lower",
            "Σ tokens / 6, over hat, Hat, HAT, with and without a space before",
            "How well a common word keeps together in capitals and without its space.",
        ),
    ),
    measure=lambda encoded: {"probe_case": tokens_each(encoded)},
)

SPACES: Final = TextProbe(
    name="spaces",
    title="A space at the end of a prompt",
    explanation=(
        "Most vocabularies put the space before a word into the word's token. A prompt that ends in a space then ends "
        "in a token that hardly ever stood before a word in training, and the right next token, which begins with a "
        "space, can no longer come. Of each pair, the first is a prompt with a space at its end, the second how the "
        "text goes on."
    ),
    texts=tuple((_label(text), text) for prompt, more in _PROMPTS for text in (f"{prompt} ", f"{prompt} {more}")),
    values=(
        probe_value(
            "probe_trailing_space",
            "share of prompts",
            "lower",
            "prompts with a space at the end whose ids are not the first ids of the continued text / prompts",
            "How often a space at the end of a prompt leads away from the tokens of the text it should become.",
        ),
    ),
    measure=_spaces,
)

SPELLING: Final = TextProbe(
    name="spelling",
    title="Reversal and spelling",
    explanation=(
        "A model that sees a word as one id does not see its letters; to reverse or to spell the word it must have "
        "learnt them by heart. Reversed, the word falls into many tokens that share nothing with those of the word; "
        "spelled with hyphens, no token should hold two letters. Below the common words, the longest tokens of each "
        "vocabulary that are made of letters alone."
    ),
    texts=tuple(labelled for word in _WORDS for labelled in _three(word)),
    values=(
        probe_value(
            "probe_reversal",
            "ratio",
            "none",
            f"Σ tokens of the reversed words / Σ tokens of the words: {', '.join(_WORDS)}",
            "How many tokens it takes to write a word backwards for each token that the word has.",
        ),
        probe_value(
            "probe_spelling",
            "share of letters",
            "higher",
            "letters that are the only letter of their token / letters, in the words spelled with hyphens",
            "Whether letters can be seen one by one at least where somebody spells; a hyphen may share the token.",
            LAID,
        ),
        probe_value(
            "probe_longest_word",
            "letters",
            "none",
            "letters of the longest token that is a word",
            "How many letters one id can hide. A word has ASCII letters alone, at least four different ones, capitals "
            "only at its beginning, and a space before it or not; and its text gives this one id.",
            (HasTokenBytes,),
        ),
    ),
    measure=_spelling,
    own=_own,
)
