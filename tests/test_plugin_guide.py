"""The plugin guide's template: a package that can be installed, whose own tests pass, and its study in a run."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from readme_tables import PAGES, TEMPLATE

from tokbench.results.model import Results

slow = pytest.mark.slow

CONFIG = """\
schema: tokbench/1
name: mine
corpora: {lines: {source: jsonl, path: lines.jsonl, group: en}}
tokenizers:
  words: {backend: words, words: [return, x]}
  bytes: {backend: utf8_bytes}
metrics: [compression]
study:
  indents:
    widths: [1, 4]
report: {formats: [html, md]}
"""

PICKY = """
from tokbench.plugin import BackendSpec, hookimpl


class Picky:
    vocab_size = 256

    def encode(self, text, /):
        if text.startswith("    "):
            raise ValueError("too many spaces")
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")


@hookimpl
def register_backends(register):
    register(BackendSpec(name="picky", summary="refuses spaces", load=lambda options: Picky()))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the template, with the wheel that was made of it in a folder of its own."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(TEMPLATE, folder / "my-plugin", ignore=shutil.ignore_patterns("__pycache__"))
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", str(folder / "site"), str(folder / "my-plugin")], check=True, timeout=120)
    return folder


@pytest.fixture
def command(project, tmp_path, monkeypatch):
    """Runs a command of tokbench with the template installed, in a folder that has its texts and configuration."""
    (tmp_path / "run.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text('{"text": "a b c"}\n', encoding="utf-8")
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))

    def run(*arguments, code=0):
        done = python(project, tmp_path, "-m", "tokbench", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def python(project, folder, *arguments):
    paths = [str(project / "site"), str(folder), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def block(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))["studies"]["indents"]


def test_the_template_knows_the_door_alone():
    imported = {
        line.split()[1]
        for path in TEMPLATE.rglob("my_tokbench_plugin/*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith(("from tokbench", "import tokbench"))
    }
    doors = {"tokbench.command", "tokbench.plugin", "tokbench.plugin.metrics", "tokbench.plugin.report"}
    assert imported - {"tokbench"} == doors


@slow
def test_the_template_is_installed_and_its_tests_pass(project):
    """As the guide says: copied, installed, tested."""
    assert "cp -r plugins/template my-plugin && cd my-plugin && pip install -e . pytest && python -m pytest" in (
        PAGES / "questions" / "plugin.md"
    ).read_text(encoding="utf-8")
    done = python(project, project / "my-plugin", "-m", "pytest", "-q", "-W", "error")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.nightly
@slow
def test_the_options_of_the_study_are_checked_with_their_place(command, tmp_path):
    for wrong, right, place in (("widhts", "widths", "10:5"), ("indent", "indents", "9:3")):
        (tmp_path / "wrong.yaml").write_text(CONFIG.replace(f"{right}:", f"{wrong}:"), encoding="utf-8")
        said = command("check", "wrong.yaml", code=2)
        assert f"wrong.yaml:{place}: unknown key {wrong!r}; did you mean {right!r}?" in said
    (tmp_path / "wrong.yaml").write_text(CONFIG.replace("[1, 4]", "[1, 4, 0]"), encoding="utf-8")
    assert "wrong.yaml:10:20: indents.widths.2: must be greater than 0, but is 0" in command(
        "check", "wrong.yaml", code=2
    )


@pytest.mark.nightly
@slow
def test_the_timed_metric_is_measured_and_a_failure_has_its_reason(command, tmp_path):
    (tmp_path / "run.yaml").write_text(CONFIG.replace("[compression]", "[document_time]"), encoding="utf-8")
    command("run", "run.yaml", "-o", "out")
    results = Results.read(tmp_path / "out")
    assert results.metrics["document_us"].timed
    assert {(c.tokenizer, c.status, c.n, c.value > 0) for c in results.cells} == {
        (n, "ok", 1, True) for n in ("words", "bytes")
    }


@slow
def test_a_tokenizer_that_fails_in_the_study_costs_itself_alone(command, tmp_path):
    (tmp_path / "picky.py").write_text(PICKY, encoding="utf-8")
    info = tmp_path / "picky-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[tokbench]\npicky = picky\n", encoding="utf-8")
    config = CONFIG.replace("utf8_bytes}", "utf8_bytes}\n  picky: {backend: picky}")
    (tmp_path / "run.yaml").write_text(config, encoding="utf-8")
    said = command("run", "run.yaml", "-o", "out", code=1)
    assert "the study indents: picky: " in said
    body = block(tmp_path / "out")["body"]
    assert body["tokens"] == {"words": [2, 5], "bytes": [9, 12]}
    assert "too many spaces" in body["reasons"]["picky"]
    assert {cell.status for cell in Results.read(tmp_path / "out").cells} == {"ok"}
    markdown = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "picky has no numbers" in markdown
