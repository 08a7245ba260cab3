"""The tokenizers of GGUF files, which are saved as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.gguf.metadata import GGUFTokenizer, write_gguf
from tokbench_plugins.sentencepiece.tokenizer import SentencePieceBPE, SentencePieceTokenizer


class _SavedAsGGUF:
    """Part of a tokenizer: it keeps the entries of its file, and writes them to another."""

    file_suffix = ".gguf"
    content = GGUFTokenizer()
    """The entries of the file, and what the options have changed in them."""

    def save(self, path: Path, /) -> None:
        """Write a GGUF file that has the tokenizer and no tensors.

        Raises:
            OSError: the file cannot be written.
        """
        write_gguf(path, self.content)


class GGUFByteLevel(_SavedAsGGUF, BPETokenizer):
    """Byte-level BPE of a GGUF file."""

    file_notes: tuple[str, ...] = ()
    """Notes on the file."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader of a report."""
        return (*super().notes, *self.file_notes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from, and what its file says."""
        return (*super().__reduce__(), {"file_notes": self.file_notes, "content": self.content})


class GGUFScored(_SavedAsGGUF, SentencePieceBPE):
    """A SentencePiece model that merges by score."""


class GGUFUnigram(_SavedAsGGUF, SentencePieceTokenizer):
    """A SentencePiece model that chooses the likeliest pieces."""
