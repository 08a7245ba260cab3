"""The baseline backends: lower and upper bounds of every comparison.

``utf8_bytes``, ``utf16_units`` and ``utf32_units`` need no training and lose nothing. ``codepoints``
and ``whitespace_words`` know the most frequent characters and words of a text; the rest is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field

from tokbench import plugin

_UNITS = {
    "utf8_bytes": "every UTF-8 byte is a token: 256 ids",
    "utf16_units": "every UTF-16 code unit is a token: 65,536 ids",
    "utf32_units": "every code point is a token: 1,114,112 ids",
}
_PIECES = {
    "codepoints": "the most frequent characters of a text; all others are unknown",
    "whitespace_words": "the most frequent words of a text, with the space before them; all others are unknown",
}


class LoadOptions(plugin.Options):
    """A file saved by the same backend."""

    path: plugin.LocalPath = Field(description="a file saved by this backend (.pieces.json)")


def _units(name: str) -> plugin.BackendSpec:
    def load(_: plugin.Options) -> plugin.Tokenizer:
        from tokbench_plugins.baselines.units import UNITS

        return UNITS[name]()

    return plugin.BackendSpec(name=name, summary=_UNITS[name], load=load)


def _pieces(name: str) -> plugin.BackendSpec:
    def load(options: LoadOptions) -> plugin.Tokenizer:
        from tokbench_plugins.baselines.pieces import load

        return load(name, options.path)

    def train(documents: Iterable[str], vocab_size: int, _: Any, progress: plugin.TrainProgress) -> plugin.Tokenizer:
        from tokbench_plugins.baselines.pieces import train

        return train(name, documents, vocab_size, progress)

    return plugin.BackendSpec(
        name=name,
        summary=_PIECES[name],
        load=load,
        load_options=LoadOptions,
        train=train,
        min_vocab_size=2,
    )


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Bring all five."""
    for name in _UNITS:
        register(_units(name))
    for name in _PIECES:
        register(_pieces(name))
