"""Bits per byte at several vocabulary sizes, from the configuration to the report."""

import csv
import io
import shutil

import numpy as np
import pytest
from conftest import problems

import tokbench
from tokbench.formats import html, markdown
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.answer import size_answer
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES
from tokbench.studies.vocabulary_size.csv import SIZE_COLUMNS, sizes_csv
from tokbench.studies.vocabulary_size.section_measured import MeasuredSizeCharts

BODY = "{width: 16, layers: 1, heads: 2, context_bytes: 32, step_bytes: 1024}"
MEASURED = (
    f"sizes: [256, 300, 9000], bodies: [{BODY}], training_mb: 0.004, scored_mb: 0.004, shares: [0.5, 1], seeds: 2, "
    "learning_rates: [0.01]"
)


def written(folder, measured):
    path = folder / "run.yaml"
    path.write_text(
        "schema: tokbench/1\nname: test\ncorpora:\n"
        "  talk: {source: sample, part: languages, groups: [en, de], parallel: true, holdout: 0.5}\n"
        "tokenizers:\n  cut: {backend: regex_bpe, pattern: gpt4, train: {corpus: talk, vocab_size: 320}}\n"
        "  bytes: {backend: utf8_bytes}\nmetrics: [compression]\n"
        f"study: {{vocabulary: {{sizes: [256, 320], measured: {{{measured}}}}}}}\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    folder = tmp_path_factory.mktemp("measured")
    path = written(folder, MEASURED)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TOKBENCH_NO_STORE")
        patch.setenv("TOKBENCH_STORE", str(folder / "store"))
        yield tokbench.run(path, folder / "out", workers=0), folder


@pytest.mark.slow
def test_every_size_and_amount_is_trained_and_the_best_one_told(ran):
    results, _ = ran
    found = results.studies.get(VOCABULARY_SIZES).measured
    assert {(each.vocab_size, each.share, each.seed) for each in found.trained} == {
        (size, share, seed) for size in (256, 300) for share in (0.5, 1.0) for seed in (0, 1)
    }
    assert results.studies.get(VOCABULARY_SIZES).failures == ["cut has no size 9,000"]
    for best in found.best:
        if best.equal == "bytes":
            of_size = [
                np.mean(
                    [each.bits_per_byte for each in found.trained if each.vocab_size == size and share == each.share]
                )
                for share in [0.5 if best.amount == min(b.amount for b in found.best) else 1.0]
                for size in best.sizes
            ]
            assert best.values == pytest.approx(of_size)
        assert best.best == best.sizes[int(np.argmin(best.values))]
        assert best.best in best.level
        assert best.law_caution
    assert all(0 < each.bits_per_byte < 9 for each in found.trained)


@pytest.mark.slow
def test_more_text_costs_more_flops_and_fewer_bits(ran):
    results, _ = ran
    by_share = {}
    for each in results.studies.get(VOCABULARY_SIZES).measured.trained:
        by_share.setdefault(each.share, []).append(each)
    half, whole = by_share[0.5], by_share[1.0]
    assert all(one.flops < two.flops and one.n_bytes < two.n_bytes for one, two in zip(half, whole, strict=True))
    assert np.mean([each.bits_per_byte for each in whole]) < np.mean([each.bits_per_byte for each in half])


@pytest.mark.slow
def test_a_second_run_trains_nothing_and_says_the_same(ran):
    """The seconds of the trainings are those of the first run, to the last digit."""
    results, folder = ran
    second = tokbench.run(folder / "run.yaml", workers=0)
    assert second.studies.get(VOCABULARY_SIZES).measured == results.studies.get(VOCABULARY_SIZES).measured
    other = written(folder, MEASURED.replace("seeds: 2", "seeds: 1"))
    third = tokbench.run(other, workers=0).studies.get(VOCABULARY_SIZES).measured
    assert {each.seed for each in third.trained} == {0}
    assert all(each.no_interval == "one seed shows nothing of other seeds" for each in third.best)


@pytest.mark.slow
def test_a_training_that_was_stopped_goes_on_with_the_same_numbers(ran, monkeypatch):
    """The store has lost what was finished, and has every point on the way."""
    from tokbench.studies.language_models import transformer_model

    results, folder = ran
    shutil.rmtree(folder / "store" / "measured sizes")
    monkeypatch.setattr(transformer_model, "_step", lambda *_: pytest.fail("all points are kept"))
    again = tokbench.run(written(folder, MEASURED), workers=0)
    assert again.studies.get(VOCABULARY_SIZES).measured == results.studies.get(VOCABULARY_SIZES).measured


@pytest.mark.slow
def test_a_size_that_needs_more_memory_than_the_limit_is_refused_and_the_others_go_on(tmp_path):
    """A step has so much text that windows of bytes, which are longest, need more than the smallest limit there is."""
    pytest.importorskip("jax")
    large = MEASURED.replace("step_bytes: 1024", "step_bytes: 131072").replace("9000", "320")
    large = large.replace("[0.5, 1]", "[1]").replace("seeds: 2", "seeds: 1")
    path = written(tmp_path, large)
    path.write_text(path.read_text(encoding="utf-8") + "limits: {memory: 256MB}\n", encoding="utf-8")
    results = tokbench.run(path, workers=0, store=False)
    [failure] = results.studies.get(VOCABULARY_SIZES).failures
    assert failure == (
        "cut at size 256, body width 16, layers 1: a training with 256 ids takes about 319 MB of memory, more than the "
        "256 MB that there are: take a smaller body or step_bytes, or leave the size out"
    )
    found = results.studies.get(VOCABULARY_SIZES).measured
    assert {each.vocab_size for each in found.trained} == {300, 320}
    assert [best.sizes for best in found.best] == [[300, 320]]


@pytest.mark.slow
def test_reports_show_the_numbers_and_their_ground(ran):
    results, folder = ran
    again = Results.read(folder / "out" / "results.json")
    assert again.studies.get(VOCABULARY_SIZES) == results.studies.get(VOCABULARY_SIZES)
    page, text = html.SPEC.render(results), markdown.SPEC.render(results)
    for shown in (page, text):
        assert "Bits per byte, measured here" in shown
        assert "is not extrapolated from this" in shown
    [chart] = MeasuredSizeCharts(results.studies.get(VOCABULARY_SIZES).measured).by_place.values()
    assert not any("★" in line for line in chart.lines), "the best of two sizes lies at an edge"
    rows = list(csv.DictReader(io.StringIO(sizes_csv(results))))
    assert tuple(rows[0]) == SIZE_COLUMNS
    assert len(rows) == 8
    sentences = size_answer(results).sentences
    assert sentences[0] == (
        "What was measured gives no best size of cut: 300 has the fewest bits per byte and is the largest size that was "
        "tried, so that the best one may lie beyond."
    )
    assert "This says nothing of larger models or of more text: nothing is extrapolated." in sentences
    bases = [basis.basis for basis in results.studies.get(VOCABULARY_SIZES).recommendation.bases]
    assert "measured" not in bases, "there is no best size to recommend"


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        ("sizes: [256, 300], bodis: [tiny]", "did you mean 'bodies'?"),
        ("sizes: [256, 300], bodies: [tyni]", "unknown body 'tyni'; known: gpu, small, tiny"),
        ("sizes: [256, 300], bodies: [{width: 30, layers: 1, heads: 4}]", "width 30 is no multiple of 2 x 4 heads"),
        ("sizes: [256, 300], shares: [0.5]", "shares must rise to 1"),
        ("sizes: [256, 300], corpus: tlak", "unknown corpus 'tlak'; did you mean 'talk'?"),
        ("sizes: [256, 300], tokenizers: [cutt]", "unknown tokenizer 'cutt'; did you mean 'cut'?"),
    ],
)
def test_mistakes_are_refused(tmp_path, measured, message):
    pytest.importorskip("jax")
    [found] = problems(written(tmp_path, measured))
    assert message in found
    assert "run.yaml:" in found


def test_without_jax_the_block_is_refused_at_reading(tmp_path, monkeypatch):
    from tokbench.studies.vocabulary_size import options

    monkeypatch.setattr(options, "find_spec", lambda name: None if name == "jax" else object())
    [found] = problems(written(tmp_path, "sizes: [256, 300]"))
    assert "pip install 'tokbench[lm]'" in found
