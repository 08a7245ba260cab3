"""Commands that read texts into memory: one reading of folders, rows and standard input, and one word on what is left."""

import json

import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command
from tokbench.command import texts_by_group
from tokbench.foundation.errors import InputError
from tokbench.text.read import read_texts

pytestmark = pytest.mark.usefixtures("no_process")

DOORS = {
    "cost": ["cost", "{}", "-t", "utf8_bytes"],
    "budget": ["cost", "{}", "-t", "utf8_bytes", "--reference", "utf8_bytes", "--budget", "9"],
    "show": ["show", "-f", "{}", "-t", "utf8_bytes"],
    "inspect": ["inspect", "utf8_bytes", "--text", "{}"],
    "compatible": ["compatible", "utf8_bytes", "utf8_bytes", "--texts", "{}"],
    "ate": ["ate", "gpt-2", "{}", "sample"],
    "adapt": ["adapt", "tokbench_bpe:gpt2", "--text", "{}", "--add", "1", "--log", "none"],
}
TEXT = "low lower\n\n\nlowest\n"
ROWS = "".join(json.dumps({"text": text}) + "\n" for text in (*"abcdefghi", TEXT))


def asked(door, where, tmp_path, text=None):
    arguments = [part.format(where) for part in DOORS[door]]
    if arguments[0] not in command.list_commands(None):
        pytest.skip(f"no package with {arguments[0]} is installed")
    more = ["-o", str(tmp_path / "out")] if door == "adapt" else []
    return CliRunner().invoke(command, [*arguments, *more], input=text)


@pytest.mark.parametrize("door", DOORS)
def test_each_says_once_what_is_left_out(door, tmp_path, data):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "b.jsonl").write_text(ROWS)
    (folder / "null.jsonl").write_text('{"text": "a"}\n{"text": null}\n')
    found = asked(door, folder, tmp_path)
    assert found.exit_code == 0, found.stderr
    assert found.stderr.count("left out (1):\n  null.jsonl: field 'text' is null") == 1
    assert "left out (" not in found.stdout


@pytest.mark.parametrize("door", DOORS)
def test_each_reads_standard_input(door, tmp_path, data):
    found = asked(door, "-", tmp_path, ROWS)
    assert found.exit_code == 0, found.output
    bad = asked(door, "-", tmp_path, b"one\nn\xe9e\n")
    assert isinstance(bad.exception, InputError)
    assert [problem.where for problem in bad.exception.problems] == ["standard input:2:2"]


def test_what_is_read_twice_refuses_standard_input(tmp_path, write_config):
    train = ["train", "--text", "-", "--backend", "naive_bpe", "--vocab-size", "260"]
    run = ["run", str(write_config(corpora="  a: {source: text, path: '-'}")), "-o", str(tmp_path / "out")]
    for arguments in (train, run, ["new", "-"]):
        refused = CliRunner().invoke(command, arguments, input=TEXT).exception
        assert isinstance(refused, InputError)
        assert "write it to a file" in str(refused)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.txt", TEXT), ("en.md", TEXT * 2), ("a.py", TEXT), ("a.jsonl", ROWS), ("a.csv", 'id,text\n1,"a\n\nb"\n')],
)
def test_whole_documents_are_those_of_cost(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    [documents] = texts_by_group(str(path), "file").values()
    assert documents == [one.text for one in read_texts([str(path)]).documents[str(path)]]


def test_rows_stay_rows_however_text_is_cut(tmp_path):
    (tmp_path / "de.txt").write_text(TEXT)
    (tmp_path / "fr.jsonl").write_text(ROWS)
    cuts = {"file": [TEXT], "paragraph": ["low lower", "lowest"], "line": ["low lower", "lowest"]}
    for cut, texts in cuts.items():
        assert texts_by_group(str(tmp_path), cut) == {"de": texts, "fr": [*"abcdefghi", TEXT]}
