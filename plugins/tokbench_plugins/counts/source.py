"""The source ``counts``: a table of counts instead of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import Field

from tokbench import plugin


class CountsOptions(plugin.Options):
    """Options of ``source: counts``."""

    path: plugin.LocalPath = Field(description="a table that tokbench count made")


class CountsSource:
    """A table of counts as a corpus for training."""

    licence = ""

    def __init__(self, options: CountsOptions) -> None:
        try:
            from tokbench_plugins.counts.facts import read_facts

            self._facts = read_facts(options.path)
        except ImportError as error:
            raise plugin.InputError("the source 'counts' needs pyarrow: pip install 'tokbench[counts]'") from error
        self._path = options.path
        self.files: Sequence[Path] = [options.path]

    @cached_property
    def counts(self) -> plugin.CountsFile:
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        left_out = self._facts.left_out
        notes = (f"{self._path.name}: {left_out}",) if left_out else ()
        return plugin.CountsFile(
            self._path, digest, self._facts.pattern, self._facts.documents, self._facts.bytes, notes
        )

    def documents(self) -> Iterator[plugin.Document]:
        raise plugin.InputError(f"{self._path}: counts have no documents")


SPEC: Final = plugin.CorpusSpec(
    name="counts",
    summary="a table of counts of pre-tokens, to train on",
    open=CountsSource,
    options=CountsOptions,
)
