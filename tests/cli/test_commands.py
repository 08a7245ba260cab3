"""The commands: what they print, where, and their exit codes."""

import re
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from click.testing import CliRunner

from tokbench.cli import main
from tokbench.cli.main import tokbench as command


@pytest.mark.packages
def test_list_names_everything():
    outcome = CliRunner(env={"COLUMNS": "200"}).invoke(command, ["list"])
    assert outcome.exit_code == 0
    for name in ("naive_bpe", "tiktoken", "gguf", "tokie", "mistral", "sample", "jsonl", "continued_words", "html"):
        assert name in outcome.output
    assert "broken" not in outcome.output


def test_check_says_what_would_be_done(write_config):
    path = write_config(tokenizers="  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: [300, 400]}}")
    outcome = CliRunner().invoke(command, ["check", str(path)])
    assert outcome.exit_code == 0, outcome.output
    assert "corpus sample: 42 documents, 10,024 bytes, 11 groups" in outcome.output
    assert "tokenizer n-400 (naive_bpe): to be trained at 400 on sample" in outcome.output
    assert outcome.output.endswith("nothing wrong\n")


@pytest.mark.slow
def test_exit_codes_and_streams(write_config, tmp_path):
    (tmp_path / "reports" / "test").mkdir(parents=True)
    (tmp_path / "reports" / "test" / "report.html").write_text("of an earlier run")
    program = [sys.executable, "-m", "tokbench", "run", str(write_config()), "-v"]
    good = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert good.returncode == 0, good.stderr
    first, *lines = good.stderr.splitlines()
    assert first.startswith("reading "), "plain lines outside a terminal, no bars"
    assert all(
        re.match(r"\[\d+:\d\d\] (reading|loading|identifying|measuring|computing|showing|writing) ", line)
        for line in lines
    )
    assert any("] measuring sample: " in line for line in lines)
    written = [line for line in good.stdout.splitlines() if line.startswith("written: ")]
    assert written == [f"written: reports/test/{name}" for name in ("results.csv", "results.json", "states.jsonl.gz")]


@pytest.mark.parametrize("content", ["import no_such_module", "raise SystemExit(0)"])
def test_a_command_that_cannot_be_imported_breaks_no_other(monkeypatch, tmp_path, content):
    (tmp_path / "broken_command.py").write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_command", raising=False)
    broken = EntryPoint("broken", "broken_command:broken", main.GROUP)
    monkeypatch.setattr(main, "entry_points", lambda group: [broken])
    shown = CliRunner().invoke(main.Commands(name="tokbench"), ["--help"])
    assert (shown.exit_code, "Cannot be imported" in shown.stdout, "compare" in shown.stdout) == (0, True, True)
    tried = CliRunner().invoke(main.Commands(name="tokbench"), ["broken", "--any", "thing"])
    assert (tried.exit_code, "cannot be imported" in tried.stderr) == (1, True)
