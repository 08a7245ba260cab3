"""What is counted in the texts of each group of probes, by document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import HasSpecialTokens, decode_batch, from_lists
from tokbench.plugin.metrics import EncodedShard, cut_patterns, find_spans
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES, prompt_ids
from tokbench.segmentation.conversations import conversation
from tokbench.tokenizers.contract import EncodesWithSpecial
from tokbench_research import Counts, encoded_again

_JOINER: Final = "\u200d"
_DIGITS: Final = re.compile(rb"[0-9]+")
_OPERANDS: Final = re.compile(rb"(?m)^([0-9]+) \+ ([0-9]+) ")
_DATE: Final = re.compile(rb"(?m)^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
_LETTER: Final = re.compile(rb"[A-Za-z]")


def _ids(encoded: EncodedShard) -> list[list[int]]:
    return [encoded.ids[start:end].tolist() for start, end in pairwise(encoded.offsets.tolist())]


def _spaces(encoded: EncodedShard) -> Counts:
    """The key of a document is its last words, before which the prompt ends."""
    shard = encoded.shard
    prompts = [text.removesuffix(key) for text, key in zip(shard.texts, shard.keys, strict=True)]
    cut, offsets = encoded_again(encoded.tokenizer, prompts)
    parts = (cut[start:end].tolist() for start, end in pairwise(offsets.tolist()))
    other = [whole[: len(part)] != part for part, whole in zip(parts, _ids(encoded), strict=True)]
    return {"led away": np.array(other, dtype=np.int64)}


def _spelled(encoded: EncodedShard) -> Counts:
    letters = find_spans(encoded.shard, _LETTER)
    letters = letters.where(encoded.token_ends.aligned[letters.documents])
    at = letters.starts
    # A hyphen, or the beginning or end of the text, may share the token.
    before, here, behind, next_ = (np.isin(at + step, encoded.boundaries) for step in (-1, 0, 1, 2))
    alone = (before | here) & (behind | next_)
    size = len(encoded.shard)
    return {
        "alone": np.bincount(letters.documents, weights=alone, minlength=size),
        "letters": np.bincount(letters.documents, minlength=size),
    }


def _sums(encoded: EncodedShard) -> Counts:
    sums = find_spans(encoded.shard, _OPERANDS).documents
    runs = find_spans(encoded.shard, _DIGITS)
    first = np.searchsorted(runs.documents, sums)
    cut, laid = cut_patterns(encoded, runs), encoded.token_ends.aligned
    alike = np.zeros(len(laid), dtype=np.int64)
    alike[sums] = cut[first] == cut[first + 1]
    return {"alike": alike * laid, "laid out": np.isin(np.arange(len(laid)), sums) & laid}


def ways_of_dates(encoded: EncodedShard) -> Counter[int]:
    """Count the ways in which dates such as 2024-02-29 are cut."""
    dates = find_spans(encoded.shard, _DATE)
    return Counter(cut_patterns(encoded, dates.where(encoded.token_ends.aligned[dates.documents])).tolist())


def _emoji(encoded: EncodedShard) -> Counts:
    joined = np.array([_JOINER in text for text in encoded.shard.texts], dtype=np.int64)
    return {"joined": joined, "joined tokens": joined * encoded.tokens}


def _special(encoded: EncodedShard) -> Counts:
    """The key of a document is the marker that it spells."""
    tokenizer, markers = encoded.tokenizer, encoded.shard.keys
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()

    def shown(texts: list[str]) -> NDArray[np.bool_]:
        return np.array([marker in text for marker, text in zip(markers, texts, strict=True)], dtype=np.bool_)

    def control(ids: list[list[int]]) -> NDArray[np.bool_]:
        return np.array([not special.isdisjoint(some) for some in ids], dtype=np.bool_)

    back, given = shown(encoded.decoded), control(_ids(encoded))
    allowed = swallowed = np.zeros(len(markers), dtype=np.bool_)
    if isinstance(tokenizer, EncodesWithSpecial):
        ids = [list(map(int, tokenizer.encode_with_special(t, allowed_special="all"))) for t in encoded.shard.texts]
        allowed = control(ids)
        swallowed = allowed & ~shown(decode_batch(tokenizer, from_lists(ids)))
    return {"kept": back & ~given, "control": given, "lost": ~back, "allowed": allowed, "swallowed": swallowed}


def _chat(encoded: EncodedShard) -> Counts:
    """Of a conversation its messages count as texts."""
    tokenizer, talks = encoded.tokenizer, [conversation(text).plain for text in encoded.shard.texts]
    alone = [sum(len(tokenizer.encode(message.content)) for message in talk) for talk in talks]
    counts = {"texts": np.array([len(talk) for talk in talks])}
    for template in CHAT_TEMPLATES.values():
        written = [len(prompt_ids(tokenizer, list(template.write(talk, reply=False)))) for talk in talks]
        counts[template.id] = np.array(written) - alone
    return counts


COUNTS: Final[Mapping[str, Callable[[EncodedShard], Counts]]] = {
    "spaces": _spaces,
    "spelled": _spelled,
    "sums": _sums,
    "emoji": _emoji,
    "glitch": lambda encoded: {"single": encoded.tokens == 1},
    "special": _special,
    "chat": _chat,
}
