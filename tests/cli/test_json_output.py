"""``--json``: one object on standard output, with the names that the documentation promises."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import tokbench.cli
from tokbench.cli.main import tokbench as command

pytestmark = pytest.mark.usefixtures("no_process")

PAGE = Path(tokbench.cli.__file__).parents[2] / "reports" / "site" / "docs" / "reference" / "commands.md"


def printed(*arguments, code=0):
    outcome = CliRunner().invoke(command, [*map(str, arguments), "--json"])
    assert outcome.exit_code == code, outcome.output
    return json.loads(outcome.stdout)


@pytest.mark.slow
def test_the_documentation_names_the_keys_of_each_command(tmp_path, write_config, stored):
    """Of ``compare`` and ``undertrained`` their own tests look at the keys."""
    config = write_config()
    (tmp_path / "t.txt").write_text("".join(f"low lower {k}\n" for k in range(60)), encoding="utf-8")
    trained = ("--text", tmp_path / "t.txt", "--vocab-size", 260, "-o", tmp_path / "out")
    commands = {
        "list": ("list",),
        "run CONFIG": ("run", config, "-w", 0, "-o", tmp_path / "run"),
        "check CONFIG": ("check", config),
        "pin CONFIG": ("pin", config, "--limit", 1, "-o", tmp_path / "ids.lock"),
        "pin --check FILE": ("pin", "--check", tmp_path / "ids.lock"),
        "show": ("show", "abc", "-t", "utf8_bytes"),
        "cost": ("cost", tmp_path / "t.txt", "-t", "utf8_bytes"),
        "inspect": ("inspect", "utf8_bytes"),
        "train": ("train", "--backend", "naive_bpe", *trained),
        "store list": ("store", "list"),
        "store prune": ("store", "prune"),
    }
    documented = dict(re.findall(r"^\| `([a-z A-Z-]+) --json` \| (.*?) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert set(documented) == {*commands, "check --backend NAME", "compare"}
    for name, arguments in commands.items():
        names = re.findall(r"`(\w+)`", documented[name].split(";")[0])
        assert [*printed(*arguments)] == names, name


def test_the_answer_of_a_run_is_that_of_its_results(write_config, tmp_path):
    config = write_config(
        corpora="  code: {source: sample, part: code, groups: [go, rust]}\n  mine: {source: sample, part: code, groups: [c]}",
        tokenizers="  n: {backend: naive_bpe, train: {corpus: mine, vocab_size: 300}}",
    )
    answer = printed("run", config, "-w", 0, "-o", tmp_path / "run")
    assert answer["folder"] == str(tmp_path / "run")
    again = tokbench.Results.read(tmp_path / "run" / "results.json").answer
    assert answer["ranking"][0]["tokenizer"] == again.ranking.best
    assert [line["label"] for line in answer["lines"]] == [line.label for line in again.lines]


def test_check_says_what_a_run_would_do(write_config):
    tokenizers = "  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: 300}}\n  b: {backend: utf8_bytes}"
    [facts] = printed("check", write_config(tokenizers=tokenizers))["configs"]
    assert facts["corpora"][0]["documents"] == 42
    states = [(row["tokenizer"], row["state"], row["train_at"], row["train_on"]) for row in facts["tokenizers"]]
    assert states == [("n", "to be trained", 300, ["sample"]), ("b", "loaded", None, [])]
    assert facts["metrics"][0] == {"metric": "compression", "corpora": []}


def test_check_says_what_is_wrong(write_config):
    body = printed("check", write_config(metrics="[compresion]"), code=1)  # InputError, outside main()
    [problem] = body["problems"]
    assert problem["where"].endswith("run.yaml:7:11")
    assert problem["message"] == "unknown metric 'compresion'; did you mean 'compression'?"
    assert body["configs"] == []


@pytest.mark.slow
def test_the_store_lists_its_entries(write_config, stored, tmp_path):
    assert printed("store", "list") == {"folder": str(stored), "entries": []}
    done = CliRunner().invoke(command, ["run", str(write_config()), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    entries = printed("store", "list")["entries"]
    assert {*entries[0]} == {"kind", "used", "bytes", "key"}
    assert printed("store", "prune", "--size", "0") == {
        "deleted": len(entries),
        "bytes": sum(entry["bytes"] for entry in entries),
    }
