"""Mistral's SentencePiece models, which are BPE with byte fallback."""

from __future__ import annotations

from tokbench_engines.mistral.chat import EncodesMistralChat
from tokbench_plugins.sentencepiece.tokenizer import SentencePieceBPE


class MistralPieces(EncodesMistralChat, SentencePieceBPE):
    """One of the models in the package; ``vocabulary`` is its name."""

    def __init__(self, model: bytes, vocabulary: str) -> None:
        super().__init__(model)
        self.vocabulary = vocabulary
