"""The baseline backends."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.baselines.pieces import load, train
from tokbench_plugins.baselines.units import Utf8Bytes, Utf16Units, Utf32Units


class BaselineLoadOptions(plugin.Options):
    """A file saved by the same backend."""

    path: plugin.LocalPath = Field(description="a file saved by this backend (.pieces.json)")


def _units(name: str, summary: str, make: Callable[[], plugin.Tokenizer]) -> plugin.BackendSpec:
    return plugin.BackendSpec(name=name, summary=summary, load=lambda _: make(), baseline=True)


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
    _units("utf8_bytes", "every UTF-8 byte is a token: 256 tokens", Utf8Bytes),
    _units("utf16_units", "every UTF-16 code unit is a token: 65,536 tokens", Utf16Units),
    _units("utf32_units", "every code point is a token: 1,114,112 tokens", Utf32Units),
    _pieces("codepoints", "the most frequent characters of a text; all others are unknown"),
    _pieces(
        "whitespace_words", "the most frequent words of a text, with the space before them; all others are unknown"
    ),
)
