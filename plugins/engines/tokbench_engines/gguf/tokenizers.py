"""The tokenizers of GGUF files, which are saved as GGUF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokbench.plugin import Encoded, from_lists
from tokbench_engines.gguf.metadata import GGUFTokenizer, write_gguf
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.special import NO_SPECIAL
from tokbench_plugins.sentencepiece.tokenizer import SentencePieceBPE, SentencePieceTokenizer


class _SavedAsGGUF:
    file_suffix = ".gguf"
    content = GGUFTokenizer()

    def save(self, path: Path, /) -> None:
        write_gguf(path, self.content)


class GGUFByteLevel(_SavedAsGGUF, BPETokenizer):
    """Byte-level BPE of a GGUF file; user-defined tokens are cut out of a text before it is split."""

    defined = NO_SPECIAL

    def encode(self, text: str, /) -> list[int]:
        return self.defined.encode(text, super().encode, allowed_special="all")

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        if any(map(self.defined.in_text, texts)):
            return from_lists(list(map(self.encode, texts)))
        return super().encode_batch(texts)

    @property
    def stages(self) -> Mapping[str, str]:
        return {**super().stages, "added tokens": "\n".join(map(repr, self.defined.ids))}

    def _not_written_as(self, name: str) -> str:
        reason = "its user-defined tokens have no place in other formats"
        return reason if self.defined else super()._not_written_as(name)

    def __reduce__(self) -> tuple[Any, ...]:
        made, parts, state = super().__reduce__()
        return made, parts, {**state, "defined": self.defined, "content": self.content}


class GGUFScored(_SavedAsGGUF, SentencePieceBPE):
    """A SentencePiece model that merges by score."""


class GGUFUnigram(_SavedAsGGUF, SentencePieceTokenizer):
    """A SentencePiece model that chooses the likeliest pieces."""
