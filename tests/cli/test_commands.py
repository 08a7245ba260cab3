"""The commands: what they print, where, and their exit codes."""

import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command


def test_list_names_everything():
    outcome = CliRunner(env={"COLUMNS": "200"}).invoke(command, ["list"])
    assert outcome.exit_code == 0
    for name in ("naive_bpe", "regex_bpe", "tiktoken", "sentencepiece", "splintr", "utf8_bytes", "codepoints"):
        assert name in outcome.output
    for name in (
        "bpe_openai",
        "fastokens",
        "gguf",
        "gigabpe",
        "gigatoken",
        "kitoken",
        "pretokenized",
        "quicktok",
        "rs_bpe",
        "rustbpe",
        "snaptokens",
        "tokie",
        "wordchipper",
        *("huggingface", "transformers", "mistral"),
    ):
        assert name in outcome.output
    for name in ("sample", "jsonl", "python", "compression", "continued_words", "speed", "html", "csv"):
        assert name in outcome.output
    assert "broken" not in outcome.output


def test_list_of_one_kind():
    outcome = CliRunner().invoke(command, ["list", "metrics"])
    assert "fertility" in outcome.output
    assert "tiktoken" not in outcome.output


def test_check_says_what_would_be_done(write_config):
    path = write_config(tokenizers="  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: [300, 400]}}")
    outcome = CliRunner().invoke(command, ["check", str(path)])
    assert outcome.exit_code == 0, outcome.output
    assert "corpus sample: 42 documents, 10,024 bytes, 11 groups" in outcome.output
    assert "tokenizer n-400 (naive_bpe): to be trained at 400 on sample" in outcome.output
    assert outcome.output.endswith("nothing wrong\n")


def test_check_tells_what_training_models_takes(write_config):
    pytest.importorskip("jax")
    path = write_config(
        tokenizers="  bytes: {backend: utf8_bytes}\n  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: 300}}",
        metrics="[{transformer: {width: 64, layers: 8, heads: 2, context_bytes: 256, step_bytes: 4096, seeds: 100, rates: [0.008]}}]",
        extra="limits: {memory: 300MB}",
    )
    output = CliRunner().invoke(command, ["check", str(path)]).output
    # 100 seeds on 90 % of 10,024 bytes, 6 * tokens * (12 * 8 * 64 * 64 + (ids + 1) * 64 + 8 * window * 64) operations
    # each, 6e9 to 3e10 a second: a token is a byte in windows of 256, or three bytes in windows of 85.
    said = """
transformer on sample, bytes with 256 ids: about 364 MB of memory, 1.6 to 8.1 minutes of CPU time; more than the 300 MB \
that there are: take a smaller preset, width or step_bytes
transformer on sample, n with 300 ids: about 85 MB of memory, 0.5 to 2.3 minutes of CPU time
models in all: 2.1 to 10.4 minutes of CPU time; counted with 3 bytes of text a token, without JAX itself and a GPU
"""
    assert said in output


def test_check_tells_what_training_at_every_size_takes(write_config):
    pytest.importorskip("jax")
    body = "{width: 64, layers: 8, heads: 2, context_bytes: 256, step_bytes: 4096}"
    measured = f"sizes: [256, 300, 400], bodies: [{body}], seeds: 100, learning_rates: [0.008]"
    path = write_config(
        tokenizers="  bytes: {backend: utf8_bytes}\n  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: 300}}",
        extra=f"limits: {{memory: 300MB}}\nstudy: {{vocabulary: {{measured: {{{measured}}}}}}}",
    )
    output = CliRunner().invoke(command, ["check", str(path)]).output
    # As above, on 80 % of the text. The vocabulary cannot be cut to 400, and bytes are not trained.
    said = """
measured sizes on sample, n, body width 64, layers 8 with 256 ids: about 364 MB of memory, 1.4 to 7.2 minutes of CPU time; \
more than the 300 MB that there are: take a smaller body or step_bytes, or leave the size out
measured sizes on sample, n, body width 64, layers 8 with 300 ids: about 85 MB of memory, 0.4 to 2.0 minutes of CPU time
models in all: 1.9 to 9.3 minutes of CPU time; counted with 3 bytes of text a token, without JAX itself and a GPU
"""
    assert said in output
    assert output.count("measured sizes on") == 2


def run_main(*args, cwd):
    return subprocess.run(
        [sys.executable, "-m", "tokbench", *args], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_exit_codes_and_streams(write_config, tmp_path):
    (tmp_path / "reports" / "test").mkdir(parents=True)
    (tmp_path / "reports" / "test" / "report.html").write_text("of an earlier run")
    good = run_main("run", str(write_config()), "-v", cwd=tmp_path)
    assert good.returncode == 0, good.stderr
    first, *lines = good.stderr.splitlines()
    assert first.startswith("reading "), "plain lines outside a terminal, no bars"
    assert all(
        re.match(r"\[\d+:\d\d\] (reading|loading|identifying|measuring|making|showing|writing) ", line)
        for line in lines
    )
    assert any("] measuring sample: " in line for line in lines)
    written = [line for line in good.stdout.splitlines() if line.startswith("written: ")]
    assert written == [f"written: reports/test/{name}" for name in ("results.csv", "results.json", "states.jsonl.gz")]
    bad = run_main("run", str(write_config(metrics="[compresion]")), cwd=tmp_path)
    assert bad.returncode == 2
    assert bad.stderr.endswith("run.yaml:7:11: unknown metric 'compresion'; did you mean 'compression'?\n")
    usage = run_main("rum", cwd=tmp_path)
    assert usage.returncode == 2
    assert "Traceback" not in usage.stderr + bad.stderr


@pytest.mark.parametrize(
    ("metrics", "hint"), [("[compression]", True), ("[{speed: {rounds: 3, max_bytes: 1000}}]", False)]
)
def test_a_run_without_speeds_says_where_they_are_measured(metrics, hint, write_config, tmp_path):
    out = str(tmp_path / "out")
    done = CliRunner().invoke(command, ["run", str(write_config(metrics=metrics)), "--workers", "0", "-o", out])
    assert done.exit_code == 0, done.output
    last = done.stdout.splitlines()[-1]
    speeds = "; speeds: tokbench run speed" if hint else ""
    assert last.endswith(f" · next: tokbench serve {out}{speeds} (with -v a run says more)")


def test_every_command_has_a_help_text():
    for name, sub in command.commands.items():
        assert isinstance(sub, click.Command)
        assert sub.help, name
