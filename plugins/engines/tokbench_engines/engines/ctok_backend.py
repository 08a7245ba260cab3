"""The backend ``ctok``: counts of Claude's tokenizers, as the package ``ctok`` has reconstructed them, offline.

ctok was fitted to the counts that the service gives for one message; the tokens of the frame around the message are
subtracted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench.tokenizers.engine_contract import CountsAlone

_FRAME: Final = "⟨pad⟩"

_NOTES: Final = (
    "a reconstruction by others, fitted to the counts of a service: it has no ids, and says how often it was exact",
    "a count is that of a message less its frame, which takes up some line ends at the end of a text",
    "its number of ids is that of the pieces that ctok has found",
)


class CtokLoadOptions(plugin.Options):
    """The generation of the tokenizer."""

    vocabulary: Literal["v3", "v4.7", "v4.8"] = Field(
        description="v3 (Claude 3 to Opus 4.6), v4.7 (Opus 4.7) or v4.8 (Opus 4.8 and later models)"
    )


class CtokTokenizer(CountsAlone):
    """Counts of the text of a message; a lone surrogate becomes U+FFFD."""

    notes = _NOTES

    def __init__(self, vocabulary: str) -> None:
        import ctok

        version = f"{vocabulary.removeprefix('v')}.0"[:3]
        self._vocabulary, self._version, self._count = vocabulary, version, ctok.token_count
        self._frame = ctok.tokenize("a", version).count(_FRAME)
        self.vocab_size = len(ctok.pieces(version))

    def __reduce__(self) -> tuple[Any, ...]:
        return CtokTokenizer, (self._vocabulary,)

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        """An empty text has no tokens, although the frame of an empty message has one more."""
        return [self._count(text, self._version) - self._frame if text else 0 for text in texts]


SPEC = plugin.BackendSpec(
    name="ctok",
    summary="counts of Claude's tokenizers, without ids, as ctok has reconstructed them",
    load=lambda options: CtokTokenizer(options.vocabulary),
    load_options=CtokLoadOptions,
    requires=("ctok",),
    install="pip install ctok, with Python 3.12 or later",
    main="vocabulary",
    published={"claude-3": {"vocabulary": "v3"}, "claude-opus-4.7": {"vocabulary": "v4.7"}},
)
