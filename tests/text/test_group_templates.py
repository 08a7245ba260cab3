"""Templates of groups at every door that takes one: the same group, or the same refusal before anything is read."""

import json

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")
pytest.importorskip("numba")
pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.plugin import InputError
from tokbench_plugins.counts.count import count_partition

pytestmark = pytest.mark.usefixtures("no_process")

ROW = {"text": "abc", "lang": "en", "meta": {"lang": "de", "tags": ["news"]}, "a.b": "dot", "n": 1.5, "none": None}


def run_on(path, group):
    source = {".jsonl": "jsonl", ".parquet": "parquet", ".txt": "text"}[path.suffix]
    corpora = {"c": {"source": source, "path": str(path), "group": group}}
    config = {"schema": "tokbench/1", "name": "t", "tokenizers": {"b": "utf8_bytes"}, "metrics": ["compression"]}
    return run({**config, "corpora": corpora})


def run(config):
    cells = tokbench.run(config, workers=0, store=False).cells
    [group] = {cell.group for cell in cells if cell.metric == "tokens"} - {"*"}
    return group


def call(*arguments):
    outcome = CliRunner().invoke(command, [*map(str, arguments)])
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == 0, outcome.output


def counted(path, group):
    output = path.parent.parent / "out.counts"
    call("count", path, "--group", group, "-o", output, "--processes", 1, "--log", "none")
    return group_of(pq.read_table(output))


def superwords(path, group):
    pytest.importorskip("tokbench_trainers")
    call("superwords", path, "--group", group, "-o", path.parent.parent / "super.counts", "--vocab-size", 260)


def partition(path, group):
    return group_of(count_partition([ROW], group=group))


def frame(path, group):
    frame = pytest.importorskip("pandas").DataFrame([ROW])
    config = {"schema": "tokbench/1", "name": "t", "tokenizers": {"b": "utf8_bytes"}, "metrics": ["compression"]}
    return run({**config, "corpora": {"c": {"texts": frame, "group": group}}})


def group_of(table):
    [group] = set(table["group"].to_pylist())
    return group


DOORS = {"run": run_on, "count": counted, "partition": partition, "frame": frame}
REFUSING = DOORS | {"superwords": superwords}
"""Those that are quick to ask what they refuse, too."""
OF_ROWS = {
    "{lang}": "en",
    "{meta.lang}": "de",
    "{meta[lang]}-{n}": "de-1.5",
    "{meta[tags][0]}": "news",
    "{text[0]}{{": "a{",
    "{a.b}": "dot",
    "{none}": "None",
}
REFUSED = {
    "{": "has a brace without its partner",
    "{lang": "has a brace without its partner",
    "{}": "and not {}",
    "{lang!r}": "must insert fields as they are",
    "{n:.3f}": "must insert fields as they are",
    "{meta.}": "and not {meta.}",
}
LACKING = ("{lng}", "{meta.lng}", "{meta[tags][7]}", "{lang.x}", "{text[x]}")


@pytest.fixture(params=["jsonl", "parquet"])
def rows(tmp_path, request):
    path = tmp_path / "in" / f"rows.{request.param}"
    path.parent.mkdir()
    if request.param == "jsonl":
        path.write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist([ROW]), path)
    return path


@pytest.mark.parametrize("door", DOORS)
def test_a_row_has_one_group_at_every_door(door, rows):
    for template, group in OF_ROWS.items():
        assert DOORS[door](rows, template) == group, template
    for template in LACKING:
        with pytest.raises(InputError, match=r"has no (field|column)"):
            DOORS[door](rows, template)


@pytest.mark.parametrize("door", REFUSING)
@pytest.mark.parametrize("template", REFUSED)
def test_what_is_no_template_is_refused_unread(door, template, tmp_path):
    path = tmp_path / "in" / "bad.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"{")
    with pytest.raises(InputError) as refused:
        REFUSING[door](path, template)
    assert REFUSED[template] in str(refused.value)


@pytest.mark.parametrize("door", ["run", "count"])
def test_a_text_file_has_a_group_by_its_name(door, tmp_path):
    path = tmp_path / "in" / "a.txt"
    path.parent.mkdir()
    path.write_bytes(b"one two\n")
    for template, group in {"{stem}": "a", "{name[0]}-{language}": "a-txt", "{parent}": "in"}.items():
        assert DOORS[door](path, template) == group
    for template in ("{lang}", "{stem.x}", "{stem[x]}"):
        with pytest.raises(InputError, match=r"may hold \{stem\}"):
            DOORS[door](path, template)
    with pytest.raises(InputError, match="has no field"):
        DOORS[door](path, "{stem[7]}")
