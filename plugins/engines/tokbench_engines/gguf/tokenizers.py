"""The tokenizers of GGUF files, which are saved as GGUF."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from tokbench.plugin import Encoded, valid_unicode
from tokbench.tokenizers.contract import Offsets, TokenSpans
from tokbench_engines.gguf.defined import Defined, GgufPart, encode_parts
from tokbench_engines.gguf.metadata import GGUFTokenizer, write_gguf
from tokbench_engines.gguf.splits import GGUFSplit
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.sentencepiece.tokenizer import SentencePieceBPE, SentencePieceTokenizer


class SavedAsGGUF:
    """Is saved as what was read."""

    file_suffix = ".gguf"
    content = GGUFTokenizer()

    def save(self, path: Path, /) -> None:
        write_gguf(path, self.content)


class GGUFByteLevel(SavedAsGGUF, BPETokenizer):
    """Byte-level BPE of a GGUF file; user-defined tokens are cut out of a text before it is split."""

    defined = Defined()
    before = GGUFSplit("gpt2")
    """The split, for what it does before its last expression."""
    lost: Mapping[int, bytes] = {}
    """Ids above all others, for the bytes without a token, which llama.cpp drops."""

    def encode(self, text: str, /) -> list[int]:
        if not (self.defined.ids or self.before.before or self.lost):
            return super().encode(text)
        ids: list[int] = self.encode_batch([text]).ids.tolist()
        return ids

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        if not self.defined.ids and not self.before.before:
            return self._encode_texts(texts)
        return encode_parts(map(self.defined.cut, texts), self._encode_texts)

    def _encode_texts(self, texts: Sequence[str]) -> Encoded:
        rows = [self.before.pieces(text) for text in texts] if self.before.before else []
        encoded = super().encode_batch(list(chain.from_iterable(rows)) if rows else texts)
        kept = encoded.ids < self.vocab_size
        ends = np.concatenate([[0], np.cumsum(kept)])[encoded.offsets]
        ends = ends[np.cumsum([0, *map(len, rows)])] if rows else ends
        return Encoded(encoded.ids[kept], ends)

    @property
    def stages(self) -> Mapping[str, str]:
        steps = [*self.before.before, self.pattern] if self.before.before else []
        splits = [
            {"type": "Split", "pattern": {"Regex": step}, "behavior": "Isolated", "invert": False} for step in steps
        ]
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
        split = {"split": json.dumps({"type": "Sequence", "pretokenizers": [*splits, byte_level]})} if steps else {}
        return {**super().stages, **split, "added tokens": "\n".join(map(repr, self.defined.ids))}

    def _not_written_as(self, name: str) -> str:
        if self.defined.ids:
            return "its user-defined tokens have no place in other formats"
        if self.before.before or self.lost:
            return "llama.cpp splits it several times, or drops bytes, which other formats do not"
        return super()._not_written_as(name)

    def __reduce__(self) -> tuple[Any, ...]:
        made, parts, state = super().__reduce__()
        kept = {
            name: getattr(self, name) for name in ("defined", "before", "lost", "content", "vocab_size", "lossless")
        }
        return made, parts, {**state, **kept}


class CutsDefined(SavedAsGGUF):
    """Cuts user-defined tokens out of a text, and encodes the parts between them each as a text of its own."""

    defined = Defined()
    inner: Any = None
    """Encodes text without user-defined tokens, if the tokenizer itself knows them."""

    @property
    def _inner(self) -> Any:
        return self.inner or super()

    def encode(self, text: str, /) -> list[int]:
        ids: list[int] = self.encode_batch([text]).ids.tolist()
        return ids

    def _encode_after(self, text: str) -> list[int]:
        return self.encode(text)

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        return encode_parts([self.defined.cut(valid_unicode(text)) for text in texts], self._inner.encode_batch)

    def encode_with_offsets(self, text: str, /) -> Offsets:
        ids, _, ends = self.encode_with_spans(text)
        bytes_before = list(accumulate((len(char.encode()) for char in valid_unicode(text)), initial=0))
        return Offsets(ids, list(accumulate((bytes_before[end] for end in ends), max)))

    def encode_with_spans(self, text: str, /) -> TokenSpans:
        spans = [self._spans(part) for part in self.defined.cut(valid_unicode(text))]
        return TokenSpans(*([value for some in spans for value in some[column]] for column in range(3)))

    def _spans(self, part: GgufPart) -> TokenSpans:
        if part.token is not None:
            return TokenSpans([part.token], [part.start], [part.start + len(part.text)])
        ids, *places = self._inner.encode_with_spans(part.text)
        starts, ends = ([part.start + place for place in column] for column in places)
        return TokenSpans(ids, starts, ends)


class GGUFScored(CutsDefined, SentencePieceBPE):
    """A SentencePiece model that merges by score."""


class GGUFUnigram(CutsDefined, SentencePieceTokenizer):
    """A SentencePiece model that chooses the likeliest pieces."""
