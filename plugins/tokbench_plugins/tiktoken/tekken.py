"""Tekken files of Mistral (``tekken.json``): byte-level BPE in tiktoken's engine, after special ids."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from tokbench.foundation.errors import BackendError
from tokbench.foundation.parsing import parse_json
from tokbench.tokenizers.batch import check_id, check_ids
from tokbench.tokenizers.contract import Encoded, TokenSpans
from tokbench_plugins.bpe.recovery.order import Merges
from tokbench_plugins.bpe.special import EncodesAroundSpecial
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, make_encoding

_NAMED: Final = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
"""The names of the first ids where the file has none; the names of other ids are numbers."""


class TekkenTokenizer(EncodesAroundSpecial):
    """Ordinary text in a Tekken vocabulary; special tokens have the first ids and decode to nothing."""

    lossless = True
    thread_safe = True
    notes: tuple[str, ...] = ()

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            content = parse_json(data)
            config = content["config"]
            self._first: int = config["default_num_special_tokens"]
            self.vocab_size: int = config["default_vocab_size"]
            tokens = content["vocab"][: self.vocab_size - self._first]
            ranks = {base64.b64decode(token["token_bytes"], validate=True): int(token["rank"]) for token in tokens}
            pattern: str = config["pattern"]
            self.special_ids: Mapping[str, int] = _special_ids(content, self._first)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a Tekken file: {error!r}") from error
        if sorted(ranks.values()) != list(range(self.vocab_size - self._first)):
            raise ValueError(
                f"a damaged Tekken file: not every rank below {self.vocab_size - self._first} is there once"
            )
        if lacking := [byte for byte in range(256) if bytes([byte]) not in ranks]:
            raise ValueError(f"a damaged Tekken file: no token for the byte 0x{lacking[0]:02x}")
        try:
            self._ordinary = TiktokenTokenizer(make_encoding("tekken", ranks, pattern, {}))
        except BackendError as error:
            raise ValueError(str(error)) from error

    def __reduce__(self) -> tuple[Callable[..., TekkenTokenizer], tuple[Any, ...]]:
        return type(self), (self._data,)

    def encode(self, text: str, /) -> list[int]:
        first = self._first
        return [first + rank for rank in self._ordinary.encode(text)]

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        ids, offsets = self._ordinary.encode_batch(texts)
        return Encoded(ids + np.uint32(self._first), offsets)

    def encode_with_spans(self, text: str, /) -> TokenSpans:
        ids, starts, ends = self._ordinary.encode_with_spans(text)
        return TokenSpans([self._first + rank for rank in ids], starts, ends)

    def decode(self, ids: Sequence[int], /) -> str:
        check_ids(ids, self.vocab_size)
        first = self._first
        return self._ordinary.decode([token_id - first for token_id in ids if token_id >= first])

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        return self._ordinary.token_bytes(token_id - self._first) if token_id >= self._first else b""

    @cached_property
    def merges(self) -> Merges:
        first = self._first
        return tuple(tuple(first + part for part in parts) for parts in self._ordinary.merges)


def _special_ids(content: dict[str, Any], count: int) -> dict[str, int]:
    listed = content.get("special_tokens")
    names = {token["rank"]: token["token_str"] for token in listed} if listed else dict(enumerate(_NAMED))
    return {names.get(token_id, f"<SPECIAL_{token_id}>"): token_id for token_id in range(count)}
