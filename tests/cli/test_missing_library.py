"""Without splintr-rs a configuration that names it many times is told so once, and the others run."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest
from click.testing import CliRunner

from tokbench import InputError
from tokbench.cli.main import tokbench as command

TOKENIZERS = """
  gpt-4: {backend: splintr, vocabulary: cl100k_base}
  gpt-4o: {backend: splintr, vocabulary: o200k_base}
  llama-3: {backend: splintr, vocabulary: llama3}
  bytes: {backend: utf8_bytes}
"""
SENTENCE = "3 tokenizers: unavailable: needs splintr-rs: pip install 'tokbench[fast]' (gpt-4, gpt-4o and llama-3)"


@pytest.fixture
def without(monkeypatch):
    """Return a function that lets a package be absent."""

    def forget(distribution, module):
        def installed(name):
            if name == distribution:
                raise PackageNotFoundError(name)
            return version(name)

        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setattr("tokbench.registry.plugins.version", installed)

    return forget


@pytest.fixture
def without_splintr(without):
    without("splintr-rs", "splintr")


def invoke(*arguments):
    outcome = CliRunner(env={"COLUMNS": "200"}).invoke(command, [*map(str, arguments)])
    return outcome.exit_code, outcome.stdout


def test_a_run_tells_it_in_one_sentence_and_measures_the_others(write_config, without_splintr, tmp_path):
    code, output = invoke("run", write_config(tokenizers=TOKENIZERS), "-o", tmp_path / "out", "--workers", 0)
    assert code == 1, "what was not declared optional is missing"
    assert output.count("splintr") == 1
    assert SENTENCE in output.splitlines()
    assert any(line.startswith("bytes ") for line in output.splitlines())


def test_training_does_without_it_too(write_config, without, tmp_path):
    without("tokenizers", "tokenizers")
    train = "train: {corpus: sample, vocab_size: 300}"
    config = write_config(tokenizers=f"  a: {{backend: huggingface, {train}}}\n  b: {{backend: naive_bpe, {train}}}")
    code, output = invoke("train", config, "-o", tmp_path / "out", "--json")
    missing, trained = json.loads(output)["tokenizers"]
    assert (code, missing["vocab_size"], trained["vocab_size"]) == (1, None, 300)
    assert missing["reason"].startswith("needs tokenizers: pip install ")


@pytest.mark.parametrize("form", ["gguf", "transformers"])
def test_a_format_without_its_library_is_refused(without, tmp_path, form):
    without(form, form)
    (tmp_path / "t.txt").write_text("the low lower lowest\n" * 9, encoding="utf-8")
    given = ("--backend", "regex_bpe:gpt4", "--text", tmp_path / "t.txt", "--vocab-size", 300, "--format", form)
    arguments = map(str, ("train", *given, "--holdout", 0, "-o", tmp_path / "out"))
    outcome = CliRunner().invoke(command, [*arguments], standalone_mode=False)
    assert isinstance(outcome.exception, InputError)
    assert "pip install" in str(outcome.exception)
    assert not (tmp_path / "out").exists(), "nothing was trained"
