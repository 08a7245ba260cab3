"""The source ``counts``: a table of counts instead of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import Field

from tokbench import plugin
from tokbench.corpus.contract import CountedChunk
from tokbench.text.find import find_files
from tokbench.tokenizers.options import FilesPath

_COLUMNS: Final = ("chunk", "count", "part")


class CountsOptions(plugin.Options):
    """Options of ``source: counts``."""

    path: FilesPath = Field(description="a table that tokbench count made, or its address")
    group: str = Field(default="", description="name of the text of a table without groups; default: by the file")


def table_at(path: Path | str) -> Path:
    """Return the table of a path, or a copy of the one at an address; raise InputError if that is not one file."""
    if "://" not in str(path):
        return Path(path)
    copies = find_files(path)
    if len(copies) > 1:
        raise plugin.InputError(f"{path}: {len(copies):,} files match; give one, or add them: tokbench count --add")
    return copies[0]


class CountsSource:
    """A table of counts as a corpus."""

    licence = ""

    def __init__(self, options: CountsOptions) -> None:
        self._path, self._options = table_at(options.path), options
        try:
            from tokbench_plugins.counts.facts import read_facts

            self._facts = read_facts(self._path)
        except ImportError as error:
            raise plugin.InputError("the source 'counts' needs pyarrow: pip install 'tokbench[counts]'") from error
        self.files: Sequence[Path] = [self._path]

    @cached_property
    def counts(self) -> plugin.CountsFile:
        from tokbench_plugins.counts.facts import sha256_of

        left_out = self._facts.left_out
        notes = (f"{self._path.name}: {left_out}",) if left_out else ()
        facts = self._facts
        digest = sha256_of(self._path)
        return plugin.CountsFile(self._path, digest, facts.pattern, facts.documents, facts.bytes, notes)

    @cached_property
    def groups(self) -> dict[str, int]:
        """The number of rows of each group."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        counted = pc.value_counts(pq.read_table(self._path, columns=["group"])["group"])
        return {self._named(pair["values"]): pair["counts"] for pair in counted.to_pylist()}

    def chunks(self) -> Iterator[CountedChunk]:
        """Yield the rows, group by group."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        for group in self._facts.groups:
            name = self._named(group)
            for batch in pq.ParquetFile(self._path).iter_batches(1 << 16):
                rows = batch.filter(pc.equal(batch.column("group"), group)).to_pydict()
                for chunk, times, part in zip(*(rows[column] for column in _COLUMNS), strict=True):
                    yield CountedChunk(chunk.decode(), times, name, part)

    def _named(self, group: str) -> str:
        return group or self._options.group or self._path.stem

    def documents(self) -> Iterator[plugin.Document]:
        raise plugin.InputError(f"{self._path}: counts have no documents")


SPEC: Final = plugin.CorpusSpec(
    name="counts",
    summary="a table of counts of pre-tokens, to train and to measure on",
    open=CountsSource,
    options=CountsOptions,
)
