"""The corpus sources that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.corpus.jsonl import JsonlOptions, JsonlSource
from tokbench.corpus.sample import SampleOptions, SampleSource
from tokbench.corpus.source import CorpusSpec
from tokbench.corpus.stdlib import StdlibOptions, StdlibSource
from tokbench.corpus.text import TextOptions, TextSource
from tokbench.hookspecs import hookimpl

__all__ = ["register_corpora"]


@hookimpl
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    """Bring ``sample``, ``text``, ``jsonl`` and ``python``."""
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
            name="python",
            summary="the standard library's sources of the running Python",
            open=StdlibSource,
            options=StdlibOptions,
        )
    )
