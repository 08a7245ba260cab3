"""The Tekken files and the SentencePiece models of the package, with conversations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokbench_engines.mistral.chat import EncodesMistralChat
from tokbench_plugins.sentencepiece.tokenizer import SentencePieceBPE
from tokbench_plugins.tiktoken.tekken import TekkenTokenizer


class MistralTekken(EncodesMistralChat, TekkenTokenizer):
    """One of the Tekken files in the package; ``vocabulary`` is its name."""

    def __init__(self, data: bytes, vocabulary: str) -> None:
        super().__init__(data)
        self.vocabulary = vocabulary

    def __reduce__(self) -> tuple[Callable[..., TekkenTokenizer], tuple[Any, ...]]:
        return type(self), (self._data, self.vocabulary)


class MistralPieces(EncodesMistralChat, SentencePieceBPE):
    """One of the models in the package; ``vocabulary`` is its name."""

    def __init__(self, model: bytes, vocabulary: str) -> None:
        super().__init__(model)
        self.vocabulary = vocabulary
