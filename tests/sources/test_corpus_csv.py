"""The source ``csv``: each table gives the texts of the same rows in JSON Lines."""

import csv
import io
import json

import pytest

import tokbench
from tokbench.sources.rows import CsvOptions, RowFiles

TEXTS = ["née; an egg", 'two\nlines, and a "quote"', "a\ttab"]


def table(path, encoding="utf-8", **form):
    buffer = io.StringIO()
    writer = csv.writer(buffer, **form)
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(TEXTS))
    path.write_bytes(buffer.getvalue().encode(encoding))
    return path


@pytest.mark.parametrize(
    ("name", "form", "options"),
    [
        ("plain.csv", {}, {}),
        ("tabs.tsv", {"delimiter": "\t"}, {}),
        ("excel-utf8.csv", {"encoding": "utf-8-sig", "delimiter": ";"}, {}),
        ("excel-unicode.csv", {"encoding": "utf-16", "delimiter": "\t"}, {}),
        ("western.csv", {"encoding": "cp1252", "delimiter": ";"}, {"encoding": "cp1252"}),
        ("bars.csv", {"delimiter": "|", "quotechar": "'"}, {"delimiter": "|", "quotes": "'"}),
    ],
)
def test_tables_give_the_numbers_of_rows(tmp_path, name, form, options):
    table(tmp_path / name, **form)
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    corpora = {
        "csv": {"source": "csv", "path": tmp_path / name, "group": "a", **options},
        "rows": {"source": "jsonl", "path": tmp_path / "r.jsonl", "group": "a"},
    }
    config = {"schema": "tokbench/1", "name": "t", "corpora": corpora, "tokenizers": {"b": "utf8_bytes"}}
    results = tokbench.run(config | {"metrics": ["compression"]}, workers=0)
    values = {name: [cell.value for cell in results.cells if cell.corpus == name] for name in corpora}
    assert values["csv"] == values["rows"] != []
    assert results.corpora["csv"].bytes == sum(len(text.encode()) for text in TEXTS) == results.corpora["rows"].bytes


@pytest.mark.parametrize(
    ("data", "options", "where", "says"),
    [
        (b"text\na,b\n", {}, ":2", "as many fields"),
        (b"text\n\xe9\n", {}, "", "encoding: cp1252"),
        (b'text\n"a', {}, "", "not a table in CSV"),
        (b"words\na\n", {}, ":2", "has no field 'text'"),
    ],
)
def test_damaged_tables_are_refused(tmp_path, data, options, where, says):
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(tokbench.InputError) as caught:
        list(RowFiles("csv", CsvOptions(path=tmp_path / "t.csv", **options)).documents())
    [problem] = caught.value.problems
    assert problem.where == f"{tmp_path / 't.csv'}{where}"
    assert says in problem.message


@pytest.mark.parametrize(("errors", "texts"), [("replace", ["na\ufffdve", "two"]), ("skip", ["nave", "two"])])
def test_bad_bytes_of_a_table(tmp_path, errors, texts):
    (tmp_path / "empty.csv").touch()
    (tmp_path / "rows.csv").write_bytes(b"text,n\nna\xefve,1\ntwo,2\n")
    source = RowFiles("csv", CsvOptions(path=tmp_path / "*.csv", errors=errors, group="all"))
    assert [document.text for document in source.documents()] == texts
    bad, empty = sorted(source.notes)
    assert ("not UTF-8" in bad and bad.endswith("rows.csv:2"), empty.endswith("empty.csv")) == (True, True)
