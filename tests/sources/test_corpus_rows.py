"""Sources of rows: tables, JSON Lines, Parquet, datasets, treebanks, and gold in all of them."""

import csv
import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.sources.conllu import ConlluOptions, ConlluSource
from tokbench.sources.datasets import DatasetsOptions, DatasetsSource
from tokbench.sources.rows import CsvOptions, RowFileOptions, RowFiles
from tokbench.text.gold import AlignmentError, align

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
    items = list(RowFiles("parquet", RowFileOptions(path=parquet(tmp_path, rows), **options)).documents())
    same = list(RowFiles("jsonl", RowFileOptions(path=jsonl(tmp_path, *rows), **options)).documents())
    assert len(items) == 140
    assert [item._replace(origin="") for item in items] == [each._replace(origin="") for each in same]
    assert items[139].origin == "r.parquet:140"


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
    rows = rows_of(path=saved / folder, key="id", group="{lang}-{split}", segments="pieces")
    assert [(row.text, row.group, row.key, row.origin) for row in rows] == [
        ("unkind words!", "en-train", "x", f"{folder}:1"),
        ("né", "fr-train", "y", f"{folder}:2"),
    ]
    assert rows[0].gold.morphemes == (2, 11)
    assert [each.text for each in rows_of(path=saved / folder, limit=1)] == ["unkind words!"]


def test_a_dataset_that_is_not_as_asked(saved):
    assert [row.text for row in rows_of(path=saved / "dict", split="dev")] == ["né"]
    with pytest.raises(tokbench.InputError, match="has no split 'test'; known: dev, train"):
        rows_of(path=saved / "dict", split="test")
    with pytest.raises(tokbench.InputError, match=r"split 'test', cannot be read: ValueError: Bad split: test"):
        rows_of(path=saved / "files", split="test")
    with pytest.raises(tokbench.InputError, match="is not a folder"):
        rows_of(path=saved / "none")
    with pytest.raises(ValueError, match="give either path"):
        DatasetsOptions(path=saved / "one", name="some/thing")


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


GERMAN = """# newdoc id = d
# sent_id = s1
# text = Am Montag, né?
1-2\tAm\t_\t_\t_\t_\t_\t_\t_\t_
1\tAn\tan\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_
3\tMontag\tMontag\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_
5\tné\tné\tINTJ\t_\t_\t3\tdiscourse\t_\tSpaceAfter=No
5.1\tgell\tgell\tINTJ\t_\t_\t_\t_\t_\t_
6\t?\t?\tPUNCT\t_\t_\t3\tpunct\t_\t_

# text = Ja.
1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


def read(tmp_path, text, name="de.conllu", **options):
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return list(ConlluSource(ConlluOptions(path=tmp_path / "*.conllu*", **options)).documents())


def refused_conllu(tmp_path, text):
    with pytest.raises(tokbench.InputError) as caught:
        read(tmp_path, text)
    return str(caught.value).replace(f"{tmp_path}/", "")


def spelled(document):
    return [document.text[start:end] for start, end in document.gold.words]


@pytest.mark.parametrize(("name", "ends"), [("de.conllu", "\n"), ("de.conllu.gz", "\r\n")])
def test_surface_tokens_are_the_gold_words(tmp_path, name, ends):
    first, second = read(tmp_path, GERMAN.replace("\n", ends), name)
    assert (first.group, first.key, first.origin) == ("de", "s1", f"{name}:1")
    assert spelled(first) == ["Am", "Montag", ",", "né", "?"]
    assert first.gold.punctuation == (False, False, True, False, True)
    assert first.gold.morphemes is None
    # Without a sent_id the key is the sentence's number.
    assert (second.key, second.origin, spelled(second)) == ("2", f"{name}:13", ["Ja", "."])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("3\tMontag\tMontag\tNOUN", "3\tMontag  Montag\tNOUN", "de.conllu:7: has 9 columns, CoNLL-U has 10"),
        ("4\t,", "5\t,", "de.conllu:8: the id 5 is out of order after word 3; number the words 1, 2, 3"),
        ("3\tMontag\tM", "3\tDienstag\tM", "de.conllu:7: the forms do not spell the line '# text = …': 'Dienstag' is not what follows in the text at character 4: 'Montag, né?'; correct one or the other"),
        ("# text = Ja.", "# translit = Ja.", "de.conllu:13: the sentence has no line '# text = …'; add it"),
        ("1\tJa\tja\t", "1-3\tJa.\t_\t_\t_\t_\t_\t_\t_\t_\n1\tJa\tja\t", "de.conllu:14: a multiword token up to word 3, but there are 2 words"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, says):
    assert old in GERMAN
    assert refused_conllu(tmp_path, GERMAN.replace(old, new)).startswith(says)


@given(
    st.lists(
        st.tuples(st.text("aé👍-", min_size=1, max_size=4), st.sampled_from(["", " ", "\u00a0", "  "])), max_size=8
    )
)
def test_forms_are_found_whatever_white_space_there_is(parts):
    text = "".join(form + space for form, space in parts)
    spans = align(text, [form for form, _ in parts])
    assert [text[start:end] for start, end in spans] == [form for form, _ in parts]
    with pytest.raises(AlignmentError):
        align(text, [*(form for form, _ in parts), "z"])
    if parts:
        with pytest.raises(AlignmentError):
            align(text, [form for form, _ in parts[:-1]])
