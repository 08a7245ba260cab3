"""What a probe is made of: fixed texts, and numbers from how they are cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tokbench.plugin import (
    Answer,
    Document,
    EncodedShard,
    EncodesWithOffsets,
    HasTokenBytes,
    LoadedTokenizer,
    Measured,
    Metric,
    NotApplicable,
    Segmented,
    Shard,
    Tokenizer,
    check_encoded,
    encode_batch,
)

__all__ = ["LAID", "TextProbe", "encode_texts", "probe_value", "segment", "tokens_each"]

LAID: Final = (HasTokenBytes, EncodesWithOffsets)
"""What a number needs that asks where tokens lie."""

_PROBES: Final = "probes"


@dataclass(frozen=True, kw_only=True)
class TextProbe:
    """A probe, see :class:`tokbench.contracts.metric.Probe`.

    Attributes:
        texts: ``(label, text)``; a label is what a table calls the text.
        measure: the values, from the texts as a tokenizer sees them: a shard with a document for each.
        own: further texts, chosen for one tokenizer.
    """

    name: str
    title: str
    explanation: str
    texts: tuple[tuple[str, str], ...]
    values: tuple[Metric, ...]
    measure: Callable[[EncodedShard], Mapping[str, Measured | NotApplicable]]
    own: Callable[[Tokenizer], Sequence[tuple[str, str]]] | None = None

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        """Encode the texts, and look."""
        encoded = encode_texts(tokenizer, [text for _, text in self.texts])
        own = self.own(tokenizer) if self.own else ()
        return Answer(
            self.measure(encoded),
            [segment(tokenizer, *each) for each in self.texts],
            [segment(tokenizer, *each) for each in own],
        )


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> EncodedShard:
    """Texts as a tokenizer sees them, a document each."""
    arrays = encode_batch(tokenizer, texts)
    check_encoded(arrays, len(texts), tokenizer.vocab_size)
    documents = [Document(text, _PROBES, str(k), text) for k, text in enumerate(texts)]
    return EncodedShard(
        LoadedTokenizer(_PROBES, tokenizer), Shard(_PROBES, _PROBES, 0, documents, by_key=False), arrays
    )


def segment(tokenizer: Tokenizer, label: str, text: str) -> Segmented:
    """A text and its tokens, each with its bytes as far as they are text."""
    ids = map(int, tokenizer.encode(text))
    return Segmented(label, text, [(token, _text(tokenizer, token)) for token in ids])


def _text(tokenizer: Tokenizer, token: int) -> str:
    if isinstance(tokenizer, HasTokenBytes):
        return tokenizer.token_bytes(token).decode("utf-8", "backslashreplace")
    return str(tokenizer.decode([token]))


def tokens_each(encoded: EncodedShard) -> Measured:
    """Tokens per text."""
    return Measured(float(encoded.tokens.mean()), len(encoded.shard))


def probe_value(  # noqa: D103 - a Metric with a short name
    name: str,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    formula: str,
    definition: str,
    needs: tuple[type, ...] = (),
) -> Metric:
    return Metric(
        id=f"probe_{name}", unit=unit, direction=direction, formula=formula, definition=definition, needs=needs
    )
