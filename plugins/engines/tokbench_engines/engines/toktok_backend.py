"""The backend ``toktok``: counts of OpenAI's encodings by the package ``toktok-rs``, which returns no ids.

The package ``toktok`` splits words, and has a module of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench.plugin import BackendError, valid_unicode
from tokbench.tokenizers.engine_contract import CountsAlone

_SIZES: Final = {"cl100k_base": 100_277, "o200k_base": 200_019, "o200k_harmony": 201_088}


class ToktokLoadOptions(plugin.Options):
    """Its vocabulary."""

    encoding: Literal["cl100k_base", "o200k_base", "o200k_harmony"] = Field(
        description="cl100k_base, o200k_base or o200k_harmony"
    )


class ToktokTokenizer(CountsAlone):
    """Counts of ordinary text; a lone surrogate becomes U+FFFD."""

    notes = ("toktok counts tokens and gives no ids: whether text comes back, and ids are equal, cannot be seen",)

    def __init__(self, encoding: str) -> None:
        import toktok

        if not hasattr(toktok, "batch_count"):
            raise BackendError(
                "the module 'toktok' is that of another package: pip uninstall toktok, then pip install toktok-rs"
            )
        self._encoding, self._count = encoding, toktok.batch_count
        self.vocab_size = _SIZES[encoding]
        self._count([""], encoding)  # it loads the vocabulary with the first text

    def __reduce__(self) -> tuple[Any, ...]:
        return ToktokTokenizer, (self._encoding,)

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        counts: list[int]
        try:
            counts = self._count(texts, self._encoding, threads=1)
        except UnicodeEncodeError:
            counts = self._count(list(map(valid_unicode, texts)), self._encoding, threads=1)
        return counts


SPEC = plugin.BackendSpec(
    name="toktok",
    summary="counts of OpenAI's encodings, without ids, by toktok",
    load=lambda options: ToktokTokenizer(options.encoding),
    load_options=ToktokLoadOptions,
    requires=("toktok-rs",),
    install="pip install 'tokbench[engines]'",
    main="encoding",
    precedence=-3,
)
