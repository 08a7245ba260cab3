"""Sources of rows: ``jsonl``, ``parquet`` and ``datasets``, and gold morphemes in all of them."""

import json

import pytest

import tokbench
from tokbench.sources.datasets import DatasetsOptions, DatasetsSource
from tokbench.sources.rows import CsvOptions, RowFileOptions, RowFiles

ROWS = [
    {"id": "x", "text": "unkind words!", "lang": "en", "pieces": [["un", "kind"], ["word", "s"], ["!"]]},
    {"id": "y", "text": "né", "lang": "fr", "pieces": [["né"]]},
]


def jsonl(tmp_path, *rows):
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path / "r.jsonl"


def refused(source):
    with pytest.raises(tokbench.InputError) as caught:
        list(source.documents())
    return str(caught.value)


def test_segments_are_gold_words_and_morphemes(tmp_path):
    one, other = RowFiles(
        "jsonl", RowFileOptions(path=jsonl(tmp_path, *ROWS), segments="pieces", group="{lang}")
    ).documents()
    assert one.gold.words == ((0, 6), (7, 12), (12, 13))
    assert one.gold.punctuation == (False, False, True)
    assert one.gold.morphemes == (2, 11)
    assert (other.gold.words, other.gold.morphemes) == (((0, 2),), ())


@pytest.mark.parametrize(
    ("segments", "says"),
    [
        (["un", "kynd"], "does not spell the text: 'kynd' is not what follows in the text at character 3: 'kind'"),
        (["un", ["kind"]], 'must be a list of strings, or of lists of them, such as [["un", "kind"], ["!"]]'),
        ("un-kind", "must be a list of strings"),
    ],
)  # fmt: skip
def test_segments_that_are_wrong(tmp_path, segments, says):
    path = jsonl(tmp_path, ROWS[1] | {"s": ["né"]}, {"text": "unkind", "s": segments})
    message = refused(RowFiles("jsonl", RowFileOptions(path=path, segments="s")))
    assert message.startswith(f"{path}:2: field 's' {says}")


def parquet(tmp_path, rows, row_group=100):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet", row_group_size=row_group)
    return tmp_path / "r.parquet"


def open_rows(kind, tmp_path, rows, **options):
    """Open rows as files of every kind."""
    if kind == "jsonl":
        return RowFiles("jsonl", RowFileOptions(path=jsonl(tmp_path, *rows), **options))
    if kind == "parquet":
        return RowFiles("parquet", RowFileOptions(path=parquet(tmp_path, rows), **options))
    if kind == "csv":
        lines = [",".join(rows[0]), *(",".join(value or "" for value in row.values()) for row in rows)]
        (tmp_path / "r.csv").write_text("\n".join(lines), encoding="utf-8")
        return RowFiles("csv", CsvOptions(path=tmp_path / "r.csv", **options))
    pytest.importorskip("datasets").Dataset.from_list(rows).save_to_disk(str(tmp_path / "r"))
    return DatasetsSource(DatasetsOptions(path=tmp_path / "r", **options))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "datasets"])
@pytest.mark.parametrize(
    ("columns", "options", "groups"),
    [
        ({"lang": ["en", None]}, {}, ["en", "r"]),
        ({"language": ["de", "en"]}, {}, ["de", "en"]),
        ({"lang": ["", "fr"], "language": ["de", "en"]}, {}, ["de", "fr"]),
        ({"tongue": ["de", "en"]}, {}, ["r", "r"]),
        ({"lang": ["de", "en"]}, {"group": "all"}, ["all", "all"]),
        ({"lang": ["de", "en"], "kind": ["a", "b"]}, {"group": "{kind}"}, ["a", "b"]),
    ],
)
def test_rows_are_grouped_by_their_language_unless_a_group_is_given(tmp_path, kind, columns, options, groups):
    rows = [{"text": f"t{k}", **{name: values[k] for name, values in columns.items()}} for k in range(2)]
    found = [document.group for document in open_rows(kind, tmp_path, rows, **options).documents()]
    assert found == [group.replace("r", "train") if group == "r" and kind == "datasets" else group for group in groups]


def test_parquet_gives_what_jsonl_gives(tmp_path):
    rows = [row | {"id": f"{row['id']}{k}", "unused": [k]} for k in range(70) for row in ROWS]
    options = {"key": "id", "segments": "pieces", "group": "{lang}-{stem}"}
    found = list(RowFiles("parquet", RowFileOptions(path=parquet(tmp_path, rows), **options)).documents())
    same = list(RowFiles("jsonl", RowFileOptions(path=jsonl(tmp_path, *rows), **options)).documents())
    assert len(found) == 140
    assert [each._replace(origin="") for each in found] == [each._replace(origin="") for each in same]
    assert found[139].origin == "r.parquet:140"


def test_a_column_that_is_not_there(tmp_path):
    path = parquet(tmp_path, [{"text": "a"}])
    message = refused(RowFiles("parquet", RowFileOptions(path=path, text="txt")))
    assert message == f"{path}: has no column 'txt'; did you mean 'text'?"


@pytest.fixture
def saved(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    split = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"train": split, "dev": split.select([1])}).save_to_disk(tmp_path / "dict")
    split.save_to_disk(tmp_path / "one")
    (tmp_path / "files").mkdir()
    jsonl(tmp_path / "files", *ROWS).rename(tmp_path / "files" / "train.jsonl")
    return tmp_path


def rows_of(**options):
    return list(DatasetsSource(DatasetsOptions(**options)).documents())


@pytest.mark.parametrize("folder", ["one", "dict", "files"])
def test_a_dataset_in_a_folder(saved, folder):
    found = rows_of(path=saved / folder, key="id", group="{lang}-{split}", segments="pieces")
    assert [(each.text, each.group, each.key, each.origin) for each in found] == [
        ("unkind words!", "en-train", "x", f"{folder}:1"),
        ("né", "fr-train", "y", f"{folder}:2"),
    ]
    assert found[0].gold.morphemes == (2, 11)
    assert [each.text for each in rows_of(path=saved / folder, limit=1)] == ["unkind words!"]


def test_a_dataset_that_is_not_as_asked(saved):
    assert [each.text for each in rows_of(path=saved / "dict", split="dev")] == ["né"]
    with pytest.raises(tokbench.InputError, match="has no split 'test'; known: dev, train"):
        rows_of(path=saved / "dict", split="test")
    with pytest.raises(tokbench.InputError, match=r"split 'test', cannot be read: ValueError: Bad split: test"):
        rows_of(path=saved / "files", split="test")
    with pytest.raises(tokbench.InputError, match="is not a folder"):
        rows_of(path=saved / "none")
    with pytest.raises(ValueError, match="give either path"):
        DatasetsOptions(path=saved / "one", name="some/thing")
