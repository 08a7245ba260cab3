"""The command, the fixture of pytest and the action say the same of a lock."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command

ACTION = Path(__file__).parents[3] / ".github" / "actions" / "pin" / "action.yml"
CONFIG = """\
schema: tokbench/1
name: mine
corpora: {mine: {source: text, path: texts.txt, document: line}}
tokenizers:
  bytes: utf8_bytes
  words: {backend: tokbench_bpe, path: words.tiktoken, pattern: gpt2}
metrics: [compression]
"""


def ranks(*tokens):
    """Return the content of a file of ranks."""
    from base64 import b64encode

    every = [bytes([k]) for k in range(256)] + [token.encode() for token in tokens]
    return "".join(f"{b64encode(token).decode()} {k}\n" for k, token in enumerate(every))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a configuration and its lock."""
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("low lower lowest\nnewer\n", encoding="utf-8")
    Path("mine.yaml").write_text(CONFIG, encoding="utf-8")
    Path("words.tiktoken").write_text(ranks("lo", "low", "er"), encoding="utf-8")
    done = CliRunner().invoke(command, ["pin", "mine.yaml"])
    assert done.exit_code == 0, done.output
    assert "2 tokenizers pinned on 2 documents: ids.lock" in done.output
    return tmp_path


@pytest.mark.slow
def test_the_same_and_not_the_same(folder):
    done = CliRunner().invoke(command, ["pin", "--check", "ids.lock"])
    assert (done.exit_code, done.stdout) == (0, "bytes: same (2 documents)\nwords: same (2 documents)\n")
    Path("words.tiktoken").write_text(ranks("lo", "low", "we"), encoding="utf-8")
    done = CliRunner().invoke(command, ["pin", "--check", "ids.lock"])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1:6] == [
        "words: 2 of 2 documents have other ids",
        "  encoded by: tokbench_bpe (no package)",
        "  first: mine/texts/1, byte 8",
        "    before: low│ │low│er│ │low│e│s│t",
        "    now:    low│ │low│e│r│ │low│e│s│t",
    ]
    assert "  cause: merges: was" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["lost", "renamed", "twice"])
def test_a_damaged_lock_without_a_hash(folder, damage):
    *lines, _, _ = Path("ids.lock").read_text().replace("format 2", "format 1").splitlines(keepends=True)
    text = next(k for k, line in enumerate(lines) if line.startswith("  text"))
    lines[text : text + 1] = {
        "lost": [], "renamed": [lines[text].replace("mine/", "mind/")], "twice": [lines[text]] * 2
    }[damage]  # fmt: skip
    Path("ids.lock").write_text("".join(lines))
    done = CliRunner().invoke(command, ["pin", "--check", "ids.lock"])
    assert (done.exit_code, done.stdout.count("the lock is damaged")) == (1, 1)
    assert "words: same (2 documents)" in done.stdout


@pytest.mark.slow
def test_another_backend(folder):
    done = CliRunner().invoke(command, ["pin", "--check", "ids.lock", "--with", "tiktoken"])
    assert done.exit_code == 1
    assert "bytes: not checked: backend 'tiktoken' cannot" in done.stdout
    assert "words: tokbench_bpe → tiktoken: same ids (2 documents)" in done.stdout
    done = CliRunner().invoke(command, ["pin", "--check", "ids.lock", "--with", "tiktokn"])
    assert isinstance(done.exception, Exception)
    assert "did you mean 'tiktoken'?" in str(done.exception)


@pytest.mark.slow
def test_the_action_fails_and_writes_a_summary(folder):
    [step] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {
        "LOCK": "ids.lock",
        "OTHER": "",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
    }

    def run():
        return subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, timeout=300, check=False).returncode

    assert run() == 0
    Path("words.tiktoken").write_text(ranks("lo", "low", "we"), encoding="utf-8")
    assert run() == 1
    assert Path("summary.md").read_text().count("```") == 4
    assert "words: 2 of 2 documents have other ids" in Path("summary.md").read_text()


@pytest.mark.slow
def test_the_fixture_fails_with_the_same_lines(folder):
    Path("test_ids.py").write_text('def test_ids(tokbench_pins):\n    tokbench_pins("ids.lock")\n')
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_ids.py"]
    if not subprocess.run([*pytest_here, "--fixtures"], capture_output=True, check=False).stdout.count(
        b"tokbench_pins"
    ):
        pytest_here[3:3] = ["-p", "tokbench_identity.pytest_plugin"]
    assert subprocess.run(pytest_here, capture_output=True, timeout=300, check=False).returncode == 0
    Path("words.tiktoken").write_text(ranks("lo", "low", "we"), encoding="utf-8")
    done = subprocess.run(pytest_here, capture_output=True, timeout=300, check=False)
    assert done.returncode == 1
    assert "words: 2 of 2 documents have other ids" in done.stdout.decode()
