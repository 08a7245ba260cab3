"""One of three verdicts: train, take a published tokenizer, or get more text; each condition from both sides."""

import itertools

import pytest

from tokbench.report.tables import CellTables
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advice import picked
from tokbench.studies.vocabulary_size.answer import size_lines
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeAdvice, SizePick, VocabularySizes
from tokbench.studies.vocabulary_size.verdict import SizeVerdict, verdict

TRAIN, TAKE, MORE_TEXT = SizeVerdict
MARGIN = 0.125  # a power of two, so that the edge itself can be met


def cost(compute, tokens=1.0, size=1000):
    return SizePick(
        vocab_size=size, tokens_per_byte=tokens, cost=compute, low=round(0.8 * size), high=round(1.2 * size)
    )


PUBLISHED = cost(1.0, 1.0)
BETTER, EQUAL, WORSE = cost(0.5), cost(1.0), cost(1.5)


@pytest.mark.parametrize(
    ("compute", "tokens", "better"),
    [
        (0.875, 2.0, True),  # less compute by the margin, whatever the tokens
        (0.8751, 2.0, False),  # as much compute, more tokens
        (0.8751, 0.8751, False),  # a tie in both
        (0.8751, 0.875, True),  # as much compute, fewer tokens by the margin
        (1.1249, 0.875, True),
        (1.125, 0.875, False),  # more compute by the margin, whatever the tokens
        (1.5, 0.5, False),
        (1.5, 1.5, False),
        (0.5, 1.5, True),
        (1.0, 1.0, False),
        (1.0, 1.5, False),
    ],
)
def test_compute_decides_and_tokens_where_it_is_the_same(compute, tokens, better):
    own = cost(compute, tokens)
    assert verdict(own, own, PUBLISHED, MARGIN) == (TRAIN if better else TAKE)
    assert verdict(BETTER, own, PUBLISHED, MARGIN) == (TRAIN if better else MORE_TEXT)


@pytest.mark.parametrize(
    ("own", "inside", "published", "expected"),
    [
        (BETTER, BETTER, PUBLISHED, TRAIN),
        (BETTER, EQUAL, PUBLISHED, MORE_TEXT),
        (BETTER, WORSE, PUBLISHED, MORE_TEXT),
        (BETTER, None, PUBLISHED, MORE_TEXT),
        (EQUAL, None, PUBLISHED, TAKE),
        (EQUAL, BETTER, PUBLISHED, TAKE),
        (WORSE, BETTER, PUBLISHED, TAKE),
        (WORSE, WORSE, PUBLISHED, TAKE),
        (WORSE, WORSE, None, TRAIN),
        (WORSE, None, None, MORE_TEXT),
    ],
)
def test_what_the_text_supports_decides_between_training_and_more_text(own, inside, published, expected):
    assert verdict(own, inside, published, MARGIN) == expected


@pytest.mark.parametrize("margin", [0.01, MARGIN])
def test_training_is_never_worse_in_both_tokens_and_compute(margin):
    shares = [0.5, 0.874, 0.9, 0.989, 0.991, 1.0, 1.009, 1.011, 1.1, 1.126, 2.0]
    for compute, tokens in itertools.product(shares, shares):
        own = cost(compute, tokens)
        if verdict(own, own, PUBLISHED, margin) == TRAIN:
            assert compute < 1 or tokens < 1


def first_of(own, inside, whole, trained):
    """The first sentence of the answer for a 1b model, and what is said of confidence."""
    advice = SizeAdvice(model="1b", line="mine", pick=own, inside=inside, best=990, largest=5000)
    results = Results(name="sizes")
    block = VocabularySizes(
        models={"1b": {"width": 64, "layers": 2, "context": 64}},
        weights={"prose": 0.5, "code": 0.5},
        advice=[advice],
        whole={"1b": whole},
        training={"mine": trained},
        ends={"mine": "text"},
    )
    results.studies.put(VOCABULARY_SIZES, block)
    sizes, confidence = size_lines(CellTables(results))
    return sizes.sentences[0], confidence.sentences


ENOUGH = {"prose": 60_000.0, "code": 60_000.0}
LITTLE = {"prose": 60_000.0, "code": 40_000.0}


def test_the_published_tokenizer_of_least_compute_is_the_one_to_take():
    whole = {"fewest": cost(1.2, 0.5), "least": cost(1.0, 1.0), "worst": cost(1.4, 1.4)}
    said, confidence = first_of(cost(1.06, 1.48), cost(1.2), whole, LITTLE)
    assert said == (
        "Take least for a 1b model: with this text, your own vocabulary would cost 6% more compute, "
        "and use 48% more tokens."
    )
    assert confidence == (
        "Low beyond 800, which is what your text supports.",
        "Add 20 kB of code for up to 1,200.",
    )


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (cost(0.92, 1.2), "8% less compute per byte, and 20% more tokens"),
        (cost(0.92, 0.95), "8% less compute per byte, and 5% fewer tokens"),
        (cost(0.92, 1.001), "8% less compute per byte, and as many tokens"),
        (cost(0.999, 0.95), "as much compute per byte, and 5% fewer tokens"),
    ],
)
def test_a_size_to_train_is_compared_with_the_published_one(own, words):
    said, confidence = first_of(own, own, {"gpt": PUBLISHED}, ENOUGH)
    assert said == f"Train mine with 1,000 tokens (800 to 1,200) for a 1b model: compared with gpt, {words}."
    assert confidence == ("Firm: there are 100 bytes or more of training text for each token up to 1,200.",)


def test_more_text_says_of_what_and_how_much_once():
    said, confidence = first_of(cost(0.9), cost(1.1), {"gpt": PUBLISHED}, LITTLE)
    assert said == (
        "Get more text for a 1b model: 20 kB of code. Then train mine with about 1,000 tokens (800 to 1,200)."
    )
    assert confidence == ("Low beyond 800, which is what your text supports.",)


def test_the_size_to_train_is_one_that_the_text_supports():
    """A published one costs 1.1, the best size 0.9; the text supports sizes up to 800."""
    said, confidence = first_of(cost(0.9, 0.8), cost(1.0, 1.2, 700), {"gpt": cost(1.1)}, LITTLE)
    assert said == (
        "Train mine with 700 tokens (560 to 840) for a 1b model: compared with gpt, 9% less compute per byte, "
        "and 20% more tokens."
    )
    assert confidence == ("Low beyond 800, which is what your text supports.", "Add 20 kB of code for up to 1,200.")
    assert first_of(cost(0.9), cost(1.0, 1.2, 700), {}, LITTLE)[0].startswith("Train mine with 700 tokens")


@pytest.mark.parametrize(
    ("size", "low", "high", "pick"),
    [(30_400, 30_000, 31_000, 30_000), (30_600, 30_500, 31_000, 31_000), (30_600, 30_500, 30_999, 30_600),
     (39_999, 31_000, 39_999, 39_000), (39_999, 39_999, 39_999, 39_999)],
)  # fmt: skip
def test_a_pick_has_the_fewest_digits_of_its_range(size, low, high, pick):
    assert picked(size, low, high) == pick
