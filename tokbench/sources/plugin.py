"""Registers the built-in corpus sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tokbench.plugin import CorpusSpec, Options, Source, hookimpl
from tokbench.sources.conllu import ConlluOptions, ConlluSource
from tokbench.sources.datasets import DatasetsOptions, DatasetsSource
from tokbench.sources.jsonl import JsonlOptions, JsonlSource
from tokbench.sources.morphemes import MorphemesOptions, MorphemesSource
from tokbench.sources.parquet import ParquetOptions, ParquetSource
from tokbench.sources.python import StdlibOptions, StdlibSource
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.sources.text import TextOptions, TextSource

_SOURCES: Final[dict[str, tuple[Callable[[Any], Source], type[Options], str]]] = {
    "sample": (
        SampleSource,
        SampleOptions,
        "shipped: 66 sentences in 28 languages, code in 12 languages, hostile texts; CC0",
    ),
    "text": (TextSource, TextOptions, "text files, a document a file, line or paragraph"),
    "jsonl": (JsonlSource, JsonlOptions, "JSON Lines files"),
    "conllu": (ConlluSource, ConlluOptions, "treebanks in CoNLL-U, a document a sentence, with gold words"),
    "morphemes": (
        MorphemesSource,
        MorphemesOptions,
        "lists of words with morphemes, a document a word: UniMorph, MorphyNet, SIGMORPHON 2022, MorphScore",
    ),
    "parquet": (ParquetSource, ParquetOptions, "a column of Parquet files, streamed; needs the extra parquet"),
    "datasets": (
        DatasetsSource,
        DatasetsOptions,
        "a dataset of Hugging Face's library, local or streamed from the hub; needs the extra datasets",
    ),
    "python": (StdlibSource, StdlibOptions, "the standard library's sources of the running Python"),
}
"""By name, the source, its options and its summary."""


@hookimpl
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    """Register the sources of this folder."""
    for name, (source, options, summary) in _SOURCES.items():
        register(CorpusSpec(name=name, summary=summary, open=source, options=options))
