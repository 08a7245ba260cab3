"""Damage that a tokenizer does to its process is not charged to another one that happens to be at work."""

import subprocess
import sys

import pytest
from conftest import cell

import tokbench
from tokbench.results.cells import Status

METRICS = "[compression, roundtrip, vocabulary]"


@pytest.fixture(autouse=True)
def harmful(install, monkeypatch):
    install("harmful_backends")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,harmful_backends,metrics,reports,speed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "by", "died"),
    [
        ("encoding", "SIGSEGV", "died with SIGSEGV while encoding corpus c, group x"),
        ("decoding", "SIGSEGV", "died with SIGSEGV while decoding corpus c, group x, for roundtrip"),
        # A group is measured in less time than the thread takes to look, so the signal may strike what comes after it.
        ("measuring", "SIGSEGV", "died with SIGSEGV while "),
        ("encoding", "SIGKILL", "was killed with SIGKILL, by somebody or for want of memory, while encoding corpus c, group x"),
    ],
)  # fmt: skip
def test_a_crash_after_its_turn_costs_no_other_tokenizer(write_config, corpus, verb, by, died):
    tokenizers = f"  late: {{backend: late, verb: {verb}, by: {by}}}\n  slow: {{backend: slow}}"
    results = tokbench.run(write_config(corpus, tokenizers, METRICS), workers=1)
    assert not results.failed, {c.reason for c in results.cells if c.status == Status.FAILED}
    for group, tokens in (("*", 11), ("x", 6), ("y", 5)):
        assert cell(results, "slow", "tokens", group).value == tokens
        assert cell(results, "slow", "roundtrip_exact", group).value == 1
    assert cell(results, "slow", "distinct_tokens").value == 3
    unharmed = (
        "; in a fresh process it did the same work unharmed, so that late, which had been in the process before, may "
        "have damaged it"
    )
    assert any(note.startswith(f"slow: the process {died}") and note.endswith(unharmed) for note in results.notes)


@pytest.mark.slow
def test_a_crash_after_loading_costs_no_other_tokenizer(write_config, corpus):
    tokenizers = "  late: {backend: late, verb: loading}\n  slow: {backend: slow}"
    results = tokbench.run(write_config(corpus, tokenizers), workers=1)
    assert cell(results, "slow", "tokens").value == 11
    [note] = [note for note in results.notes if note.startswith("slow: the process died with SIGSEGV while loading; ")]
    assert "so that late, which" in note


@pytest.mark.slow
@pytest.mark.parametrize("by", ["SIGSEGV", "SIGKILL"])
def test_a_crash_after_saving_costs_no_other_training(write_config, corpus, tmp_path, by):
    trained = "train: {corpus: c, vocab_size: 300}"
    tokenizers = f"  late: {{backend: late, verb: training, by: {by}, {trained}}}\n  slow: {{backend: slow, {trained}}}"
    results = tokbench.run(write_config(corpus, tokenizers), tmp_path / "out", workers=1)
    slow = results.tokenizers["slow"]
    assert slow.state == "ready", slow.reason
    assert slow.vocab_size == 256 + 11, "the whole text was read once more"
    assert (slow.train.documents, slow.train.bytes) == (4, 11)
    assert cell(results, "slow", "tokens").value == 11
    assert any(note.startswith("slow: ") and "so that late, which" in note for note in results.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "at"),
    [
        ("numpy.sum", "encoding"),
        ("numpy.cumsum", "decoding"),
        ("math.log", "encoding"),
        ("tokbench.measuring.encoded_shard.EncodedShard.count_ids", "encoding"),
    ],
)
def test_a_function_that_is_replaced_costs_its_culprit_alone(write_config, corpus, what, at):
    tokenizers = f"  bad: {{backend: replaces, what: {what}, at: {at}}}\n  good: {{backend: utf8_bytes}}"
    results = tokbench.run(write_config(corpus, tokenizers, METRICS), workers=1)
    broken = cell(results, "bad", "roundtrip_exact", "y")
    assert broken.status == Status.FAILED
    assert broken.reason == (
        f"the process was ended, because it had replaced {what} while {at} corpus c, group y, document y.txt:2"
    )
    assert cell(results, "bad", "tokens", "x").value == 6
    for group, tokens in (("*", 11), ("x", 6), ("y", 5)):
        assert cell(results, "good", "tokens", group).value == tokens
        assert cell(results, "good", "roundtrip_exact", group).value == 1
    assert not [c.reason for c in results.cells if c.tokenizer == "good" and c.status == Status.FAILED]


@pytest.mark.slow
def test_a_function_that_is_replaced_in_loading_is_told_at_once(write_config, corpus):
    tokenizers = "  good: {backend: utf8_bytes}\n  bad: {backend: replaces, what: json.loads, at: loading}"
    with pytest.raises(tokbench.InputError) as caught:
        tokbench.run(write_config(corpus, tokenizers), workers=1)
    [problem] = caught.value.problems
    assert problem.message == (
        "tokenizer 'bad' (backend replaces): the process was ended, because it had replaced json.loads while loading"
    )


@pytest.mark.slow
def test_a_function_that_is_replaced_in_timing_costs_its_culprit_alone(write_config, corpus):
    tokenizers = "  good: {backend: utf8_bytes}\n  bad: {backend: replaces, at: timing}\n  last: {backend: utf16_units}"
    metrics = "[{speed: {rounds: 3, min_time: 0.0001}}]"
    results = tokbench.run(write_config(corpus, tokenizers, metrics), workers=1)
    reason = cell(results, "bad", "encode_mb_per_s").reason
    assert reason == "the process was ended, because it had replaced numpy.sum while timing on corpus c"
    assert all(cell(results, name, "encode_mb_per_s").value > 0 for name in ("good", "last"))


PROGRAM = """
import importlib, tokbench
from tokbench.engine.workers import worker
from tokbench.engine.workers.soundness import Functions
from tokbench.registry.plugins import load_registry

load_registry()
functions = Functions()
for name in ("sentencepiece", "tiktoken", "tokenizers", "transformers", "mistral_common", "numba", "pandas", "jax"):
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    assert not functions.replaced(), (name, functions.replaced())
for name in ("gpt-4o", "gemma-3", "llama-2", "mistral-nemo", "qwen-3"):
    try:
        tokenizer = tokbench.load(name)
    except tokbench.BackendUnavailable:
        continue
    tokenizer.decode(tokenizer.encode("Hello, world"))
    assert not functions.replaced(), (name, functions.replaced())
for name in ("regex_bpe", "huggingface", "rustbpe", "tiktoken", "gigatoken"):
    try:
        tokenizer = tokbench.train(name, ["one text and another"] * 100, 260, store=False)
    except tokbench.BackendUnavailable:
        continue
    assert not functions.replaced(), (name, functions.replaced())
print("sound")
"""


@pytest.mark.slow
def test_libraries_that_are_imported_late_replace_nothing(monkeypatch):
    monkeypatch.delenv("TOKBENCH_PLUGINS")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.splitlines()[-1:] == ["sound"], done.stderr
