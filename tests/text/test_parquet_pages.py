"""Parquet files whose pages unpack to far more than the file has."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tokbench.foundation.errors import InputError
from tokbench.text import read, rows
from tokbench.text.cuts import reading
from tokbench.text.pages import page_sizes
from tokbench.text.rows import RowForm, rows_of

LONG = 5_000_000


def written(path: Path, texts: list[str], **how: object) -> Path:
    pq.write_table(pa.table({"text": texts}), path, compression="zstd", **how)
    return path


def texts_of(path: Path) -> list[int]:
    with reading(path) as reader:
        return [len(row.text) for row in rows_of(reader, RowForm())]


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_page_sizes_are_those_of_the_texts(tmp_path: Path, version: str, dictionary: bool) -> None:
    how = {"data_page_version": version, "use_dictionary": dictionary}
    path = written(tmp_path / "a.parquet", ["a" * 1000, "b" * 500, "a" * 1000], **how)
    with path.open("rb") as file:
        sizes = page_sizes(file, pq.read_metadata(path).row_group(0).column(0))
    texts = 1500 + 2 * 4 if dictionary else 2500 + 3 * 4
    assert sizes.dictionary == texts * dictionary
    assert texts <= sizes.largest <= texts + 20


@pytest.mark.slow
def test_rows_of_one_long_text_take_few(tmp_path: Path) -> None:
    path = written(tmp_path / "bomb.parquet", ["x" * LONG] * 60)
    assert path.stat().st_size < LONG / 1000
    before = pa.default_memory_pool().max_memory()
    assert texts_of(path) == [LONG] * 60
    assert pa.default_memory_pool().max_memory() <= max(before, 40 * LONG)


def test_long_page_is_refused_before_unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "DOCUMENT_LIMIT", 5 * LONG)
    path = written(tmp_path / "bomb.parquet", ["x" * LONG] * 11, use_dictionary=False, data_page_size=2**31 - 1)
    before = pa.total_allocated_bytes()
    with pytest.raises(InputError, match=r"bomb\.parquet: has a page of 55 MB"):
        texts_of(path)
    assert pa.total_allocated_bytes() < before + LONG


@pytest.mark.parametrize("head", [b"\xff", b"\x1c", b"\x19\xf1\xff\xff\xff\x7f"])
def test_damaged_page_head_is_told(tmp_path: Path, head: bytes) -> None:
    path = written(tmp_path / "a.parquet", ["a" * 100] * 10)
    data = bytearray(path.read_bytes())
    data[4:4] = head * 20_000
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.parquet: is not a Parquet file that can be read"):
        texts_of(path)


@pytest.mark.parametrize("name", ["a.parquet", "a.txt"])
def test_texts_of_a_command_have_a_limit_in_all(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "DOCUMENT_LIMIT", 3000)
    path = tmp_path / name
    path.write_text("x" * 2000) if name == "a.txt" else written(path, ["x" * 1000, "y" * 1000])
    assert [len(one.text) for one in read.read_texts([str(path)]).documents[str(path)]] in ([2000], [1000, 1000])
    path.with_name("b.txt").write_text("z" * 1001)
    with pytest.raises(InputError, match="all of which is kept in memory"):
        read.read_texts([str(path), str(path.with_name("b.txt"))])
