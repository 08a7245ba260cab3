"""The probe of glitch tokens, which a model hardly ever met in training."""

from __future__ import annotations

from heapq import nsmallest
from typing import Final

from tokbench.plugin import HasTokenBytes, Tokenizer
from tokbench.plugin.metrics import EncodedShard, Measured, NotApplicable
from tokbench.tokenizers.contract import HasDummyPrefix
from tokbench_research.probes.spelling import LARGEST
from tokbench_research.probes.text_probe import TextProbe, Values, probe_value

_GPT2: Final = (
    *(" SolidGoldMagikarp", " petertodd", " davidjl", " TheNitromeFan", " RandomRedditorWithNo", " attRot"),
    *("StreamerBot", "InstoreAndOnline"),
)
"""GPT-2's: Rumbelow and Watkins, "SolidGoldMagikarp (plus, prompt generation)", lesswrong.com, 2023."""

_CL100K: Final = (
    *("useRalativeImagePath", " ForCanBeConverted", "$PostalCodesNL", " typingsJapgolly", "artisanlib"),
    *("webElementXpaths", "_REALTYPE"),
)
"""cl100k_base in OLMo 2, and _REALTYPE in o200k_base, too: Land and Bartolo, "Fishing for Magikarp", EMNLP 2024,
results/reports in cohere-ai/magikarp."""

_LLAMA2: Final = ("Mediabestanden", "Portály", "Расподела")
"""Llama 2's word-initial ones, from the same reports; the model puts a space before a text."""

_LONG: Final = (".DefaultCellStyle",)

_GLITCHES: Final = (*_GPT2, *_CL100K, *_LLAMA2)
_DIFFERENT: Final = 8
_SHOWN: Final = 4


def _measure(encoded: EncodedShard) -> Values:
    values: dict[str, Measured | NotApplicable] = {
        "probe_glitch": Measured(float((encoded.tokens[: len(_GLITCHES)] == 1).mean()), len(_GLITCHES))
    }
    tokenizer = encoded.tokenizer
    if isinstance(tokenizer, HasTokenBytes):
        longest = longest_tokens(tokenizer, 1)
        none = NotApplicable(f"no token of this vocabulary has {_DIFFERENT} different characters")
        values["probe_longest_token"] = Measured(len(longest[0]), 1) if longest else none
    return values


def longest_tokens(tokenizer: Tokenizer, count: int) -> list[str]:
    """Return the longest tokens with many different characters whose text encodes to this id.

    >>> import tokbench
    >>> longest_tokens(tokbench.train("regex_bpe", ["incomprehensibly " * 9], 271, store=False), 1)
    ['incomprehensibly']
    """
    assert isinstance(tokenizer, HasTokenBytes)
    if tokenizer.vocab_size > LARGEST:
        return []
    prefix = tokenizer.dummy_prefix.decode() if isinstance(tokenizer, HasDummyPrefix) else ""
    tokens = (tokenizer.token_bytes(token_id).decode(errors="replace") for token_id in range(tokenizer.vocab_size))
    long = ((-len(text), text, k) for k, text in enumerate(tokens) if len(set(text)) >= _DIFFERENT)
    # Some of them are special tokens, or parts that no text reaches.
    texts = (
        text.removeprefix(prefix)
        for _, text, k in nsmallest(50 * count, long)
        if list(tokenizer.encode(text.removeprefix(prefix))) == [k]
    )
    return [text for text, _ in zip(texts, range(count), strict=False)]


GLITCH: Final = TextProbe(
    name="glitch",
    title="Glitch tokens",
    explanation=(
        "A string that was frequent where the vocabulary was trained, and absent where the model was, is a token that "
        "the model has never learnt: it answers with nonsense. SolidGoldMagikarp is the most famous. The strings are "
        "published for the vocabularies of GPT-2 (Rumbelow and Watkins 2023), cl100k_base and Llama 2 (Land and "
        "Bartolo 2024). Where one is a single id, the vocabulary has it; where it falls into pieces, it does no harm. "
        ".DefaultCellStyle is no glitch token, but as long. Below, the longest tokens of each vocabulary."
    ),
    texts=tuple((text.replace(" ", "␣"), text) for text in (*_GLITCHES, *_LONG)),
    values=(
        probe_value(
            "probe_glitch",
            "share of strings",
            "lower",
            f"published glitch tokens that are one id / {len(_GLITCHES)} published glitch tokens",
            "How many of the glitch tokens that are published for other vocabularies this one has, too.",
        ),
        probe_value(
            "probe_longest_token",
            "characters",
            "none",
            "characters of the longest token",
            f"How long a text one id can stand for. A token counts if it has at least {_DIFFERENT} different "
            "characters, and its text gives this one id.",
            (HasTokenBytes,),
        ),
    ),
    measure=_measure,
    own=lambda tokenizer: (
        [(text, text) for text in longest_tokens(tokenizer, _SHOWN)] if isinstance(tokenizer, HasTokenBytes) else []
    ),
)
