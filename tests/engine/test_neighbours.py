"""Plugins that change their process change the numbers of no other tokenizer."""

import pytest

import tokbench

GOOD = """
  mine: {backend: regex_bpe, engine: python, train: {corpus: c, vocab_size: 260}}
  bytes: {backend: utf8_bytes}
"""
KINDS = ("bincount", "sum", "count_ids", "arithmetic", "folder", "logarithm", "late_crash")


@pytest.mark.slow
def test_patches_change_no_neighbours_number(write_config, corpus, install, monkeypatch):
    install("faulty_backends")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,faulty_backends,metrics,regex_bpe,reports")

    def good_cells(harmful, workers):
        """Return the cells of two good tokenizers behind some harmful ones."""
        config = write_config(
            corpus, harmful + GOOD.strip("\n"), "[compression, fertility, roundtrip, vocabulary, utf8]"
        )
        results = tokbench.run(config, workers=workers)
        return [str(cell) for cell in results.cells if cell.tokenizer in {"mine", "bytes"}]

    times = ("loading", "encoding")
    harmful = "".join(
        f"  {what}: {{backend: harmful, what: {what}, at: {times[k % 2]}}}\n" for k, what in enumerate(KINDS)
    )
    expected = good_cells("", 0)
    assert len(expected) > 100
    assert good_cells(harmful, 1) == expected
