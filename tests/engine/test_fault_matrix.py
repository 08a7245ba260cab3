"""Six faults at five steps, each between two good tokenizers: own results only, and the document is named."""

import pytest
from shared_fixtures import cell

import tokbench
from tokbench.results.cells import WHOLE, Status

FAULTS = ("crash", "hang", "exception", "type", "memory", "sigkill")
STRUCK = "document y.txt:2"
"""The only document with a b."""

SIGNS = {
    "crash": "SIGSEGV",
    "hang": "no answer within",
    "exception": "ArithmeticError",
    "type": "",
    "memory": "more memory than",
    "sigkill": "SIGKILL",
}

pytestmark = pytest.mark.slow


@pytest.fixture
def run(write_config, corpus, install, monkeypatch, tmp_path):
    """Run a fault at some steps, and see that the neighbours have the results of a run without it."""
    install("faulty_backends")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,faulty_backends,metrics,regex_bpe,reports")

    def execute(fault, *steps):
        lines = ["  before: {backend: utf8_bytes}"]
        for step in steps:
            train = ", train: {corpus: c, vocab_size: 257}" if step in {"train", "save"} else ""
            optional = ", optional: true" if step == "load" else ""
            lines.append(f"  {step}: {{backend: fault, at: {step}, fault: {fault}{train}{optional}}}")
        lines.append("  after: {backend: regex_bpe, engine: python, train: {corpus: c, vocab_size: 258}}")
        seconds = 1.5 if fault == "hang" else 60
        limits = f"limits: {{step: {seconds}, train: {seconds}, memory: 350MB}}"
        config = write_config(corpus, "\n".join(lines), "[compression, roundtrip, vocabulary]", extra=limits)
        results = tokbench.run(config, tmp_path / "out", workers=1)
        for name, tokens in (("before", 11), ("after", 8)):
            assert cell(results, name, "roundtrip_exact", WHOLE).value == 1
            assert cell(results, name, "tokens", WHOLE).value == tokens
        assert tokbench.Results.read(tmp_path / "out" / "results.json").cells == results.cells
        return results

    return execute


@pytest.mark.matrix
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_own_results(run, fault):
    results = run(fault, "load", "train", "save", "encode", "decode")
    for step, state in (("load", "unavailable"), ("train", "timeout" if fault == "hang" else "failed")):
        info = results.tokenizers[step]
        assert info.state == state
        assert SIGNS[fault] in info.reason
        assert cell(results, step, "tokens").value is None
    saved = results.tokenizers["save"]
    assert saved.state == "ready"
    assert not saved.artefact_sha256
    assert any("not saved" in note and SIGNS[fault] in note for note in saved.notes)
    assert cell(results, "save", "tokens").value == 11
    broken = Status.TIMEOUT if fault == "hang" else Status.FAILED
    for step, metric in (("encode", "tokens"), ("decode", "roundtrip_exact")):
        assert cell(results, step, metric, "x").value is not None
        value = cell(results, step, metric, "y")
        assert value.status == broken
        assert STRUCK in value.reason
        assert SIGNS[fault] in value.reason
    assert cell(results, "decode", "tokens", "y").value == 5
