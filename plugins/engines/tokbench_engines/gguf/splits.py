r"""The pre-tokenization splits of llama.cpp (``src/llama-vocab.cpp``), by their names in ``tokenizer.ggml.pre``.

``gpt-4o`` and ``tekken`` differ from the original tokenizers in letters outside ASCII and marks. For ``(?:'[sS]|...)``
OpenAI's ``'(?i:s|...)`` is used: they differ only after an apostrophe before U+017F (a long s).
"""

# ruff: noqa: RUF001 - the ranges are those of llama.cpp
from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import regex

from tokbench.plugin import did_you_mean
from tokbench_plugins.bpe import PATTERNS

_ENDS: Final = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_CAPITAL: Final = r"(?:(?=\p{L})[^a-z])"
_SMALL: Final = r"(?:(?=\p{L})[^A-Z])"
_SPACES: Final = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_KANA: Final = "[一-龥\u3040-ゟ゠-ヿ]+"
_EAST_ASIAN: Final = "[一-龥\u0800-一가-\ud7ff]+"
_TWO_CASES: Final = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ"
    "-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-"
    "ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)


def _words(letters: str, numbers: str) -> str:
    return rf"{_ENDS}|[^\r\n\p{{L}}\p{{N}}]?[{letters}]+|{numbers}| ?[^\s\p{{N}}{letters}]+[\r\n]*|{_SPACES}"


def _words_by_case(ends: str, numbers: str) -> str:
    word = r"[^\r\n\p{L}\p{N}]?"
    return (
        rf"{word}{_CAPITAL}*{_SMALL}+{ends}|{word}{_CAPITAL}+{_SMALL}*{ends}|{numbers}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    )


class GGUFSplit(NamedTuple):
    """The split of a name."""

    pattern: str
    """A named split of tokbench, or a regular expression."""
    before: tuple[str, ...] = ()
    """Regular expressions that cut the text before, one after the other: what no match takes is a piece, too."""
    whole_chunks: bool = False
    """A chunk that is a token becomes it, whatever the merges say (``ignore_merges``)."""

    def pieces(self, text: str) -> list[str]:
        r"""Cut a text by the expressions before.

        >>> GGUFSplit("gpt2", (r"[\r\n]", r"[0-9]{3}")).pieces("in 12345\n")
        ['in ', '123', '45', '\n']
        """
        pieces = [text]
        for expression in self.before:
            pieces = [piece for some in pieces for piece in _cut(some, regex.compile(expression))]
        return pieces


def _cut(text: str, pattern: regex.Pattern[str]) -> Iterable[str]:
    end = 0
    for match in pattern.finditer(text):
        yield from filter(None, (text[end : match.start()], match[0]))
        end = match.end()
    yield from filter(None, (text[end:],))


_DEEPSEEK_V3: Final = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}"
)
_THREE_DIGITS: Final = r"\p{N}{1,3}"
_NAMES: Final = {
    GGUFSplit("[0-9]{3}", (r"[\p{P}$+<=>^~|]+", PATTERNS["gpt2"], r"\p{N}+")): "default",
    GGUFSplit("[0-9]{3}", (r"[\p{P}$+<=>^~|`]+", PATTERNS["gpt2"])): "falcon",
    GGUFSplit("gpt2"): (
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe a.x-4.0 "
        "mellum mpt olmo jais exaone4 modern-bert trillion granite-docling"
    ),
    GGUFSplit("gpt2", (r"\p{N}",)): "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
    GGUFSplit("gpt4"): "dbrx smaug-bpe chatglm-bpe",
    GGUFSplit("gpt4", whole_chunks=True): (
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano glm4 glm5"
    ),
    GGUFSplit(_words(r"\p{L}", r"\p{N}")): (
        "qwen2 deepseek-r1-qwen kormo megrez stablelm2 f2llmv2 hunyuan solar-open grok-2"
    ),
    GGUFSplit(_words(r"\p{L}\p{M}", r"\p{N}")): "qwen35",
    GGUFSplit(_words_by_case(f"{_ENDS}?", _THREE_DIGITS)): "gpt-4o llama4 kanana2 talkie minimax-m2",
    GGUFSplit(_words_by_case("", r"\p{N}"), whole_chunks=True): "tekken",
    GGUFSplit(
        r"\p{N}+", (r"[\r\n]", rf"\s?[{_TWO_CASES}]+", r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+", r"\s+\Z", _EAST_ASIAN)
    ): "deepseek-llm",
    GGUFSplit(r"\p{N}", (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN)): "deepseek-coder",
    GGUFSplit(
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}",
        (_THREE_DIGITS, _KANA),
    ): "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
}
SPLITS: Final = {name: split for split, names in _NAMES.items() for name in names.split()}


def split_of(name: str) -> GGUFSplit:
    """Return the split of a name.

    >>> split_of("gpt-2").pattern
    'gpt2'
    >>> split_of("gpt2")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: its pre-tokenizer, tokenizer.ggml.pre, is 'gpt2', which is not known here; did you mean 'gpt-2'? ...
    """
    if name in SPLITS:
        return SPLITS[name]
    said = (
        f"its pre-tokenizer, tokenizer.ggml.pre, is {name!r}, which is not known here" if name else "it names no split"
    )
    advice = "to say which one it is, write pre: NAME; llama.cpp takes default where a file names none"
    raise ValueError(f"{said}; {did_you_mean(name, SPLITS)} ({advice})")
