"""The source ``jsonl``: one JSON object a line."""

from __future__ import annotations

from typing import Final

from tokbench.corpus.contract import CorpusSpec
from tokbench.sources.rows import RowFileOptions, RowFiles


class JsonlOptions(RowFileOptions):
    """Options of ``source: jsonl``."""


class JsonlSource(RowFiles):
    """The documents of JSON Lines files."""

    form = "jsonl"


SPEC: Final = CorpusSpec(
    name="jsonl",
    summary="JSON Lines files",
    open=JsonlSource,
    options=JsonlOptions,
)
