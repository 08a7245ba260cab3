"""Loads a tokenizer, and cuts its vocabulary to its first merges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationInfo

import tokbench
from tokbench import plugin
from tokbench.foundation.errors import BackendError, ContractError
from tokbench.tokenizers.batch import check_ids
from tokbench.tokenizers.contract import Encoded, Tokenizer
from tokbench.tokenizers.curve import CutIds
from tokbench.tokenizers.merges import merge_order, ordinary_tokens

_OWN: Final = __name__.partition(".")[0]

_SAME: Final = ("dummy_prefix", "encoded_by", "identity", "lossless", "notes", "thread_safe", "warm_up")
"""Members that cutting does not change."""

_PATH: Final = TypeAdapter[Path](plugin.LocalPath)


def _located(of: Any, info: ValidationInfo) -> Any:
    """Replace relative paths of files by whole ones, as they start in the folder of the configuration."""
    if isinstance(of, dict):
        if "backend" not in of or "train" in of:
            raise ValueError("give 'backend' and its options; what is trained has sizes: vocab_size: [4096, 8192]")
        return {key: _located(value, info) for key, value in of.items()}
    if not isinstance(of, str):
        return of
    context = info.context or {}
    base = context.get("bases", {}).get(info.field_name) or context.get("base", Path())
    path = _PATH.validate_python(of, context={"base": base})
    found = plugin.attempt(lambda: path.is_file() or ("/" in of and path.is_dir()))
    return str(path) if found is True else of


class CutOptions(plugin.Options):
    """Options of a tokenizer that is cut.

    ``size`` counts what ordinary text can give, as the study of vocabulary sizes does: bytes or characters, added
    tokens that are not special, and merges. Special tokens are left out. A token for unknown text is kept, and counts
    if it has text of its own.
    """

    of: Annotated[str | dict[str, Any], BeforeValidator(_located)] = Field(
        description="the tokenizer: a published name, backend:value, a file, or a mapping with backend and its options"
    )
    size: int = Field(ge=1, description="tokens that are kept: bytes or characters, added tokens, and the first merges")


class CutTokenizer:
    """A tokenizer with its first merges alone; ids keep their order."""

    def __init__(self, whole: Tokenizer, size: int) -> None:
        tokens = ordinary_tokens(whole)
        self._whole, self._order = whole, merge_order(whole, tokens)
        base, merges = self._order.base, size - self._order.base
        if not 0 <= merges <= len(self._order):
            raise BackendError(f"size is {size:,}, but can be {base:,} to {base + len(self._order):,}")
        kept = np.array([bool(token) for token in tokens]) & (self._order.rank_of < merges)
        unknown = getattr(whole, "unk_id", None)
        if unknown is not None:
            kept[unknown] = True
        self._kept, self._new = np.flatnonzero(kept), np.cumsum(kept) - 1
        self._merges, self._cut = merges, CutIds(self._order, merges)
        self.vocab_size = len(self._kept)
        self.unk_id = None if unknown is None else int(self._new[unknown])
        for name in _SAME:
            if hasattr(whole, name):
                setattr(self, name, getattr(whole, name))
        if type(whole).__module__.partition(".")[0] != _OWN and not hasattr(whole, "identity"):
            self.identity = ""  # its code is in another plugin

    @cached_property
    def merges(self) -> Sequence[tuple[int, ...]]:
        return [tuple(self._new[list(self._order.parts_of(rank))].tolist()) for rank in range(self._merges)]

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        cut = self._cut(plugin.encode_batch(self._whole, texts))
        return Encoded(self._new[cut.ids].astype(np.uint32), cut.offsets)

    def encode(self, text: str, /) -> list[int]:
        ids: list[int] = self.encode_batch([text]).ids.tolist()
        return ids

    def decode(self, ids: Sequence[int], /) -> str:
        check_ids(ids, self.vocab_size)
        return self._whole.decode(self._kept[list(ids)].tolist())

    def token_bytes(self, token_id: int, /) -> bytes:
        plugin.check_id(token_id, self.vocab_size)
        return self._whole.token_bytes(int(self._kept[token_id]))  # type: ignore[attr-defined, no-any-return]


def _load(options: CutOptions) -> CutTokenizer:
    of = {"backend": options.of} if isinstance(options.of, str) else dict(options.of)
    try:
        return CutTokenizer(tokbench.load(of.pop("backend"), **of), options.size)
    except ContractError as error:
        fix = "train a tokenizer of its kind at each size: train: vocab_size: [4096, 8192]"
        raise BackendError(f"cannot be cut: {error}; {fix}") from error


SPEC = plugin.BackendSpec(
    name="cut",
    summary="another tokenizer's vocabulary, cut to its first merges",
    load=_load,
    load_options=CutOptions,
    main="of",
    wraps=True,
)
