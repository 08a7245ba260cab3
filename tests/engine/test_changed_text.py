"""Text that changes while it is measured: no number rests on text with another hash than the results say."""

import os

import pytest
from shared_fixtures import cell

import tokbench
from tokbench.engine import planning
from tokbench.results.cells import Status

TOKENIZERS = (
    "  changes: {backend: changes_text}\n  good: {backend: utf8_bytes}\n  same: {backend: Bytes, same_as: good}"
)
METRICS = "[compression, roundtrip, fairness, {speed: {rounds: 3, min_time: 0.00001}}]"
CHANGED = "the text of corpus 'c' changed during the run"


@pytest.fixture
def changed(write_config, faulty, tmp_path, monkeypatch):
    """Run while the file of the corpus ``c`` changes, beside a corpus ``d`` that does not."""
    lines = "\n".join("aa ba ca da"[k % 5 :] for k in range(40))
    for name in "cd":
        (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")

    def run(how, tokenizers=TOKENIZERS, metrics=METRICS, of_c="", room=0, **options):
        monkeypatch.setattr(planning, "KEPT_TEXT", room)  # 0: as if the corpora were too large to be kept in memory
        monkeypatch.setenv("CHANGES", f"{tmp_path / 'c.txt'}={how}")
        corpora = (
            f"  c: {{source: text, path: c.txt, document: line{of_c}}}\n"
            "  d: {source: text, path: d.txt, document: line}"
        )
        return tokbench.run(write_config(corpora, tokenizers, metrics), **options)

    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # one core: tokenizers are loaded, and change the file, when it was read
    yield run
    os.sched_setaffinity(0, cores)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "workers", "reason"),
    [
        ("edited", 1, CHANGED),
        ("longer", 0, CHANGED),
        ("latin-1", 0, "not UTF-8: byte 0xe9 ("),
    ],
)
def test_a_corpus_that_changes_has_no_numbers(changed, how, workers, reason, tmp_path):
    results = changed(how, output=tmp_path / "out", workers=workers)
    assert results.failed
    assert not results.problems
    of_c = [each for each in results.cells if each.corpus == "c" and "lacks the capability" not in each.reason]
    assert len(of_c) > 60
    assert {each.status for each in of_c} == {Status.FAILED}
    assert all(reason in each.reason for each in of_c)
    assert any(reason in note for note in results.notes)
    assert results.differences == []
    for name in ("changes", "good", "same"):
        assert cell(of(results, "d"), name, "tokens").value == sum(len("aa ba ca da"[k % 5 :]) for k in range(40))
        assert cell(of(results, "d"), name, "encode_mb_per_s").value > 0
    assert cell(of(results, "d"), "same", "same_ids").value == 1


def of(results, corpus):
    """Return results with the cells of one corpus."""
    return type(results)(name=corpus, cells=[each for each in results.cells if each.corpus == corpus])


def test_a_tokenizer_is_not_trained_on_changed_text(changed):
    tokenizers = (
        "  changes: {backend: changes_text}\n  on-c: {backend: regex_bpe, train: {corpus: c, vocab_size: 260}}\n"
        "  on-d: {backend: regex_bpe, train: {corpus: d, vocab_size: 260}}"
    )
    results = changed("edited", tokenizers, "[compression]", of_c=", evaluate: false", workers=0)
    assert results.tokenizers["on-c"].state == "failed"
    assert results.tokenizers["on-c"].reason.startswith(CHANGED)
    assert cell(results, "on-d", "tokens").value > 0
    assert cell(results, "on-c", "tokens").reason == results.tokenizers["on-c"].reason


def test_nothing_is_timed_on_changed_text(changed):
    metrics = "[compression, {speed: {rounds: 3, min_time: 0.00001, corpora: [c, d]}}]"
    results = changed("edited", metrics=metrics, of_c=", evaluate: false", workers=0)
    for name in ("changes", "good", "same"):
        on_c, on_d = (cell(of(results, each), name, "encode_mb_per_s") for each in "cd")
        assert on_c.status == Status.FAILED
        assert on_c.reason.startswith(CHANGED)
        assert on_d.value > 0
