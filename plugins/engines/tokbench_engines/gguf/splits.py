r"""The pre-tokenization splits of llama.cpp (``src/llama-vocab.cpp``), by their names in ``tokenizer.ggml.pre``.

``gpt-4o`` and ``tekken`` differ from the original tokenizers in letters outside ASCII and marks. For ``(?:'[sS]|...)``
OpenAI's ``'(?i:s|...)`` is used: they differ only after an apostrophe before U+017F (a long s).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tokbench.plugin import did_you_mean

_ENDS: Final = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_CAPITAL: Final = r"(?:(?=\p{L})[^a-z])"
_SMALL: Final = r"(?:(?=\p{L})[^A-Z])"
_SPACES: Final = r"\s*[\r\n]+|\s+(?!\S)|\s+"


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
    whole_chunks: bool = False
    """A chunk that is a token becomes it, whatever the merges say (``ignore_merges``)."""


_GPT2: Final = GGUFSplit("gpt2")
_LLAMA3: Final = GGUFSplit("gpt4", whole_chunks=True)
_QWEN2: Final = GGUFSplit(rf"{_ENDS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}")
# First every digit is cut off, then the rest is split as GPT-2's: to the rest, a digit is the end of the text.
_DIGITS_GPT2: Final = GGUFSplit(
    r"\p{N}|'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+",
)

# First runs of punctuation are cut off, the rest is split as GPT-2's, then numbers are cut off, and of these every
# three digits of ASCII.
_SIGNS: Final = r"\p{P}$+<=>^~|"
_DEFAULT: Final = GGUFSplit(
    rf"[{_SIGNS}]+| ?\p{{L}}+|[0-9]{{3}}|\p{{N}}+?(?=[0-9]{{3}})|\p{{N}}+| ?[^\s\p{{L}}\p{{N}}{_SIGNS}]+"
    rf"|\s+(?![^\s{_SIGNS}])|\s+"
)

_NAMES: Final = {
    _DEFAULT: "default",
    _GPT2: (
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe a.x-4.0 "
        "mellum mpt olmo jais exaone4"
    ),
    GGUFSplit("gpt4"): "dbrx smaug-bpe glm4 chatglm-bpe",
    _LLAMA3: "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2",
    _QWEN2: "qwen2 deepseek-r1-qwen kormo megrez stablelm2",
    _DIGITS_GPT2: "starcoder refact command-r smollm codeshell exaone minerva-7b",
    GGUFSplit(_words_by_case(rf"{_ENDS}?", r"\p{N}{1,3}")): "gpt-4o llama4 minimax-m2",
    GGUFSplit(_words_by_case("", r"\p{N}"), whole_chunks=True): "tekken",
}
SPLITS: Final = {name: split for split, names in _NAMES.items() for name in names.split()}


def split_of(name: str) -> GGUFSplit:
    """Return the split of a name.

    >>> split_of("gpt-2").pattern
    'gpt2'
    >>> split_of("gpt2")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no split is known as 'gpt2', the tokenizer.ggml.pre of the file; did you mean 'gpt-2'? (to say ...
    """
    if name in SPLITS:
        return SPLITS[name]
    said = f"no split is known as {name!r}, the tokenizer.ggml.pre of the file" if name else "it names no split"
    advice = "to say which one it is, write pre: NAME; llama.cpp itself takes default for a name that it does not know"
    raise ValueError(f"{said}; {did_you_mean(name, SPLITS)} ({advice})")
