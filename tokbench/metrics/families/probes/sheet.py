"""What a probe is made of: fixed texts, and numbers from how they are cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tokbench.batch import check_encoded, encode_batch
from tokbench.contracts.corpus import Document
from tokbench.contracts.metric import Answer, Measured, NotApplicable, Segmented, ValueSpec
from tokbench.contracts.tokenizer import EncodesWithOffsets, HasTokenBytes, Tokenizer
from tokbench.corpus.shards import Shard
from tokbench.metrics.encoded_shard import Subject, View

__all__ = ["LAID", "Sheet", "look", "probe_value", "segment", "tokens_each"]

LAID: Final = (HasTokenBytes, EncodesWithOffsets)
"""What a number needs that asks where tokens lie."""

_PROBES: Final = "probes"


@dataclass(frozen=True, kw_only=True)
class Sheet:
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
    values: tuple[ValueSpec, ...]
    measure: Callable[[View], Mapping[str, Measured | NotApplicable]]
    own: Callable[[Tokenizer], Sequence[tuple[str, str]]] | None = None

    def ask(self, tokenizer: Tokenizer, /) -> Answer:
        """Encode the texts, and look."""
        view = look(tokenizer, [text for _, text in self.texts])
        own = self.own(tokenizer) if self.own else ()
        return Answer(
            self.measure(view),
            [segment(tokenizer, *each) for each in self.texts],
            [segment(tokenizer, *each) for each in own],
        )


def look(tokenizer: Tokenizer, texts: Sequence[str]) -> View:
    """Texts as a tokenizer sees them, a document each."""
    encoded = encode_batch(tokenizer, texts)
    check_encoded(encoded, len(texts), tokenizer.vocab_size)
    documents = [Document(text, _PROBES, str(k), text) for k, text in enumerate(texts)]
    return View(Subject(_PROBES, tokenizer), Shard(_PROBES, _PROBES, 0, documents, by_key=False), encoded)


def segment(tokenizer: Tokenizer, label: str, text: str) -> Segmented:
    """A text and its tokens, each with its bytes as far as they are text."""
    ids = map(int, tokenizer.encode(text))
    return Segmented(label, text, [(token, _text(tokenizer, token)) for token in ids])


def _text(tokenizer: Tokenizer, token: int) -> str:
    if isinstance(tokenizer, HasTokenBytes):
        return tokenizer.token_bytes(token).decode("utf-8", "backslashreplace")
    return str(tokenizer.decode([token]))


def tokens_each(view: View) -> Measured:
    """Tokens per text."""
    return Measured(float(view.tokens.mean()), len(view.shard))


def probe_value(  # noqa: D103 - a ValueSpec with a short name
    name: str,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    formula: str,
    definition: str,
    needs: tuple[type, ...] = (),
) -> ValueSpec:
    return ValueSpec(
        id=f"probe_{name}", unit=unit, direction=direction, formula=formula, definition=definition, needs=needs
    )
