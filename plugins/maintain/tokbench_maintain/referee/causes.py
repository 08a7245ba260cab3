"""What else the authors of a number may have measured: another split of the vocabulary, or the text read otherwise.

A cause is accepted only where it gives nearly all numbers of a column, those that were equal before included. Which
ones are tried is data: the splits of the vocabularies that libraries fall back to, and what scripts do to texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Final

import tiktoken

from tokbench.plugin import HasSpecialTokens, HasTokenBytes, Tokenizer, encode_batch
from tokbench_plugins.bpe import PATTERNS

Ids = list[list[int]]
Encode = Callable[[Sequence[str]], Ids]

_SPACES: Final = re.compile(" +")
_MARKS: Final = {0: "", 1: "one special token counted a text", 2: "two special tokens counted a text"}
_READINGS: Final[dict[str, Callable[[str], str]]] = {
    "": str,
    "runs of spaces read as one": lambda text: _SPACES.sub(" ", text).strip(),
    "spaces around texts removed": str.strip,
    "a line end at the end of each text": lambda text: text + "\n",
    "a space before each text": lambda text: " " + text,
}
_SPLITS: Final = {"cl100k and Llama 3": "gpt4", "GPT-2": "gpt2", "GPT-4o": "o200k"}


@dataclass(frozen=True)
class OtherReading:
    """One way in which a number may have been measured.

    >>> import tokbench
    >>> [cause.words for cause in causes(tokbench.load("utf8_bytes"))][4]
    'one special token counted a text'
    """

    words: str
    encode: Encode


def encoder(tokenizer: Tokenizer) -> Encode:
    """Return what gives the ids of texts.

    >>> import tokbench
    >>> encoder(tokbench.load("utf8_bytes"))(["né"])
    [[110, 195, 169]]
    """

    def encode(texts: Sequence[str]) -> Ids:
        encoded = encode_batch(tokenizer, texts)
        ends = encoded.offsets.tolist()
        return [encoded.ids[start:end].tolist() for start, end in pairwise(ends)]

    return encode


def causes(tokenizer: Tokenizer) -> Iterator[OtherReading]:
    """Yield what may have been measured instead, the simplest first."""
    ids = encoder(tokenizer)
    for marks, (reading, change) in product(_MARKS, _READINGS.items()):
        words = " and ".join(filter(None, (reading, _MARKS[marks])))
        if words:
            yield OtherReading(words, partial(_read_otherwise, ids, change, marks))
    for name, split in _SPLITS.items():
        other = _with_split(tokenizer, PATTERNS[split])
        if other is not None:
            yield OtherReading(f"these ranks under the split of {name}", other)


def _read_otherwise(encode: Encode, change: Callable[[str], str], marks: int, texts: Sequence[str]) -> Ids:
    return [[*ids, *[-1] * marks] for ids in encode([change(text) for text in texts])]


def _with_split(tokenizer: Tokenizer, pattern: str) -> Encode | None:
    """Return the ids of the same vocabulary under another split, if it is one of byte-level BPE."""
    if not isinstance(tokenizer, HasTokenBytes):
        return None
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    ranks: dict[bytes, int] = {}
    for number in range(tokenizer.vocab_size):
        token = None if number in special else tokenizer.token_bytes(number)
        if token:
            ranks.setdefault(token, number)
    if any(bytes([byte]) not in ranks for byte in range(256)):
        return None
    encoding = tiktoken.Encoding("other", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda texts: [encoding.encode_ordinary(text) for text in texts]
