"""The answer to a study of vocabulary sizes: the size to take, the grounds, and what to distrust."""

from dataclasses import replace

import numpy as np
import pytest

from tokbench.corpus.shards import BUCKETS
from tokbench.results.blocks import TokenizerInfo, TrainingInfo
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advise import Candidates, recommendation
from tokbench.studies.vocabulary_size.answer import size_answer
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, VocabularySizes
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.mixture import Mixture, mix
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.rows import TextTotals

BYTES = np.random.default_rng(16).integers(2250, 2750, BUCKETS) * 4

MODEL = Model(width=512, layers=6, context=512, tied=True, training_tokens=5e6)
"""So few tokens that the counts below show which ids are rare."""
LARGER = Model(width=1024, layers=16, context=1024, tied=True, training_tokens=1e12)


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


def study(lines, *, infos=(), changes=(), **candidates):
    """The answer to a study of sizes, from the line of each tokenizer on each corpus."""
    advice = replace(advised(lines, **candidates), **dict(changes))
    model = candidates.get("model", MODEL)
    drawn = [SizeLine(line=name, kind="ladder", tokenizers=[name], smallest=2000, largest=16000) for name in lines]
    sizes = VocabularySizes(lines=drawn, recommendation=advice, model=model and model.model_dump(exclude_none=True))
    return size_answer(results_of(sizes, infos))


def advised(lines, *, weights=(), model=MODEL, documents=400, left_out=(), **facts):
    """The recommendation."""
    corpora = dict.fromkeys(corpus for line in lines.values() for corpus in line)
    mixture = Mixture.of({corpus: text(documents) for corpus in corpora}, dict(weights))
    mixed = {name: mix(name, line, mixture, model) for name, line in lines.items()}
    worst = {
        (name, choice.vocab_size): (choice.line, "g", choice.compression_ratio)
        for name, line in mixed.items()
        for choice in line.choices
    }
    candidates = Candidates(mixed, dict(left_out), worst, **facts)
    return replace(recommendation(mixture, candidates, model), weighted=bool(weights))


def results_of(sizes, infos=()):
    """Results that have a study of vocabulary sizes."""
    results = Results(name="sizes", tokenizers=dict(infos))
    results.studies.put(VOCABULARY_SIZES, sizes)
    return results


PROSAIC = {"prose": line_of({4000: 4.0, 8000: 4.4}), "code": line_of({4000: 2.5, 8000: 2.7})}
CODER = {"prose": line_of({4000: 2.5, 8000: 2.7}), "code": line_of({4000: 4.0, 8000: 4.4})}


@pytest.mark.parametrize(
    ("weights", "taken"),
    [({"prose": 3, "code": 1}, "prosaic"), ({"prose": 1, "code": 3}, "coder"), ({"code": 1}, "coder")],
)
def test_weights_turn_the_recommendation(weights, taken):
    lines = {"prosaic": PROSAIC, "coder": CODER}
    advice = advised(lines, weights=weights)
    assert (advice.take[0], advice.range.smallest, advice.range.largest, advice.range.best) == (taken, 4000, 8000, 8000)
    assert [sizes.line for sizes in advice.ranges if sizes.refused] == [name for name in lines if name != taken]
    sentences = study(lines, weights=weights).sentences
    assert sentences[0].startswith(f"Take {taken} with 4,000 to 8,000 tokens ")


def test_corpora_count_alike_whatever_their_bytes():
    few = TextTotals(400, BYTES / 100.0, None, "")
    assert Mixture.of({"prose": text(400), "code": few}, {}).weights == {"prose": 0.5, "code": 0.5}


GROWING = {2000: 3.0, 4000: 3.6, 8000: 4.2, 16000: 5.0}
SMOOTH = {round(2 ** (k / 2)): 2.0 + 2.6 * (1 - 0.9 ** (k - 16)) for k in range(16, 33)}
"""By size bytes per token, which grow less and less."""


def test_the_range_is_near_the_least_cost():
    advice = advised({"mine": {"prose": line_of(SMOOTH)}}, model=LARGER)
    costs = {choice.vocab_size: choice.flops_per_byte for choice in advice.choices}
    near = [size for size, cost in costs.items() if cost <= 1.02 * min(costs.values())]
    found = advice.range
    assert (found.smallest, found.largest) == (near[0], near[-1]) == (8192, 23170)
    assert costs[found.best] == min(costs.values())


@pytest.mark.parametrize(("sizes", "ends"), [(slice(0, 11), (False, True)), (slice(12, 17), (True, False))])
def test_a_range_open_at_one_end(sizes, ends):
    advice = advised({"mine": {"prose": line_of(dict(list(SMOOTH.items())[sizes]))}}, model=LARGER)
    assert (advice.range.open_below, advice.range.open_above) == ends


def test_a_text_that_is_too_small_decides_no_size():
    lines = {"mine": {"prose": line_of(GROWING)}}
    for trained, small in ((1.5e6, True), (1.6e6, False)):
        first = study(lines, trained_bytes={"mine": trained}).sentences[0]
        assert first.startswith("The text is too small") == small


def test_lines_that_are_shown_and_not_recommended():
    """One has no split, and each size of another has too many rare ids."""
    lines = {
        name: {"prose": line_of(GROWING, held=held)} for name, held in (("mine", 1.0), ("whole", 1.0), ("rare", 0.5))
    }
    advice = advised(lines, spans={"mine": 0.009, "whole": 0.2})
    assert advice.take == ("mine", 16000)
    assert {sizes.line for sizes in advice.ranges if sizes.refused} == {"whole", "rare"}


def test_unknown_rare_ids_exclude_no_size():
    """Half of the ids do not occur, and training is so long that they may well occur often enough in it."""
    long = MODEL.model_copy(update={"training_tokens": 1e12})
    answer = study({"mine": {"prose": line_of(GROWING, held=0.5)}}, model=long)
    assert [row.cells[1] for row in answer.options if not row.cells[6]] == ["4,000", "8,000", "16,000"]


@pytest.mark.parametrize(
    ("counts", "training", "share"),
    [
        ([701, 100, 100, 99], 1000, 0.4),  # of 1,000 tokens as many are trained on: below 100 is rare
        ([490, 490, 10, 9, 1], 10_000, 0.4),  # below 10
        ([490, 490, 10, 9, 1], 10_001, None),  # a text shows no rarer ids
        ([10] * 5, 1e12, 0.0),
        ([10] * 4, 1e12, None),
    ],
)
def test_the_share_of_rare_ids_by_hand(counts, training, share):
    mixture = Mixture.of({"prose": text()}, {})
    per_byte = mixture.of_ids({"prose": np.array(counts)})
    assert mixture.too_rare(per_byte, 5, training) == (share if share is None else pytest.approx(share))


def test_a_size_beyond_the_text_is_not_taken():
    """Half of the ids of the largest size do not occur in the text; its cost alone would speak for it."""
    lines = {"mine": {"prose": line_of(GROWING, held={8000: 0.94, 16000: 0.5})}}
    advice = advised(lines)
    assert (advice.take, advice.range.capped, advice.allowed_rare) == (("mine", 4000), True, 0.05)
    [largest] = [choice for choice in advice.choices if choice.vocab_size == 16000]
    # 2 FLOPs for each weight: 40,894,464 without the output layer, and 1,024 for each row of it
    assert (largest.more, largest.too_rare) == (pytest.approx(3.6 / 5 - 1, abs=1e-3), 0.5)
    assert largest.flops_per_byte == pytest.approx((40_894_464 + 1024 * 16000) / 5, rel=1e-3)
    answer = study(lines)
    rare = [(row.cells[1], row.cells[6]) for row in answer.options]
    assert rare == [("2,000", "0 %"), ("4,000", "0 %"), ("8,000", "6 %"), ("16,000", "50 %")]


def test_no_size_keeps_the_limit():
    advice = advised({"mine": {"prose": line_of(GROWING, held=0.6)}})
    assert advice.allowed_rare == pytest.approx(0.45)


def test_what_to_distrust_is_said():
    infos = {"mine": TokenizerInfo(vocab_size=16_000, train=TrainingInfo(corpora=["prose"], vocab_size=50_000))}
    left_out, missing = {"other": "not measured on every corpus"}, {"missing": ["code"]}
    sentences = study({"mine": {"prose": line_of(GROWING)}}, infos=infos, left_out=left_out, changes=missing).sentences
    assert ["50,000 ids" in sentences[-3], "code" in sentences[-2], sentences[-1].startswith("other")] == [True] * 3


def test_the_sizes_around_have_an_interval_or_the_reason_is_said():
    lines = {"mine": {"prose": line_of(GROWING, noise=40, held={16000: 0.5})}}
    tokens = {row.cells[1]: row.cells[3] for row in study(lines).options}
    assert tokens["8,000"] == ""
    assert "[" in tokens["4,000"]
    assert tokens["4,000"].endswith(" more")
    assert advised(lines).no_interval == ""
    few = advised(lines, documents=9)
    assert few.no_interval
    assert {choice.more_low for choice in few.choices} == {None}


def test_without_a_model_only_compression_speaks():
    answer = study({"mine": {"prose": line_of(GROWING)}}, model=None)
    assert (
        answer.sentences[0] == "Chosen by compression alone it would be mine with 16,000 tokens, 5.000 bytes per token."
    )
    assert answer.sentences[1].startswith("No size is recommended without a model")
    assert answer.options == []


def test_nothing_is_recommended_where_every_vocabulary_loses_text():
    mixture = Mixture.of({"prose": text()}, {})
    advice = recommendation(mixture, Candidates({}, {"words": "text of prose is lost"}, {}), MODEL)
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
