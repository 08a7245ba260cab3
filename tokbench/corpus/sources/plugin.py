"""Registers the built-in corpus sources."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.corpus.sources.conllu import ConlluOptions, ConlluSource
from tokbench.corpus.sources.datasets import DatasetsOptions, DatasetsSource
from tokbench.corpus.sources.jsonl import JsonlOptions, JsonlSource
from tokbench.corpus.sources.parquet import ParquetOptions, ParquetSource
from tokbench.corpus.sources.python import StdlibOptions, StdlibSource
from tokbench.corpus.sources.sample import SampleOptions, SampleSource
from tokbench.corpus.sources.text import TextOptions, TextSource
from tokbench.plugin import CorpusSpec, hookimpl


@hookimpl
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    """Register the sources of this folder."""
    register(
        CorpusSpec(
            name="sample",
            summary="shipped: 66 sentences in 28 languages, code in 12 languages, hostile texts; CC0",
            open=SampleSource,
            options=SampleOptions,
        )
    )
    register(
        CorpusSpec(
            name="text",
            summary="text files, a document a file, line or paragraph",
            open=TextSource,
            options=TextOptions,
        )
    )
    register(CorpusSpec(name="jsonl", summary="JSON Lines files", open=JsonlSource, options=JsonlOptions))
    register(
        CorpusSpec(
            name="conllu",
            summary="treebanks in CoNLL-U, a document a sentence, with gold words",
            open=ConlluSource,
            options=ConlluOptions,
        )
    )
    register(
        CorpusSpec(
            name="parquet",
            summary="a column of Parquet files, streamed; needs the extra parquet",
            open=ParquetSource,
            options=ParquetOptions,
        )
    )
    register(
        CorpusSpec(
            name="datasets",
            summary="a dataset of Hugging Face's library, local or streamed from the hub; needs the extra datasets",
            open=DatasetsSource,
            options=DatasetsOptions,
        )
    )
    register(
        CorpusSpec(
            name="python",
            summary="the standard library's sources of the running Python",
            open=StdlibSource,
            options=StdlibOptions,
        )
    )
