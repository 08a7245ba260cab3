"""Reads rows: JSON Lines, CSV and TSV, Parquet; and the text of a row, by one rule."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from tokbench.corpus.contract import DOCUMENT_LIMIT, too_long
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.files import is_utf8
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.text.cuts import TextReader
from tokbench.text.faults import BAD_BYTES, NULLS, Faults, Nulls, Place
from tokbench.text.formats import FIELDS
from tokbench.text.pages import page_sizes

_ROWS: Final = 1024
_BATCH: Final = 64 << 20
"""Bytes of a batch of rows, about."""
_MOST_PACKED: Final = 512 * 10**6
"""Bytes of a Parquet file that is packed, which is unpacked in memory."""
_BUFFER: Final = 1 << 20
"""Of a column; by default Arrow reads whole columns."""
_LIMIT: Final = re.compile("size limit|exceed|too (large|long|big|many)|overflow|capacity|larger than", re.IGNORECASE)
"""What pyarrow says of a sound file that is too large for it."""
_LONGEST_FIELD: Final = (1 << 31) - 1
_A_LINE: Final = "write an object a line, of an array for example with: jq -c '.[]'"
_BOMS: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class RowForm(NamedTuple):
    """How rows are read, and where their text is."""

    text: str = ""
    """The field; empty for the first of ``FIELDS`` that a row has."""
    nulls: Nulls = "error"
    others: tuple[str, ...] = ()
    """Further fields that are needed."""
    optional: tuple[str, ...] = ()
    """Fields that are read if there are such."""
    delimiter: str = ""
    quotes: str = '"'


class TextRow(NamedTuple):
    """A row of a file."""

    number: int
    """Its line in JSON Lines; in a table from 1, or from 2 behind a header."""
    values: Mapping[str, Any]
    text: str = ""


def text_of_row(row: Any, form: RowForm, faults: Faults, where: Place) -> str | None:
    """Return the text of a row; ``None`` for a null that is left out.

    ``faults`` decides on lone surrogates and counts them, as it counts nulls.

    Raises:
        InputError: with ``where()``: not a row, no such field, or its value is not Unicode text.

    >>> text_of_row({"id": 1, "body": "née"}, RowForm(), Faults(), str)
    'née'
    """
    if not isinstance(row, dict | Mapping):  # a dict first, which is quick to tell
        raise _refused(where, f"not a JSON object; {_A_LINE}")
    name = form.text or next(filter(row.__contains__, FIELDS), "")
    try:
        text = value_of(row, name)
    except KeyError:
        wanted = f"{name!r}" if name else "'text', 'content', 'body' or 'sentence'"
        found = ", ".join(sorted(map(str, row)))
        raise _refused(where, f"has no field {wanted}; it has {found}") from None
    if text is None and form.nulls == "skip":
        faults.add(NULLS, where())
        return None
    if text is None:
        raise _refused(where, f"field {name!r} is null; leave such rows out with the option 'nulls: skip'")
    if not isinstance(text, str):
        raise _refused(where, f"field {name!r} is not a string")
    return text if text.isascii() else faults.without_surrogates(text, where, f"field {name!r}")


def value_of(row: Mapping[str, Any], name: str) -> Any:
    """Return a field of a row, or what is inside another: ``doc.text``, ``tags[0]``; raise KeyError without it.

    >>> value_of({"doc": {"text": "a"}}, "doc.text"), value_of({"doc.text": "b"}, "doc.text")
    ('a', 'b')
    """
    value: Any = row
    for part in [name] if name in row else name.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, str | list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise KeyError(name)
    return value


def first_field(name: str) -> str:
    """Return the field of a row that a name such as ``doc.text`` or ``tags[0]`` reaches into."""
    return re.split(r"[.[]", name, maxsplit=1)[0]


def _refused(where: Place, message: str) -> InputError:
    return InputError([Problem(where(), message)])


def parse_row(line: str | bytes, where: Place) -> Any:
    """Return the row of a line of JSON; an InputError with its place and column."""
    start, end = ("[", "\r\n") if isinstance(line, str) else (b"[", b"\r\n")
    try:
        return parse_json(line.rstrip(end))  # type: ignore[arg-type]
    except TextError as error:
        advice = f"; {_A_LINE}" if line.startswith(start) else ""  # type: ignore[arg-type]
        raise InputError([Problem(f"{where()}:{error.column}", error.message + advice)]) from error


def rows_of(reader: TextReader, how: RowForm) -> Iterator[TextRow]:
    """Yield the rows of a file in ``jsonl``, ``csv`` or ``parquet`` with their texts, but for nulls that are left out.

    Raises:
        InputError: a row cannot be read, is too long, or has no text, with its place.
    """
    for row in rows_as_they_are(reader, how):
        text = text_of_row(row.values, how, reader.faults, f"{reader.place}:{row.number}".format)
        if text is not None:
            yield TextRow(row.number, row.values, text)


def rows_as_they_are(reader: TextReader, how: RowForm) -> Iterator[TextRow]:
    """Yield the rows of a file without asking for their texts; raise an InputError if one cannot be read."""
    return {"jsonl": _json_rows, "csv": _csv_rows, "parquet": _parquet_rows}[reader.form](reader, how)


def _json_rows(reader: TextReader, _: RowForm) -> Iterator[TextRow]:
    for number, line, _end in reader.documents("line"):
        if not line.isspace():
            yield TextRow(number, parse_row(line, lambda: f"{reader.place}:{number}"))  # noqa: B023 - called at once


def _csv_rows(reader: TextReader, how: RowForm) -> Iterator[TextRow]:
    encoding = _BOMS.get(reader.head[:2], "utf-8-sig")
    # What is not UTF-8 becomes a surrogate, which ``faults`` replaces or drops.
    errors = "strict" if reader.faults.errors == "strict" else "surrogateescape"
    file = io.TextIOWrapper(reader.file, encoding, errors, newline="")
    try:
        for number, row in enumerate(_table(reader, file, how, encoding), 2):  # as a spreadsheet counts rows
            where = f"{reader.place}:{number}".format
            if None in row or None in row.values():
                message = "has not as many fields as the header; check 'delimiter' and 'quotes'"
                raise _refused(where, message)
            name = how.text or next((name for name in FIELDS if name in row), "")
            if errors != "strict" and name in row:
                row[name] = reader.faults.without_surrogates(row[name], where, kind=BAD_BYTES)
            yield TextRow(number, row)
    except UnicodeError as error:
        message = f"is not text in {encoding}: {error}; name its encoding, such as encoding: cp1252"
        raise InputError([Problem(reader.place, message)]) from error
    except csv.Error as error:
        if "field limit" in str(error):
            raise too_long(reader.place, reader.most) from error
        message = f"is not a table in CSV: {error}; check 'delimiter' and 'quotes'"
        raise InputError([Problem(reader.place, message)]) from error
    finally:
        file.detach()  # or it closes what another opened


def _table(reader: TextReader, file: io.TextIOWrapper, how: RowForm, encoding: str) -> csv.DictReader[str]:
    csv.field_size_limit(min(reader.most, _LONGEST_FIELD))
    header = reader.head.decode(encoding, "replace").lstrip("\r\n").partition("\n")[0]
    delimiter = how.delimiter or max(",;\t", key=header.count)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if how.quotes else csv.QUOTE_NONE
    return csv.DictReader(file, delimiter=delimiter, quotechar=how.quotes or None, quoting=quoting, strict=True)


def _parquet_rows(reader: TextReader, how: RowForm) -> Iterator[TextRow]:
    try:
        from pyarrow import ArrowCapacityError, ArrowException, ArrowNotImplementedError, default_memory_pool
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        message = "is a Parquet file, which needs pyarrow: pip install 'tokbench[parquet]'"
        raise InputError([Problem(reader.place, message)]) from error
    if not reader.head:
        return
    number, data = 0, io.BytesIO(reader.file.read(_MOST_PACKED + 1)) if reader.path is None else reader.path
    if isinstance(data, io.BytesIO) and data.getbuffer().nbytes > _MOST_PACKED:
        raise _refused(lambda: reader.place, f"is packed, and has more than {_MOST_PACKED // 10**6} MB: unpack it")
    try:
        with ParquetFile(data, pre_buffer=False, buffer_size=_BUFFER) as file:
            names = file.schema_arrow.names
            text = how.text or next((name for name in FIELDS if name in names), FIELDS[0])
            needed = (name if name in names else first_field(name) for name in (text, *how.others))
            columns = list(dict.fromkeys([*needed, *(name for name in how.optional if name in names)]))
            if lacking := [name for name in columns if name not in names]:
                message = f"has no column {lacking[0]!r}; {did_you_mean(lacking[0], names)}"
                raise InputError([Problem(reader.place, message)])
            for group in range(file.num_row_groups):
                rows = _rows_at_once(reader, data, file.metadata.row_group(group), columns)
                for batch in file.iter_batches(rows, [group], columns, use_threads=False):
                    for values in _batch_rows(batch, text, reader, number):
                        number += 1
                        yield TextRow(number, values)
    except (ArrowException, EOFError, OSError, MemoryError) as error:
        said = " ".join(str(error).split()) or "out of memory"
        message = f"is not a Parquet file that can be read ({said}); write it again"
        if isinstance(error, MemoryError | ArrowCapacityError | ArrowNotImplementedError) or _LIMIT.search(said):
            message = f"is beyond what pyarrow can read ({said}); write it with smaller row groups and pages"
        raise InputError([Problem(reader.place, message)]) from error
    finally:
        default_memory_pool().release_unused()  # or Arrow keeps it for the tables that may come


def _rows_at_once(reader: TextReader, data: Path | io.BytesIO, group: Any, columns: Sequence[str]) -> int:
    """Return the rows of a batch that memory has room for; an InputError if that is less than a page."""
    most, rows = min(reader.most, 2 * DOCUMENT_LIMIT), _ROWS
    with data.open("rb") if isinstance(data, Path) else nullcontext(data) as file:
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema.partition(".")[0] in columns:
                sizes = page_sizes(file, column)
                if sizes.largest > most:
                    size, advice = sizes.largest // 10**6, "write it again with smaller pages (write_batch_size=1)"
                    message = f"has a page of {size:,} MB, and {most // 10**6:,} are allowed; {advice}"
                    raise InputError([Problem(reader.place, message)])
                average = column.total_uncompressed_size // max(1, group.num_rows)
                rows = min(rows, _BATCH // max(average, sizes.dictionary, 1))
    return max(1, rows)


def _batch_rows(batch: Any, text: str, reader: TextReader, before: int) -> Sequence[Any]:
    """Return the rows of a batch; Arrow does not check that texts are UTF-8."""
    try:
        rows: list[Any] = batch.to_pylist()
    except UnicodeDecodeError:
        at = batch.schema.get_field_index(text)
        if at < 0:  # inside another
            raise InputError([Problem(reader.place, f"field {text!r} is not UTF-8")]) from None
        rows = batch.set_column(at, text, batch.column(at).cast("binary")).to_pylist()
        for number, row in enumerate(rows, before + 1):
            data = row[text]
            if data is not None:
                problem = Problem(f"{reader.place}:{number}", f"field {text!r} is not UTF-8")
                row[text] = data.decode() if is_utf8(data) else reader.faults.mended(data, problem)
    return rows
