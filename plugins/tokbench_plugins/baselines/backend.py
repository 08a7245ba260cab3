"""The baseline backends."""

from __future__ import annotations

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.baselines.pieces import load, train
from tokbench_plugins.baselines.units import UNITS

_UNITS = {
    "utf8_bytes": "every UTF-8 byte is a token: 256 ids",
    "utf16_units": "every UTF-16 code unit is a token: 65,536 ids",
    "utf32_units": "every code point is a token: 1,114,112 ids",
}
_PIECES = {
    "codepoints": "the most frequent characters of a text; all others are unknown",
    "whitespace_words": "the most frequent words of a text, with the space before them; all others are unknown",
}


class BaselineLoadOptions(plugin.Options):
    """A file saved by the same backend."""

    path: plugin.LocalPath = Field(description="a file saved by this backend (.pieces.json)")


def _units(name: str, summary: str) -> plugin.BackendSpec:
    return plugin.BackendSpec(name=name, summary=summary, load=lambda _: UNITS[name](), baseline=True)


def _pieces(name: str, summary: str) -> plugin.BackendSpec:
    return plugin.BackendSpec(
        name=name,
        summary=summary,
        load=lambda options: load(name, options.path),
        load_options=BaselineLoadOptions,
        train=lambda documents, vocab_size, _, progress: train(name, documents, vocab_size, progress),
        min_vocab_size=2,
        baseline=True,
        main="path",
        files=(plugin.FileKind(".json", marks=rf'(?=.*"tokbench-).*"kind"\s*:\s*"{name}"'),),
    )


SPECS = (
    *(_units(name, summary) for name, summary in _UNITS.items()),
    *(_pieces(name, summary) for name, summary in _PIECES.items()),
)
