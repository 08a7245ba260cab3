"""The source ``datasets``: a dataset in the formats of Hugging Face's library, local or streamed from the hub."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import Field, model_validator

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.errors import InputError, did_you_mean, one_line
from tokbench.sources.files import RowGroup
from tokbench.sources.rows import RowDocuments, RowOptions
from tokbench.text.faults import Faults
from tokbench.text.rows import RowForm, TextRow, text_of_row
from tokbench.tokenizers.options import LocalPath

_SAVED: Final = ("dataset_info.json", "dataset_dict.json")


class DatasetsOptions(RowOptions):
    """Options of ``source: datasets``."""

    path: LocalPath | None = Field(
        default=None, description="a folder: saved with save_to_disk, or with data files that the library knows"
    )
    name: str | None = Field(default=None, description="instead: a name on the hub; it is streamed, not stored")
    config: str | None = Field(default=None, description="the dataset's configuration, where it has several")
    split: str = Field(default="train", description="the split to read")
    revision: str | None = Field(default=None, description="with name: a branch, a tag or a commit; main by default")
    limit: int | None = Field(default=None, ge=1, description="number of documents, from the first; default: all")
    group: RowGroup = Field(
        default="{split}",
        description="group name from {name}, {config}, {split} or any column; default: lang or language, or {split}",
    )

    @model_validator(mode="after")
    def _one_place(self) -> DatasetsOptions:
        if (self.path is None) == (self.name is None):
            raise ValueError("give either path (a local folder) or name (on the hub)")
        return self


class DatasetsSource:
    """The rows of one split, in the order of the dataset."""

    def __init__(self, options: DatasetsOptions) -> None:
        try:
            import datasets  # noqa: F401
        except ImportError as error:
            msg = "the source 'datasets' needs the library of that name: pip install 'tokbench[datasets]'"
            raise InputError(msg) from error
        if options.path is not None and not options.path.is_dir():
            msg = f"{str(options.path)!r} is not a folder; relative paths start at the configuration file's folder"
            raise InputError(msg)
        self._options = options
        self.licence = options.licence
        self.faults = Faults()

    @property
    def notes(self) -> Sequence[str]:
        """For the reader of the results, after a reading."""
        return self.faults.notes

    def documents(self) -> Iterator[Document]:
        options = self._options
        self.faults = Faults()
        place = str(options.path or options.name)
        names = {"name": place.rpartition("/")[2], "config": options.config or "default", "split": options.split}
        rows, form = self._rows(), RowForm(options.text, options.nulls)
        made = RowDocuments(options, options.group, names, place)
        for number in itertools.count(1):
            try:
                row = next(rows, None)
            except InputError:
                raise
            except Exception as error:
                raise InputError(self._unreadable(error)) from error
            if row is None:
                return
            text = text_of_row(row, form, self.faults, f"{place}:{number}".format)
            if text is not None:
                yield made.document(TextRow(number, row, text))

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        import datasets

        options = self._options
        if options.path is not None and any((options.path / name).exists() for name in _SAVED):
            loaded = datasets.load_from_disk(str(options.path))
            splits = loaded if isinstance(loaded, datasets.DatasetDict) else {options.split: loaded}
            if options.split not in splits:
                msg = f"{str(options.path)!r} has no split {options.split!r}; {did_you_mean(options.split, splits)}"
                raise InputError(msg)
            rows = splits[options.split]
        else:
            where = str(options.path or options.name)
            rows = datasets.load_dataset(
                where, options.config, split=options.split, revision=options.revision, streaming=True
            )
        yield from itertools.islice(rows, options.limit)

    def _unreadable(self, error: Exception) -> str:
        options = self._options
        where = f"the folder {str(options.path)!r}" if options.path else f"the dataset {options.name!r} on the hub"
        remedy = "" if options.path else "; without network save it elsewhere with save_to_disk and give its 'path'"
        return f"{where}, split {options.split!r}, cannot be read: {one_line(error)}{remedy}"


SPEC: Final = CorpusSpec(
    name="datasets",
    summary="a dataset of Hugging Face's library, local or streamed from the hub; needs the extra datasets",
    open=DatasetsSource,
    options=DatasetsOptions,
)
