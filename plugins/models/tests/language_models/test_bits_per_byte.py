"""Bits per byte: the n-gram's eye, errors and verdicts, and the sizes that no other beats."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest

import tokbench
from tokbench.corpus.corpus import Corpus
from tokbench.foundation.progress import silent
from tokbench.results.blocks import TokenizerInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench.sources.python import StdlibOptions, StdlibSource
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.statistics.jackknife import leave_out, spread
from tokbench_models.language_models.best_size import best_sizes
from tokbench_models.language_models.bits_per_byte import DECIDING, ModelTextOptions, NgramBits
from tokbench_models.language_models.block import BITS_PER_BYTE, BitsComparison, BitsPerByte, TrainedIds
from tokbench_models.language_models.contract import ModelTask, ModelTexts
from tokbench_models.language_models.fit import emitted_ids, encoded_part
from tokbench_models.language_models.scored_bits import GROUPS, TRAINING_PARTS, ScoredBits, Uncertain, bits_verdict
from tokbench_models.language_models.texts import text_parts

PACKAGES = ("asyncio", "email", "http", "importlib", "json", "logging", "multiprocessing", "unittest", "urllib", "xml")


@pytest.fixture(scope="module")
def parts():
    corpus = Corpus("library", StdlibSource(StdlibOptions(packages=PACKAGES)), holdout=0.35)
    return text_parts(corpus, corpus, ModelTexts("", 0.1, 600_000, 300_000, 4096))


@pytest.fixture(scope="module")
def fit(parts):
    def bits(tokenizer):
        training, scored = encoded_part(tokenizer, parts.training), encoded_part(tokenizer, parts.scored)
        n_ids = emitted_ids(tokenizer, training.encoded.ids, scored.encoded.ids)
        return NgramBits(ModelTextOptions()).fit(ModelTask(training, scored, n_ids, {}), silent)

    return bits


def trained(texts):
    return tokbench.train("regex_bpe", list(texts), 1024, pattern="gpt4", store=False)


@pytest.fixture(scope="module")
def base(parts):
    return trained(parts.training)


@pytest.fixture(scope="module")
def base_bits(fit, base):
    return fit(base)


@pytest.mark.slow
def test_a_vocabulary_of_another_domain_is_found_worse(fit, base_bits):
    prose = [document.text for document in SampleSource(SampleOptions(part="languages")).documents()]
    differences = base_bits.minus(fit(trained(prose)))
    assert bits_verdict([differences[order - 1] for order in DECIDING]) == ("better", False)


@pytest.mark.slow
def test_half_of_the_training_text_makes_a_level_tokenizer(parts, fit, base_bits):
    """Another tokenizer of equal quality, of which no id need be the same."""
    differences = fit(trained(parts.training[::2])).minus(base_bits)
    assert any(difference.value for difference in differences)
    assert bits_verdict([differences[order - 1] for order in DECIDING]) == ("level", False)


class Padded:
    """A vocabulary with special tokens, an unknown one, ids without bytes, and two of use."""

    vocab_size = 8
    unk_id = 2

    @property
    def special_ids(self):
        return {"<s>": 0, "</s>": 1, "<far>": 99}

    def token_bytes(self, token, /):
        return {3: b"a", 4: b"b", 0: b"<s>", 1: b"</s>", 2: b"?"}.get(token, b"")

    def encode(self, text, /):
        return [3 if char == "a" else 4 for char in text]

    def decode(self, ids, /):
        return "".join("ab"[token - 3] for token in ids)

    def encode_with_special(self, text, /, allowed_special):
        return self.encode(text)


def test_ids_that_can_be_emitted():
    assert emitted_ids(Padded()) == 2
    assert emitted_ids(Padded(), np.array([3, 6, 6], dtype=np.uint32)) == 3


DECIDING_SCORED = 4


def experiment(rng, shift=0.0, documents=64, noise=0.02, part_noise=0.01, alike=0.9):
    """Draw the bits of two tokenizers under four models; models agree on a document by the correlation ``alike``."""
    sizes = np.full(documents, 4000)
    difficulty = 2 + 0.3 * rng.standard_normal(documents)
    parts_difficulty = 0.05 * rng.standard_normal(TRAINING_PARTS)
    found = []
    for own in (0.0, shift):
        common, alone = rng.standard_normal(documents), rng.standard_normal((DECIDING_SCORED, documents))
        bits = (difficulty + own + noise * (alike**0.5 * common + (1 - alike) ** 0.5 * alone)) * sizes
        parts = [
            np.outer(np.ones(DECIDING_SCORED), sizes) * (2.3 + each + own + part_noise * rng.standard_normal())
            for each in parts_difficulty
        ]
        found.append(ScoredBits.of(bits, parts, sizes))
    return found


def test_both_errors_by_hand():
    rng = np.random.default_rng(1)
    sizes = rng.integers(3000, 5000, 64)
    bits = rng.normal(2, 0.1, (1, 64)) * sizes
    parts = [np.full((1, 64), level) * sizes for level in (2.0, 2.1, 2.2, 2.3, 2.4)]
    found = ScoredBits.of(bits, parts, sizes).value(0)
    groups = np.arange(64) % GROUPS
    sums = np.bincount(groups, bits[0]), np.bincount(groups, sizes).astype(float)
    documents = spread(leave_out(*sums)).error
    training = np.std([2.0, 2.1, 2.2, 2.3, 2.4], ddof=1) / 5**0.5
    assert found.value == pytest.approx(bits.sum() / sizes.sum())
    assert found.error == pytest.approx(hypot(documents, training))
    assert 4 <= found.freedom < 31
    low, high = found.ends()
    assert low < found.value < high


def test_differences_are_paired():
    """A hard document or a poor training part, which two tokenizers share, is not an error of their difference."""
    one, other = experiment(np.random.default_rng(2), noise=0.0, part_noise=0.0, shift=0.1)
    for each in other.minus(one):
        assert each.value == pytest.approx(0.1)
        assert each.error < 1e-9
    assert one.value(0).error > 0.02


def test_no_error_without_enough_text():
    few = ScoredBits.of(np.full((1, 9), 2000.0), [np.ones((1, 9))] * 5, np.full(9, 1000))
    assert few.value(0) == Uncertain(2.0, reason="too few documents for an interval: 9, and it needs 10")
    alone = ScoredBits.of(np.full((1, 60), 2000.0), [], np.full(60, 1000))
    assert alone.value(0).reason == "too few training documents for an interval"
    assert bits_verdict([alone.value(0)]) == ("unknown", False)


def test_two_names_of_one_quality_are_level_in_19_of_20_experiments():
    rng = np.random.default_rng(3)
    said = [bits_verdict(one.minus(other))[0] for one, other in (experiment(rng, noise=0.1) for _ in range(60))]
    assert said.count("level") >= 57


def test_a_difference_within_two_errors_says_nothing():
    assert bits_verdict([Uncertain(-0.05, 0.026, 10_000)] * 4) == ("level", False)
    assert bits_verdict([Uncertain(-0.05, 0.0249, 10_000)] * 4) == ("better", False)
    # Student's t with 9 degrees of freedom asks for 2.262 / 1.96 times as many: 2.308
    assert bits_verdict([Uncertain(-0.05, 0.0218, 9)] * 4) == ("level", False)
    assert bits_verdict([Uncertain(-0.05, 0.0216, 9)] * 4) == ("better", False)


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
