"""The common part of probes: fixed texts, and values of their tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tokbench.corpus.shards import Shard
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.measuring.metric import Answer, Segmented
from tokbench.plugin import Document, EncodesWithOffsets, HasTokenBytes, Tokenizer, check_encoded, encode_batch
from tokbench.plugin.metrics import EncodedShard, Measured, Metric, NotApplicable

Values = Mapping[str, Measured | NotApplicable]

LAID: Final = (HasTokenBytes, EncodesWithOffsets)

_PROBES: Final = "probes"


@dataclass(frozen=True, kw_only=True)
class TextProbe:
    """A probe with fixed texts.

    Attributes:
        texts: ``(label, text)`` of each.
        measure: computes the values from a shard that has a document for each text.
        own: chooses further texts for one tokenizer.
    """

    name: str
    title: str
    explanation: str
    texts: tuple[tuple[str, str], ...]
    values: tuple[Metric, ...]
    measure: Callable[[EncodedShard], Values]
    own: Callable[[Tokenizer], Sequence[tuple[str, str]]] | None = None

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        texts = [text for _, text in self.texts]
        encoded = encode_texts(tokenizer, texts)
        own = self.own(tokenizer) if self.own else ()
        return Answer(
            self.measure(encoded),
            [segment(tokenizer, *labelled) for labelled in self.texts],
            [segment(tokenizer, *labelled) for labelled in own],
        )


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> EncodedShard:
    """Encode texts as a shard, a document for each."""
    arrays = encode_batch(tokenizer, texts)
    check_encoded(arrays, len(texts), tokenizer.vocab_size)
    documents = [Document(text, _PROBES, str(k), text) for k, text in enumerate(texts)]
    return EncodedShard(
        LoadedTokenizer(_PROBES, tokenizer), Shard(_PROBES, _PROBES, 0, documents, by_key=False), arrays
    )


def segment(tokenizer: Tokenizer, label: str, text: str) -> Segmented:
    """Return a text with its tokens."""
    ids = map(int, tokenizer.encode(text))
    return Segmented(label, text, [(token, token_text(tokenizer, token)) for token in ids])


def token_text(tokenizer: Tokenizer, token: int) -> str:
    """Return the text of one token; bytes that are not UTF-8 become escapes."""
    if isinstance(tokenizer, HasTokenBytes):
        return tokenizer.token_bytes(token).decode("utf-8", "backslashreplace")
    return str(tokenizer.decode([token]))


def tokens_each(encoded: EncodedShard) -> Measured:
    """Return the mean number of tokens of a text."""
    return Measured(float(encoded.tokens.mean()), len(encoded.shard))


def probe_value(  # noqa: D103 - a Metric with less to write
    identity: str,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    formula: str,
    definition: str,
    needs: tuple[type, ...] = (),
) -> Metric:
    return Metric(id=identity, unit=unit, direction=direction, formula=formula, definition=definition, needs=needs)
