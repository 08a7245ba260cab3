"""The answer to a study of vocabulary sizes: the size to take, the grounds, and what to distrust."""

from dataclasses import replace

import numpy as np
import pytest

from tokbench.corpus.shards import BUCKETS
from tokbench.results.blocks import TokenizerInfo, TrainingInfo
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advise import Candidates, recommendation, with_measured
from tokbench.studies.vocabulary_size.answer import size_answer
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    ScalingLaw,
    ScalingOptimum,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.costs import describe_model, law
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.measured_block import BestMeasuredSize, MeasuredSizes
from tokbench.studies.vocabulary_size.mixture import Mixture, mix
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.published import LAW_WEIGHS, PRACTISED
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


def study(lines, *, infos=(), law_of=None, measured=None, changes=(), **candidates):
    """The answer to a study of sizes, from the line of each tokenizer on each corpus."""
    advice, published = advised(lines, law_of=law_of, **candidates)
    advice = replace(advice, **dict(changes))
    advice = with_measured(advice, measured) if measured else advice
    model = candidates.get("model", MODEL)
    sizes = VocabularySizes(
        recommendation=advice, law=published, measured=measured, model=model and describe_model(model)
    )
    return size_answer(results_of(sizes, infos))


def advised(lines, *, weights=(), model=MODEL, documents=400, law_of=None, left_out=(), **facts):
    """The recommendation and the published law."""
    corpora = dict.fromkeys(corpus for line in lines.values() for corpus in line)
    mixture = Mixture.of({corpus: text(documents) for corpus in corpora}, dict(weights))
    mixed = {name: mix(name, line, mixture, model) for name, line in lines.items()}
    ratios = {(name, choice.vocab_size): choice.by_corpus for name, line in mixed.items() for choice in line.choices}
    worst = {
        key: min(((corpus, "g", ratio) for corpus, ratio in by_corpus.items()), key=lambda w: w[2])
        for key, by_corpus in ratios.items()
    }
    published = law_of or (law(model) if model else None)
    candidates = Candidates(mixed, dict(left_out), worst, **facts)
    advice = recommendation(mixture, candidates, model, published)
    return replace(advice, weighted=bool(weights)), published


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
LEAST = "the cost of a byte of text is within 2 % of the least there, which"
CODER = {"prose": line_of({4000: 2.5, 8000: 2.7}), "code": line_of({4000: 4.0, 8000: 4.4})}


@pytest.mark.parametrize(
    ("weights", "taken", "over", "refused"),
    [
        ({"prose": 3, "code": 1}, "prosaic", "over 2 corpora by the weights given (75 % prose, 25 % code)", "coder"),
        ({"prose": 1, "code": 3}, "coder", "over 2 corpora by the weights given (25 % prose, 75 % code)", "prosaic"),
        ({"code": 1}, "coder", "on code", "prosaic"),
    ],
)
def test_weights_turn_the_recommendation(weights, taken, over, refused):
    sentences = study({"prosaic": PROSAIC, "coder": CODER}, weights=weights).sentences
    assert sentences[0] == f"Take {taken} with 4,000 to 8,000 tokens {over}: {LEAST} 8,000 have."
    assert sentences[-1].startswith(
        f"{refused} is shown and not recommended: a byte of text costs more than with {taken}"
    )


def test_without_weights_corpora_count_alike_whatever_their_bytes():
    lines = {"prosaic": PROSAIC, "worse": {corpus: line_of({4000: 2.0, 8000: 2.1}) for corpus in PROSAIC}}
    assert "over 2 corpora that count alike (prose and code): " in study(lines).sentences[0]
    few = TextTotals(400, BYTES / 100.0, None, "")
    assert Mixture.of({"prose": text(400), "code": few}, {}).weights == {"prose": 0.5, "code": 0.5}


GROWING = {2000: 3.0, 4000: 3.6, 8000: 4.2, 16000: 5.0}
BEYOND = (
    "Take mine with 4,000 tokens on prose: a byte of text costs least there.",
    "Smaller needs more tokens (2,000: 20.0 % more).",
    "Of larger sizes, more than 5 % of the ids are too rare.",
)
SMOOTH = {round(2 ** (k / 2)): 2.0 + 2.6 * (1 - 0.9 ** (k - 16)) for k in range(16, 33)}
"""By size bytes per token, which grow less and less."""


def test_the_answer_is_a_range_with_its_reason_in_a_sentence():
    sentences = study({"mine": {"prose": line_of(SMOOTH)}}, model=LARGER).sentences
    assert sentences[:2] == [
        f"Take mine with 8,200 to 23,000 tokens on prose: {LEAST} 16,000 have.",
        "Smaller needs more tokens (4,100: 6.1 % more); larger widens the output layer (46,000: 6.4 % more FLOPs per byte).",
    ]
    advice, _ = advised({"mine": {"prose": line_of(SMOOTH)}}, model=LARGER)
    costs = {choice.vocab_size: choice.flops_per_byte for choice in advice.choices}
    near = [size for size, cost in costs.items() if cost <= 1.02 * min(costs.values())]
    assert (advice.range.smallest, advice.range.largest) == (near[0], near[-1])
    assert costs[advice.range.best] == min(costs.values())


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        (slice(0, 11), "It has no larger size than 8,192, and a larger one may cost as little."),
        (slice(12, 17), "It has no smaller size than 16,384, and a smaller one may cost as little."),
    ],
)
def test_a_range_at_the_end_of_what_is_known_says_so(sizes, sentence):
    ratios = dict(list(SMOOTH.items())[sizes])
    assert sentence in study({"mine": {"prose": line_of(ratios)}}, model=LARGER).sentences


def test_a_text_that_is_too_small_decides_no_size():
    sentences = study({"mine": {"prose": line_of(GROWING)}}, trained_bytes={"mine": 2e5}).sentences
    assert sentences[0] == (
        "The text is too small to decide a size: mine was trained on 200 kB, which are 12 bytes for an id of 16,000, and "
        "100 are needed. About 1.60 MB would decide it. As far as this text goes:"
    )
    assert "Take mine with 16,000 tokens" in sentences[1]
    enough = study({"mine": {"prose": line_of(GROWING)}}, trained_bytes={"mine": 1.6e6}).sentences
    assert enough[0] == sentences[1]


def test_a_line_without_a_split_is_shown_and_not_recommended():
    lines = {"mine": {"prose": line_of(GROWING)}, "whole": {"prose": line_of({4000: 4.6, 16000: 6.0})}}
    answer = study(lines, spans={"mine": 0.009, "whole": 0.2})
    assert answer.sentences[0].startswith("Take mine with 16,000 tokens")
    assert answer.sentences[-1].startswith(
        "whole is shown and not recommended: it has no split, so that its tokens span"
    )
    assert [(row.line, row.size) for row in answer.options][-1] == ("whole", 16000)


def test_a_line_of_which_every_size_has_too_many_rare_ids_is_not_recommended():
    lines = {"mine": {"prose": line_of(GROWING)}, "other": {"prose": line_of(GROWING, held=0.5)}}
    assert study(lines).sentences[-1] == (
        "other is shown and not recommended: each of its sizes has too many ids that training holds fewer than 100 times."
    )


def test_what_the_text_is_too_small_to_show_is_unknown_and_excludes_no_size():
    """Half of the ids do not occur, and training is so long that they may well occur often enough in it."""
    long = MODEL.model_copy(update={"training_tokens": 1e12})
    answer = study({"mine": {"prose": line_of(GROWING, held=0.5)}}, model=long)
    assert any("too small to show which ids training holds" in sentence for sentence in answer.sentences)
    assert [row.size for row in answer.options if not row.rare] == [4000, 8000, 16000]


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
    answer = study({"mine": {"prose": line_of(GROWING, held={8000: 0.94, 16000: 0.5})}}, law_of=law_at(3000, 5000))
    assert answer.sentences[:5] == [
        *BEYOND,
        "That gives 3.600 bytes per token.",
        "Its worst group is g of prose, 3.600 bytes per token.",
    ]
    # 2 FLOPs for each weight: 40,894,464 without the output layer, and 1,024 for each row of it
    assert answer.sentences[5] == (
        "Chosen by compression alone it would be mine with 16,000 tokens: "
        "28.0 % [28.0, 28.0] fewer tokens, 8.3 % fewer FLOPs per byte, 50 % of its ids too rare."
    )
    assert answer.sentences[7].startswith("The published scaling law points to 3,000 to 5,000 tokens.")
    assert "Training holds 0 % of its ids fewer than 100 times, as the text shows." in answer.sentences
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
    assert tuple(sentences[:3]) == BEYOND
    assert sentences[5].startswith("Chosen by compression alone it would be mine with 16,000 tokens: ")
    assert sentences[6:14] == [
        "Chosen by cost alone it is the same size.",
        "The published scaling law points to 3,000 to 5,000 tokens.",
        f"{LAW_WEIGHS}.",
        PRACTISED,
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


def test_a_measured_size_at_the_edge_is_not_called_best():
    lines = {"mine": {"prose": line_of(GROWING)}}
    sentences = study(lines, measured=measured_best(16000, no_interval="one seed", edge="largest")).sentences
    assert (
        "What was measured gives no best size of mine: 16,000 has the fewest bits per byte and is the largest size that "
        "was tried, so that the best one may lie beyond." in sentences
    )
    assert not any("is best with" in sentence for sentence in sentences)


def test_a_measured_size_that_is_no_candidate_has_no_row():
    answer = study({"mine": {"prose": line_of(GROWING)}}, measured=measured_best(3000, 3000, 3000))
    assert any("mine is best with 3,000 [3,000, 3,000] tokens." in sentence for sentence in answer.sentences)
    assert not any("measured" in row.basis.split(", ") for row in answer.options)


def test_where_no_size_keeps_the_limit_that_is_said():
    sentences = study({"mine": {"prose": line_of(GROWING, held=0.6)}}).sentences
    assert (
        "No size keeps the published limit of 5 % of ids too rare; this one is among those nearest to it." in sentences
    )


def test_a_training_text_that_gave_fewer_ids_than_were_asked_for_is_named():
    infos = {"mine": TokenizerInfo(vocab_size=16_000, train=TrainingInfo(corpora=["prose"], vocab_size=50_000))}
    sentences = study({"mine": {"prose": line_of(GROWING)}}, infos=infos).sentences
    assert (
        "The training text of mine is too small for its size: 50,000 ids were asked for, and it gave 16,000."
        in sentences
    )


def test_what_is_known_stands_beside_the_size():
    sentences = study({"mine": {"prose": line_of(GROWING)}}, law_of=law_at(100_000)).sentences
    at = sentences.index("The published scaling law points to 100,000 tokens.")
    assert sentences[at + 1 : at + 3] == [f"{LAW_WEIGHS}.", PRACTISED]
    assert "no ceiling" in LAW_WEIGHS
    for known in ("32,000", "50,257", "128,256", "nanochat", "Limisiewicz et al. 2026"):
        assert known in PRACTISED


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
        {"mine": {"prose": line_of(GROWING)}},
        left_out={"other": "not measured on every corpus"},
        changes={"missing": ["code"]},
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
    advice = recommendation(mixture, Candidates({}, {"words": "text of prose is lost"}, {}), MODEL, law(MODEL))
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
