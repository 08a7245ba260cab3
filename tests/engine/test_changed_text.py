"""Text is read once: a file that changes or goes while a run is on changes no number."""

import pytest
from shared_fixtures import cell

import tokbench


@pytest.mark.slow
@pytest.mark.parametrize("how", ["edited", "longer", "latin-1", "gone"])
def test_what_is_measured_is_what_was_read(write_config, faulty, tmp_path, monkeypatch, how):
    lines = "\n".join("aa ba ca da"[k % 5 :] for k in range(40))
    (tmp_path / "c.txt").write_text(lines, encoding="utf-8")
    monkeypatch.setenv("CHANGES", f"{tmp_path / 'c.txt'}={how}")
    tokenizers = "  changes: {backend: changes_text}\n  good: {backend: utf8_bytes}\n"
    tokenizers += "  on-c: {backend: naive_bpe, engine: python, train: {corpus: c, vocab_size: 260}}"
    metrics = "[compression, {speed: {rounds: 3, min_time: 0.00001}}]"
    path = write_config("  c: {source: text, path: c.txt, document: line}", tokenizers, metrics)
    results = tokbench.run(path, tmp_path / "out", workers=0)  # tokenizers are loaded when the text was read
    assert not results.failed
    assert {cell(results, name, "tokens").value for name in ("changes", "good")} == {len(lines.replace("\n", ""))}
    assert cell(results, "good", "encode_mb_per_s").value > 0
    assert results.tokenizers["on-c"].state == "ready"
