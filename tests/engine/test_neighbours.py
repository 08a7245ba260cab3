"""A plugin that changes its process changes the numbers of no other tokenizer."""

import pytest

import tokbench

METRICS = "[compression, fertility, roundtrip, vocabulary, utf8]"
GOOD = """
  mine: {backend: regex_bpe, engine: python, train: {corpus: c, vocab_size: 260}}
  bytes: {backend: utf8_bytes}
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def run(write_config, corpus, install, monkeypatch):
    """Run some harmful tokenizers first in line before two good ones, and return the results of the good ones."""
    install("harmful_backends")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,harmful_backends,metrics,regex_bpe,reports")

    def execute(harmful, workers=1):
        results = tokbench.run(write_config(corpus, harmful + GOOD.strip("\n"), METRICS), workers=workers)
        return results, [str(cell) for cell in results.cells if cell.tokenizer in {"mine", "bytes"}]

    return execute


@pytest.mark.parametrize("at", ["loading", "encoding"])
def test_patches_change_no_neighbours_number(run, at):
    kinds = ("bincount", "sum", "count_ids", "arithmetic", "folder", "logarithm")
    harmful = "".join(f"  {what}: {{backend: harmful, what: {what}, at: {at}}}\n" for what in kinds)
    _, expected = run("")
    for workers in (1, 2):
        _, cells = run(harmful, workers)
        assert cells == expected
    assert len(expected) > 100


def test_a_crash_after_its_turn_costs_no_neighbour(run):
    _, expected = run("")
    _, cells = run("  late: {backend: harmful, what: late_crash, at: encoding}\n")
    assert cells == expected
