"""Bits per byte at several sizes of a vocabulary: which sizes no other beats, by hand and in a run over cut vocabularies."""

import pytest

import tokbench
from tokbench.results.blocks import TokenizerInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench_models.language_models.best_size import best_sizes
from tokbench_models.language_models.block import BITS_PER_BYTE, BitsComparison, BitsPerByte, TrainedIds

SIZES = (512, 1024, 2048, 4096)


def pair(better, other, verdict="better"):
    sizes = {"tokenizer": f"mine-{better}", "other": f"mine-{other}"}
    return BitsComparison(**sizes, differences=[0.1] * 2, errors=[None] * 2, verdict=verdict)


def measured(pairs, tokens_per_id=99):
    """Results with models of four sizes of one vocabulary, and of a tokenizer that is compared with none of them."""
    names = {f"mine-{size}": size for size in SIZES} | {"alone": 300}
    results = Results(
        name="r", tokenizers={name: TokenizerInfo(vocab_size=size, backend=name[:4]) for name, size in names.items()}
    )
    results.cells = [
        Cell(name, "code", WHOLE, metric, 2 + abs(size - 1000) / 1000, ci_low=1.5, ci_high=9)
        for name, size in names.items() for metric in ("bits_a", "bits_b")
    ]  # fmt: skip
    ids = TrainedIds(
        ids=9, training_tokens=9, tokens_per_id=tokens_per_id, never_trained=0, training_bytes_per_token=4,
        scored_bytes_per_token=4,
    )  # fmt: skip
    models = BitsPerByte(
        corpus="code", train="code", family="transformer", metrics=["bits_a", "bits_b"], models=["text", "computing"],
        deciding=["bits_a", "bits_b"], least=0.02, blocks=dict.fromkeys(names, "code"),
        comparisons=[*pairs, pair(4096, 4096, "level")], trained_ids=dict.fromkeys(names, ids),
    )  # fmt: skip
    results.studies.put(BITS_PER_BYTE, [models])
    return results


@pytest.mark.parametrize(
    ("pairs", "unbeaten", "said"),
    [
        ([pair(1024, 512), pair(2048, 512), pair(1024, 4096), pair(1024, 2048, "level")], [1024, 2048], ""),
        ([pair(1024, 512), pair(1024, 2048)], [1024, 4096], "larger"),
        ([pair(512, 1024), pair(512, 2048), pair(512, 4096)], [512], "smaller"),
        ([pair(512, 1024, "unknown"), pair(512, 2048, "unknown")], [*SIZES], "tie"),
    ],
)
def test_sizes_that_no_other_beats(pairs, unbeaten, said):
    results = measured(pairs)
    [bits] = best_sizes(results)
    assert bits.tokenizers == {size: f"mine-{size}" for size in SIZES}
    assert bits.unbeaten == unbeaten
    sentences = " ".join(bits.sentences())
    assert said in sentences
    assert ("was tried" in sentences) == (said in {"larger", "smaller"})


@pytest.mark.parametrize(("tokens_per_id", "few"), [(49, True), (50, False)])
def test_few_training_tokens_for_an_id(tokens_per_id, few):
    [bits] = best_sizes(measured([pair(2048, size) for size in SIZES if size != 2048], tokens_per_id))
    assert ("fewer than 50" in " ".join(bits.sentences())) == few


@pytest.mark.slow
def test_cut_and_trained_sizes_from_the_configuration_on(write_config, tmp_path):
    """Two sizes of a vocabulary that is cut and of one that is trained are a line each."""
    tokbench.train("regex_bpe:gpt4", ["the other brother bathes there"] * 9, 290).save(tmp_path / "file.bpe.json")
    file = "{backend: regex_bpe, path: file.bpe.json}"
    results = tokbench.run(
        write_config(
            "  code: {source: sample, part: code, groups: [python], holdout: 0.3}",
            f"  file: {{backend: cut, of: {file}, grid: {{size: [260, 269]}}}}\n"
            "  mine: {backend: regex_bpe, pattern: gpt4, train: {corpus: code, vocab_size: [300, 600]}}",
            metrics="[compression, bits_per_byte]",
        ),
        workers=0,
    )
    assert not results.failed
    sizes = {best.line: best.tokenizers for best in best_sizes(results)}
    assert sizes == {
        "file": {260: "file-size=260", 269: "file-size=269"},
        "mine": {300: "mine-300", 600: "mine-600"},
    }
