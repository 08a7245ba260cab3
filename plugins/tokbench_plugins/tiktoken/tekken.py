"""Tekken files of Mistral (``tekken.json``): byte-level BPE in tiktoken's engine, after special ids."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import write_atomically
from tokbench.foundation.parsing import parse_json
from tokbench.tokenizers.batch import check_ids
from tokbench_plugins.bpe.vocabulary import check_bytes
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, make_encoding

_NAMED: Final = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
"""The names of the first ids where the file has none; the names of other ids are numbers."""


class TekkenTokenizer(TiktokenTokenizer):
    """Ordinary text in a Tekken vocabulary; special tokens have the first ids and decode to nothing."""

    file_suffix = ".tekken.json"

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            content = parse_json(data)
            config = content["config"]
            first, size, pattern = (
                config[key] for key in ("default_num_special_tokens", "default_vocab_size", "pattern")
            )
            tokens = content["vocab"][: size - first]
            ranks = {
                base64.b64decode(token["token_bytes"], validate=True): first + int(token["rank"]) for token in tokens
            }
            names = {token["rank"]: token["token_str"] for token in content.get("special_tokens") or ()}
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a Tekken file: {error!r}") from error
        if sorted(ranks.values()) != list(range(first, size)):
            raise ValueError(f"a damaged Tekken file: not every rank below {size - first} is there once")
        check_bytes(ranks)
        names = names or dict(enumerate(_NAMED))
        special = {names.get(token_id, f"<SPECIAL_{token_id}>"): token_id for token_id in range(first)}
        try:
            super().__init__(make_encoding("tekken", ranks, pattern, special), lossless=True)
        except BackendError as error:
            raise ValueError(str(error)) from error
        self._first = first

    def __reduce__(self) -> tuple[Callable[..., TekkenTokenizer], tuple[Any, ...]]:
        return type(self), (self._data,)

    def save(self, path: Path, /) -> None:
        write_atomically(path, self._data)

    def decode(self, ids: Sequence[int], /) -> str:
        check_ids(ids, self.vocab_size)
        return super().decode([token_id for token_id in ids if token_id >= self._first])

    def token_bytes(self, token_id: int, /) -> bytes:
        return super().token_bytes(token_id) if not 0 <= token_id < self._first else b""
