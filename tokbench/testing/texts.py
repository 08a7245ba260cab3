"""The texts of the checks: small and difficult ones first."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Final

from tokbench.corpus.contract import Document
from tokbench.registry.plugins import load_registry
from tokbench.tokenizers.backend import GroupedText

MARKERS: Final = tuple(
    "<|endoftext|> <s> </s> <unk> <pad> <mask> <bos> <eos> <|im_start|> <|begin_of_text|> <|eot_id|> [CLS] [SEP] "
    "[MASK] [UNK] [PAD] [INST] <0x0A> <0xE2> <start_of_turn> <|fim_prefix|> ## ##ing @@ ▁ ▁▁ Ġ Ċ ⁇".split()
)

_SMALL: Final = (
    *("", "a", "b", " ", "  ", "\n", "\r\n", "\t", "\0", "a\0b", "\x7f", "\x85", "\xa0", "\u3000", "\u2028"),
    *("\ufeff", "\ufeffa", "a\ufeff", "\ufffd", "\ufffe", "\U0010ffff", "\u200b", "\u200d", "\u202e", "\xad"),
    *"é e\u0301 \u0301 ﬁ ½ Å Ω İ ß \u017f ① ㎏ 각 ᄀ 日本語 ไทย हिन्दी 🙂 👨\u200d👩\u200d👧 🏽 \U0001d4b3 ⅓".split(),
    *(" a", "a ", " a ", "a  b", "a\n\nb", "\n a", "'s", "don't", "DON'T"),
    *("1234567890", "3.14", "a" * 300, " " * 100, "\n" * 50, "ab" * 60, "é" * 100, "=" * 80, "the The THE"),
    "".join(map(chr, range(128))),
    "".join(map(chr, range(128, 256))),
)

_LONG: Final = 1_000_000


def _sample(part: str) -> Iterator[Document]:
    spec = load_registry().corpora.get("sample")
    yield from spec.open(spec.options.model_validate({"part": part})).documents()


@cache
def corpus() -> tuple[str, ...]:
    """Return difficult texts, and a sentence in each language, shortest first."""
    hostile = [document.text for document in _sample("hostile")]
    sentences = {document.group: document.text for document in _sample("languages")}
    marked = [text for marker in MARKERS for text in (marker, f"a{marker}b", f" {marker} {marker}")]
    return tuple(sorted({*_SMALL, *marked, *hostile, *sentences.values()}, key=lambda text: (len(text), text)))


@cache
def generated(examples: int) -> tuple[str, ...]:
    """Return so many texts of random characters and difficult pieces, always the same, shortest first."""
    draw = random.Random(2)  # noqa: S311 - no secret
    pieces, ends = [*MARKERS, *_SMALL], (0x80, 0x800, 0xD800, 0x110000)

    def piece() -> str:
        if draw.random() < 0.5:  # noqa: PLR2004 - half of them
            return draw.choice(pieces)
        char = chr(draw.randrange(draw.choice(ends)))
        return "\ufffd" if "\ud800" <= char <= "\udfff" else char

    texts = {"".join(piece() for _ in range(draw.randint(2, 6))) for _ in range(examples)}
    return tuple(sorted(texts - set(corpus()), key=lambda text: (len(text), text)))


def long_texts() -> dict[str, str]:
    """Return by description texts of a megabyte without a place to split them."""
    letter_of_byte = bytes(ord("a") + byte % 26 for byte in range(256))
    letters = random.Random(1).randbytes(_LONG).translate(letter_of_byte).decode()  # noqa: S311 - no secret
    spaces = " " * _LONG
    return {"one letter": "a" * _LONG, "letters": letters, "spaces": spaces, "spaces before a letter": f"{spaces}a"}


def training_text() -> GroupedText:
    """Return the training text of a check: the shipped sentences and code."""
    documents = (document for part in ("languages", "code") for document in _sample(part))
    return GroupedText([(document.group, document.text) for document in documents])
