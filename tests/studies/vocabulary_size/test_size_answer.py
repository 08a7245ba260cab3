"""The answer to a study of vocabulary sizes: the size to take, the grounds, and what to distrust."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tokbench.corpus.shards import BUCKETS
from tokbench.results.blocks import TokenizerInfo, TrainingInfo
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.answer import size_answer
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    ScalingLaw,
    ScalingOptimum,
    SizeRecommendation,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.costs import law
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.measured_block import BestMeasuredSize, MeasuredSizes
from tokbench.studies.vocabulary_size.mixture import Mixture, mix, recommendation, with_measured
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.rows import TextTotals

BYTES = np.random.default_rng(16).integers(2250, 2750, BUCKETS) * 4

MODEL = Model(width=512, layers=6, context=512, tied=True, training_tokens=1e9)


def text(documents=400):
    n_bytes = np.where(np.arange(BUCKETS) < documents, BYTES, 0)  # a document falls into each group
    return TextTotals(documents, n_bytes.astype(float), None, "")


def line_of(ratios, noise=0, held=1.0):
    """A line on one corpus, from its bytes per token by size; so large a share of the ids occurs, each as often."""
    jitter = np.random.default_rng(3).integers(-noise, noise + 1, BUCKETS)
    tokens = [np.round(BYTES / ratio) + jitter * (k + 1) for k, ratio in enumerate(ratios.values())]
    counts = tuple((np.arange(size) < held_at(held, size) * size).astype(np.int64) * 1000 for size in ratios)
    return Line(np.array(list(ratios)), np.array(tokens), counts_by_size=counts)


def held_at(held, size):
    return held.get(size, 1.0) if isinstance(held, dict) else held


def study(
    lines, *, weights=(), model=MODEL, documents=400, left_out=(), infos=(), law_of=None, measured=None, **changes
):
    """The answer to a study of sizes, from the line of each tokenizer on each corpus."""
    corpora = dict.fromkeys(corpus for line in lines.values() for corpus in line)
    mixture = Mixture.of({corpus: text(documents) for corpus in corpora}, dict(weights))
    mixed = {name: mix(name, line, mixture, model) for name, line in lines.items()}
    ratios = {(name, choice.vocab_size): choice.by_corpus for name, line in mixed.items() for choice in line.choices}
    worst = {
        key: min(((corpus, "g", ratio) for corpus, ratio in by_corpus.items()), key=lambda w: w[2])
        for key, by_corpus in ratios.items()
    }
    published = law_of or (law(model) if model else None)
    advice = recommendation(mixture, mixed, dict(left_out), worst, published)
    advice = replace(advice, weighted=bool(weights), **changes)
    advice = with_measured(advice, measured) if measured else advice
    return size_answer(results_of(VocabularySizes(recommendation=advice, law=published, measured=measured), infos))


def results_of(sizes, infos=()):
    """Results that have a study of vocabulary sizes."""
    results = Results(name="sizes", tokenizers=dict(infos))
    results.studies.put(VOCABULARY_SIZES, sizes)
    return results


def law_at(*sizes):
    return ScalingLaw(
        source="s", validity="v", optima=[ScalingOptimum(approach="loss", vocab_size=size) for size in sizes]
    )


PROSAIC = {"prose": line_of({4000: 4.0, 8000: 4.4}), "code": line_of({4000: 2.5, 8000: 2.7})}
CODER = {"prose": line_of({4000: 2.5, 8000: 2.7}), "code": line_of({4000: 4.0, 8000: 4.4})}


@pytest.mark.parametrize(
    ("weights", "taken"),
    [
        ({"prose": 3, "code": 1}, "Take prosaic with 8,000 tokens: 3.802 bytes per token over 2 corpora by the weights given (75 % prose, 25 % code)."),
        ({"prose": 1, "code": 3}, "Take coder with 8,000 tokens: 3.802 bytes per token over 2 corpora by the weights given (25 % prose, 75 % code)."),
        ({"code": 1}, "Take coder with 8,000 tokens: 4.400 bytes per token on code."),
    ],
)  # fmt: skip
def test_weights_turn_the_recommendation(weights, taken):
    assert study({"prosaic": PROSAIC, "coder": CODER}, weights=weights).sentences[0] == taken


def test_without_weights_the_bytes_count():
    first = study({"prosaic": PROSAIC, "worse": {c: line_of({4000: 2.0, 8000: 2.1}) for c in PROSAIC}}).sentences[0]
    assert first.endswith("over 2 corpora by their bytes (50 % prose, 50 % code).")


GROWING = {2000: 3.0, 4000: 3.6, 8000: 4.2, 16000: 5.0}


def test_a_size_beyond_the_text_is_not_taken():
    """Half of the ids of the largest size do not occur in the text; its cost alone would speak for it."""
    answer = study({"mine": {"prose": line_of(GROWING, held={8000: 0.94, 16000: 0.5})}}, law_of=law_at(3000, 5000))
    assert answer.sentences[0] == "Take mine with 4,000 tokens: 3.600 bytes per token on prose."
    assert answer.sentences[1].startswith("It is the smallest size with at most 5 % of its ids too rare that costs")
    assert answer.sentences[2] == "Its worst group is g of prose, 3.600 bytes per token."
    assert answer.sentences[3].startswith(
        "Chosen by compression alone or by cost alone it would be mine with 16,000 tokens: "
    )
    # 2 FLOPs for each weight: 40,894,464 without the output layer, and 1,024 for each row of it
    assert answer.sentences[3].endswith(
        "28.0 % [28.0, 28.0] fewer tokens, 8.3 % fewer FLOPs per byte, 50 % of its ids too rare."
    )
    assert answer.sentences[4:6] == [
        "The published scaling law points to 3,000 to 5,000 tokens.",
        "The size taken lies there.",
    ]
    assert [(row.size, row.rare) for row in answer.options] == [
        (2000, "0 %"),
        (4000, "0 %"),
        (8000, "6 %"),
        (16000, "50 %"),
    ]


def measured_best(size, low=None, high=None, **changes):
    """Measured sizes of which one is best, after 250 kB and 1 MB, with two bodies; the last setting decides."""
    given = {"line": "mine", "equal": "bytes", "flops": 1e12, "sizes": [*GROWING], "values": [2.0] * 4, "law": 3000}
    last = given | {"body": "tiny", "amount": 1e6, "best": size, "best_low": low, "best_high": high} | changes
    first = given | {"best": 2000, "best_low": 2000, "best_high": 2000}
    settings = [("width 32, layers 2", 2.5e5), ("width 32, layers 2", 1e6), ("tiny", 2.5e5)]
    best = [BestMeasuredSize(**first, body=body, amount=amount) for body, amount in settings]
    return MeasuredSizes(
        corpus="prose", train="prose", training_documents=9, training_bytes=10**6, scored_documents=40,
        scored_bytes=10**5, duplicates=0, bodies={"width 32, layers 2": 24_704, "tiny": 98_624},
        best=[*best, BestMeasuredSize(**last)],
    )  # fmt: skip


BY_BITS = "Measured here, by bits per byte of a transformer with 98,624 parameters without vocabulary after 1.00 MB"
NOT_EXTRAPOLATED = "This says nothing of larger models or of more text: nothing is extrapolated."


@pytest.mark.parametrize(
    ("measured", "interval", "beside"),
    [
        (measured_best(8000, 4000, 16000), "8,000 [4,000, 16,000]", "The size taken lies in this interval."),
        (measured_best(4000, 2000, 8000), "4,000 [2,000, 8,000]", "The size taken is the same."),
        (
            *(measured_best(2000, 2000, 2000), "2,000 [2,000, 2,000]"),
            "The size taken is larger, because it rests on compression and FLOPs, not on this model.",
        ),
        (
            *(measured_best(16000, no_interval="one seed"), "16,000 (no interval: one seed)"),
            "The size taken is smaller, because it rests on compression and FLOPs, not on this model.",
        ),
    ],
)
def test_all_grounds_are_named_compression_the_law_and_what_was_measured(measured, interval, beside):
    """The line takes 4,000; half of the ids of 16,000 do not occur in the text."""
    lines = {"mine": {"prose": line_of(GROWING, held={8000: 0.94, 16000: 0.5})}}
    answer = study(lines, law_of=law_at(3000, 5000), measured=measured)
    sentences = answer.sentences
    assert sentences[0] == "Take mine with 4,000 tokens: 3.600 bytes per token on prose."
    assert sentences[3].startswith("Chosen by compression alone or by cost alone it would be mine with 16,000 tokens: ")
    assert sentences[4:10] == [
        "The published scaling law points to 3,000 to 5,000 tokens.",
        "The size taken lies there.",
        "Its ground is compression and FLOPs alone, measured on text, not the loss of a model.",
        f"{BY_BITS}, mine is best with {interval} tokens.",
        beside,
        NOT_EXTRAPOLATED,
    ]
    best = measured.best[-1].best
    assert [row.size for row in answer.options if "measured" in row.basis.split(", ")] == [best]


def test_without_a_model_what_was_measured_is_the_answer_and_compression_is_beside_it():
    answer = study({"mine": {"prose": line_of(GROWING)}}, model=None, measured=measured_best(8000, 4000, 16000))
    assert answer.sentences[0].endswith("mine is best with 8,000 [4,000, 16,000] tokens.")
    assert answer.sentences[1:] == [
        NOT_EXTRAPOLATED,
        "Chosen by compression alone it would be mine with 16,000 tokens, 5.000 bytes per token.",
    ]


def test_a_measured_size_that_is_no_candidate_has_no_row():
    answer = study({"mine": {"prose": line_of(GROWING)}}, measured=measured_best(3000, 3000, 3000))
    assert any("mine is best with 3,000 [3,000, 3,000] tokens." in sentence for sentence in answer.sentences)
    assert not any("measured" in row.basis.split(", ") for row in answer.options)


def test_a_basis_of_an_earlier_version_has_no_best_size_and_no_body(tmp_path):
    """Its "measured here" is the size taken, by compression and cost."""
    basis = {"basis": "measured here", "line": "mine", "smallest": 8000, "largest": 8000}
    body = json.loads(results_of(VocabularySizes(recommendation=SizeRecommendation(weights={"prose": 1.0}))).to_json())
    block = body.pop("studies")["vocabulary_size"]["body"]
    block["recommendation"]["bases"] = [basis]
    body |= {"schema": "tokbench-results/2", "vocabulary_size": block}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    [read] = Results.read(path).studies.get(VOCABULARY_SIZES).recommendation.bases
    assert (read.basis, read.smallest, read.best, read.body, read.amount) == ("measured here", 8000, None, "", None)


def test_where_no_size_keeps_the_limit_that_is_said():
    sentences = study({"mine": {"prose": line_of(GROWING, held=0.6)}}).sentences
    assert (
        "No size keeps the published limit of 5 % of ids too rare; this one is among those nearest to it." in sentences
    )
    [small] = [sentence for sentence in sentences if "too small for this size" in sentence]
    assert small.endswith("6,400 of 16,000 ids do not occur in it. More text may carry a larger size.")


def test_a_training_text_that_gave_fewer_ids_than_were_asked_for_is_named():
    infos = {"mine": TokenizerInfo(vocab_size=16_000, train=TrainingInfo(corpora=["prose"], vocab_size=50_000))}
    sentences = study({"mine": {"prose": line_of(GROWING)}}, infos=infos).sentences
    assert (
        "The training text of mine is too small for its size: 50,000 ids were asked for, and it gave 16,000."
        in sentences
    )


def test_the_law_differs_and_says_why():
    sentences = study({"mine": {"prose": line_of(GROWING)}}, law_of=law_at(100_000)).sentences
    at = sentences.index("The published scaling law points to 100,000 tokens.")
    assert sentences[at + 1].startswith("It differs, because it weighs the loss of a model on English text")


def test_the_sizes_around_have_an_interval_or_the_reason_is_said():
    lines = {"mine": {"prose": line_of(GROWING, noise=40, held={16000: 0.5})}}
    rows = {row.size: row for row in study(lines).options}
    assert rows[8000].tokens == ""
    assert "[" in rows[4000].tokens
    assert rows[4000].tokens.endswith(" more")
    few = study(lines, documents=9)
    assert (
        "Nothing shows how far this holds on other text: prose has too few documents for an interval: 9, and it needs 10."
        in few.sentences
    )
    assert not any("[" in row.tokens for row in few.options)


def test_one_corpus_failed():
    sentences = study(
        {"mine": {"prose": line_of(GROWING)}}, left_out={"other": "not measured on every corpus"}, missing=["code"]
    ).sentences
    assert "Nothing could be measured on code, so that no sentence here speaks of it." in sentences
    assert sentences[-1] == "other cannot be recommended: not measured on every corpus."


def test_without_a_model_only_compression_speaks():
    answer = study({"mine": {"prose": line_of(GROWING)}}, model=None)
    assert (
        answer.sentences[0] == "Chosen by compression alone it would be mine with 16,000 tokens, 5.000 bytes per token."
    )
    assert answer.sentences[1].startswith("No size is recommended without a model")
    assert answer.options == []


def test_nothing_is_recommended_where_every_vocabulary_loses_text():
    mixture = Mixture.of({"prose": text()}, {})
    advice = recommendation(mixture, {}, {"words": "text of prose is lost"}, {}, law(MODEL))
    assert size_answer(results_of(VocabularySizes(recommendation=advice))).sentences == [
        "No size is recommended, because no vocabulary can be.",
        "words cannot be recommended: text of prose is lost.",
    ]


def test_the_interval_of_mixed_corpora_adds_their_variances():
    """By hand: the same corpus twice, half of the text each, has the interval of one with 1 / sqrt(2) of the error."""
    one, two = (
        {"p": np.round(BYTES / ratio) + jitter} for ratio, jitter in ((4, 0), (3.8, np.arange(BUCKETS) % 7 * 20))
    )
    alone = Mixture.of({"p": text()}, {}).more(one, two)
    twice = Mixture.of({"p": text(), "q": text()}, {}).more({**one, "q": one["p"]}, {**two, "q": two["p"]})
    assert twice[0] == pytest.approx(alone[0])
    assert (twice[2] - twice[1]) / (alone[2] - alone[1]) == pytest.approx(2**-0.5, rel=0.05)
