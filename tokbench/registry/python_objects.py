"""Texts and tokenizers that are objects of Python: written to files of the store, named by their sha256.

A run sees the files alone, so workers, the cache and the results treat them as any other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from tokbench.corpus.languages import LANGUAGE_FIELDS, row_language
from tokbench.foundation.errors import InputError, did_you_mean, one_line
from tokbench.foundation.store import default_folder, open_store
from tokbench.registry.plugins import Registry
from tokbench.registry.tokenizer_names import Resolved
from tokbench.text.find import template_of
from tokbench.text.formats import FIELDS
from tokbench.text.given import check_text, columns_of, refuse_collection
from tokbench.text.rows import first_field
from tokbench.text.templates import template_at, template_fields
from tokbench.tokenizers.options import GivenOptions

T = TypeVar("T")


def with_files(data: Mapping[str, Any], registry: Registry) -> Mapping[str, Any]:
    """Return a configuration whose texts and tokenizers are files.

    A corpus may be a list of texts, a column, or a frame; or a mapping with ``texts`` and the options of ``jsonl``.
    """

    def tokenizer(_name: str, value: Any) -> Any:
        resolved = None if value is None or isinstance(value, str | Mapping) else of_object(value, registry)
        return {"backend": resolved.backend, **resolved.options} if resolved else value

    made = dict(data)
    for section, convert in (("corpora", _corpus), ("tokenizers", tokenizer)):
        if isinstance(entries := data.get(section), Mapping):
            made[section] = {name: convert(name, value) for name, value in entries.items()}
    return made


def of_object(tokenizer: Any, registry: Registry) -> Resolved | None:
    """Return what loads a library's tokenizer from its file; ``None`` if no backend knows its class."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(tokenizer).__mro__}
    for spec in registry.backends:
        save = spec.save_object
        if save and spec.requires[0] in libraries:
            try:
                folder, options = _kept(partial(save, tokenizer))
            except Exception as error:
                kind = type(tokenizer).__name__
                raise InputError(f"the {kind} cannot be written to a file: {one_line(error)}") from error
            return Resolved(spec.name, {**options, "path": str(folder / options["path"])})
    return None


def _kept(write: Callable[[Path], T]) -> tuple[Path, T]:
    """Let files be written, and return their folder in the store, named by what they hold."""
    store = open_store()
    root = (store.folder if store else default_folder()).absolute()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=root) as made:
        written = write(Path(made))
        sha, files = hashlib.sha256(), sorted(Path(made).iterdir())
        for file in files:
            with file.open("rb") as data:
                sha.update(f"{file.name}\n{hashlib.file_digest(data, 'sha256').hexdigest()}\n".encode())
        folder = root / f"object-{sha.hexdigest()}" / "in"  # where the store looks for what it may delete
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in files:
            os.replace(file, folder / file.name)  # noqa: PTH105 - atomic
    return folder, written


def _corpus(name: str, value: Any) -> Any:
    keys: GivenOptions = {}
    if isinstance(value, Mapping) and "texts" in value:
        keys = {key: option for key, option in value.items() if key != "texts"}
        value = value["texts"]
    elif isinstance(value, Mapping):
        return value
    place, columns = f"corpora.{name}", columns_of(value)
    if not columns:
        refuse_collection(value, place)
    languages = [field for field in LANGUAGE_FIELDS if field in columns and "group" not in keys]
    keys.setdefault("group", "{lang}" if languages else template_of(str(name)))
    rows = _rows(place, value, keys, columns, languages)
    if languages:
        rows = ({**row, "lang": row_language(row) or str(name)} for row in rows)

    def write(folder: Path) -> None:
        with (folder / "texts.jsonl").open("w", encoding="ascii") as file:
            file.writelines(json.dumps(row, default=_plain) + "\n" for row in rows)

    folder, _ = _kept(write)
    return {"source": "jsonl", **keys, "path": str(folder / "texts.jsonl")}


def _rows(
    place: str, texts: Any, keys: Mapping[str, Any], columns: Sequence[Any], languages: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a frame, with the columns of languages and of the options, or of a list of texts."""
    text = keys.get("text") or next((name for name in FIELDS if name in columns), FIELDS[0])
    if not columns:
        rows: Iterable[Mapping[str, Any]] = ({text: one} for one in texts)
    else:
        fields = template_fields(template_at(str(keys["group"]), f"{place}.group"))
        inside = [name if name in columns else first_field(name) for name in fields]
        named = [text, keys.get("key"), keys.get("segments"), *(languages or inside)]
        wanted = list(dict.fromkeys(filter(None, named)))
        if lacking := [name for name in wanted if name not in columns]:
            raise InputError(f"{place}: has no column {lacking[0]!r}; {did_you_mean(lacking[0], map(str, columns))}")
        rows = (dict(zip(wanted, row, strict=True)) for row in zip(*(texts[name] for name in wanted), strict=True))
    for number, row in enumerate(rows, 1):
        check_text(row[text], place, number)
        yield row


def _plain(value: Any) -> Any:
    """Return the list or number of an array's or frame's value."""
    convert = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    return convert() if convert else str(value)
