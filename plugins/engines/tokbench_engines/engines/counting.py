"""Engines that count tokens and give no ids: ctok with Claude's vocabularies, toktok with OpenAI's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from tokbench.plugin import BackendSpec, Options, valid_unicode
from tokbench.tokenizers.contract import CountsAlone
from tokbench_engines import install

_TOKTOK_SIZES: Final = {"cl100k_base": 100_277, "o200k_base": 200_019, "o200k_harmony": 201_088}


class ToktokLoadOptions(Options):
    """Its vocabulary."""

    encoding: Literal["cl100k_base", "o200k_base", "o200k_harmony"] = Field(
        description="cl100k_base, o200k_base or o200k_harmony"
    )


class CtokLoadOptions(Options):
    """The generation of the tokenizer."""

    vocabulary: Literal["v3", "v4.7", "v4.8"] = Field(
        description="v3 (Claude 3 to Opus 4.6), v4.7 (Opus 4.7) or v4.8 (Opus 4.8 and later models)"
    )


class ToktokTokenizer(CountsAlone):
    """Counts of ordinary text; a lone surrogate becomes U+FFFD."""

    notes = ("toktok counts tokens and returns no ids: round trips and ids cannot be checked",)

    def __init__(self, options: ToktokLoadOptions) -> None:
        from toktok import batch_count  # of the package toktok-rs: toktok is another one

        self._options, self._count = options, batch_count
        self.vocab_size = _TOKTOK_SIZES[options.encoding]
        self.count_batch([""])  # it loads the vocabulary with the first text

    def __reduce__(self) -> tuple[Any, ...]:
        return ToktokTokenizer, (self._options,)

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        try:
            counts: list[int] = self._count(texts, self._options.encoding, threads=1)
        except UnicodeEncodeError:
            counts = self._count(list(map(valid_unicode, texts)), self._options.encoding, threads=1)
        return counts


class CtokTokenizer(CountsAlone):
    """Counts of the text of a message; a lone surrogate becomes U+FFFD.

    ctok was fitted to the counts that a service gives for one message; the tokens of the frame around the message are
    subtracted.
    """

    notes = (
        "a third-party reconstruction, fitted to a service's counts: it has no ids, and reports how often it was exact",
        "a count is the count of a message minus its frame, so some line ends at the end of a text are not counted",
        "its vocabulary size is the number of pieces that ctok has found",
    )

    def __init__(self, options: CtokLoadOptions) -> None:
        import ctok

        self._options, self._count = options, ctok.token_count
        self._version = f"{options.vocabulary.removeprefix('v')}.0"[:3]
        self._frame = ctok.tokenize("a", self._version).count("⟨pad⟩")
        self.vocab_size = len(ctok.pieces(self._version))

    def __reduce__(self) -> tuple[Any, ...]:
        return CtokTokenizer, (self._options,)

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        """An empty text has no tokens, although the frame of an empty message has one more."""
        return [self._count(text, self._version) - self._frame if text else 0 for text in texts]


SPECS: Final = (
    BackendSpec(
        name="toktok",
        summary="counts of OpenAI's encodings, without ids, by toktok",
        load=ToktokTokenizer,
        load_options=ToktokLoadOptions,
        requires=("toktok-rs",),
        install=install("all"),
        main="encoding",
        precedence=-3,
    ),
    BackendSpec(
        name="ctok",
        summary="counts of Claude's tokenizers, without ids, as ctok has reconstructed them",
        load=CtokTokenizer,
        load_options=CtokLoadOptions,
        requires=("ctok",),
        install="pip install ctok, with Python 3.12 or later",
        main="vocabulary",
        published={"claude-3": {"vocabulary": "v3"}, "claude-opus-4.7": {"vocabulary": "v4.7"}},
    ),
)
