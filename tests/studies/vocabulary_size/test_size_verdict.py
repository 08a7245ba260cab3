"""One of three verdicts, each condition from both sides; what a model costs; the published law of sizes."""

import itertools

import pytest
from pydantic import ValidationError

from tokbench.report.tables import CellTables
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advice import flops_per_token, picked
from tokbench.studies.vocabulary_size.answer import SizeVerdict, advised, size_lines, verdict
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeAdvice, SizePick, VocabularySizes
from tokbench.studies.vocabulary_size.options import MODELS, Model, VocabularyStudy, model_named
from tokbench.studies.vocabulary_size.scaling import optimal_sizes

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


def block_of(own, inside, whole, trained):
    """Sizes of one vocabulary for a 1b model."""
    advice = SizeAdvice(model="1b", line="mine", pick=own, inside=inside, best=990, largest=5000)
    return VocabularySizes(
        models={"1b": {"width": 64, "layers": 2, "context": 64}},
        weights={"prose": 0.5, "code": 0.5},
        advice=[advice],
        whole={"1b": whole},
        training={"mine": trained},
        ends={"mine": "text"},
    )


def first_of(own, inside, whole, trained):
    """The first sentence of the answer for a 1b model, and what is said of confidence."""
    results = Results(name="sizes")
    results.studies.put(VOCABULARY_SIZES, block_of(own, inside, whole, trained))
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


@pytest.mark.parametrize(
    ("own", "inside", "size"),
    [
        (cost(0.9), cost(0.95, 1.0, 700), 700),
        (cost(0.9), cost(1.1, 1.0, 700), 1000),
        (cost(1.1), cost(1.1, 1.0, 700), 1000),
        (cost(0.9), None, 1000),
    ],
)
def test_shaded_sizes_are_those_of_the_verdict(own, inside, size):
    block = block_of(own, inside, {"gpt": PUBLISHED}, LITTLE)
    pick = advised(block, block.advice[0], 0.01)
    assert (pick.vocab_size, pick.low, pick.high) == (size, round(0.8 * size), round(1.2 * size))
    said, _ = first_of(own, inside, {"gpt": PUBLISHED}, LITTLE)
    assert (f"({pick.low:,} to {pick.high:,})" in said) == (not said.startswith("Take"))


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


GPT2 = {"context": 1024, "positions": 1024, "biases": True, "tied": True}
GPT2_SMALL = Model(width=768, layers=12, **GPT2)
LLAMA2 = Model(width=4096, layers=32, context=4096, heads=32, feed_forward=11008, gated=True)
LLAMA3 = Model(width=4096, layers=32, context=8192, heads=32, kv_heads=8, feed_forward=14336, gated=True)

PUBLISHED_MODEL = {
    "gpt2": (GPT2_SMALL, 50257, 124_439_808),
    "gpt2-xl": (Model(width=1600, layers=48, **GPT2), 50257, 1_557_611_200),
    "llama2-7b": (LLAMA2, 32000, 6_738_415_616),
    "llama2-70b": (
        Model(width=8192, layers=80, context=4096, heads=64, kv_heads=8, feed_forward=28672, gated=True),
        32000,
        68_976_648_192,
    ),
    "llama3-8b": (LLAMA3, 128256, 8_030_261_248),
    "mistral-7b": (LLAMA3, 32000, 7_241_732_096),
    "gemma-2b": (
        Model(
            width=2048,
            layers=18,
            context=8192,
            heads=8,
            kv_heads=1,
            head_width=256,
            feed_forward=16384,
            gated=True,
            tied=True,
        ),
        256000,
        2_506_172_416,
    ),
}


@pytest.mark.parametrize("name", PUBLISHED_MODEL)
def test_published_totals_to_the_parameter(name):
    model, vocab_size, total = PUBLISHED_MODEL[name]
    rows = vocab_size * (1 if model.tied else 2)
    assert model.parameters_without_vocabulary + rows * model.width == total


def test_gpt2_small_by_hand():
    layer = (4 * 768 * 768 + 4 * 768) + (2 * 768 * 3072 + 3072 + 768) + 2 * 2 * 768
    assert GPT2_SMALL.parameters_without_vocabulary == 12 * layer + 2 * 768 + 1024 * 768
    weights = 12 * (4 * 768 * 768 + 2 * 768 * 3072)
    attention = 12 * 2 * (2 * 512 * 768)  # two products over half the context on average
    assert float(flops_per_token(GPT2_SMALL, 50257)) == 2 * weights + attention + 2 * 38_597_376


def test_llama2_by_hand():
    weights, attention = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008), 2 * 32 * 4096 * 4096
    expected = [2 * weights + attention + 2 * 4096 * size for size in (32000, 64000)]
    assert flops_per_token(LLAMA2, [32000, 64000]).tolist() == expected


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"training_tokens": 1, "training_bytes": 1}, "not both"),
        ({"kv_heads": 2}, "need heads"),
        ({"heads": 3}, "not a multiple of 3 heads"),
        ({"heads": 4, "kv_heads": 3}, "evenly"),
    ],
)
def test_a_model_that_cannot_be_is_refused(fields, said):
    with pytest.raises(ValidationError, match=said):
        Model(width=16, layers=2, context=8, **fields)


# Width, layers and parameters without vocabulary of published models of other names.
BETWEEN = {
    "350m": (1024, 24, 302e6),  # GPT-2 medium
    "3b": (3072, 28, 2.82e9),  # Llama 3.2 3B
    "7b": (4096, 32, 6.48e9),  # Llama 2 7B
    "13b": (5120, 40, 12.69e9),  # Llama 2 13B
    "34b": (7168, 60, 33.47e9),  # Yi 34B
}


@pytest.mark.parametrize("name", BETWEEN)
def test_shapes_between_known_ones_are_near_published_models(name):
    width, layers, parameters = BETWEEN[name]
    model = model_named(name)
    assert model.width == pytest.approx(width, rel=0.25)
    assert model.layers == pytest.approx(layers, rel=0.45)
    assert model.parameters_without_vocabulary == pytest.approx(parameters, rel=0.12)


def test_a_shape_between_two_by_hand():
    """In the middle of 8b and 70b, by logarithms: all numbers are geometric means, rounded."""
    model = model_named(f"{(8 * 70) ** 0.5:.6f}b")
    assert model.width == round((4096 * 8192) ** 0.5 / 128) * 128 == 5760
    assert model.layers == round((32 * 80) ** 0.5) == 51
    assert model.inner_width == round((14336 * 28672) ** 0.5 / 128) * 128 == 20224
    assert (model.context, model.heads, model.kv_heads, model.gated) == (8192, 64, 8, True)


@pytest.mark.parametrize(
    ("name", "same"),
    [("8B", "8b"), ("8.0b", "8b"), ("8000m", "8b"), ("1000M", "1b"), ("0.125b", "125m"), ("405000m", "405b")],
)
def test_a_known_size_is_its_published_shape_however_written(name, same):
    assert model_named(name) == MODELS[same]
    assert VocabularyStudy(model=name).models == {name.lower(): MODELS[same]}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        *((name, "") for name in ("", "124.9m", "405.1b", "1t", "0x3", "12x0", "12x", "x", "４b", "9" * 5000)),
        *(("7", "7b"), ("1.5", "1.5b"), (7, "7b"), ("8gb", "8b"), ("1bb", "1b"), ("1e9b", "1b")),
    ],
)
def test_an_unknown_model_is_refused_with_a_hint_or_the_range(name, hint):
    with pytest.raises(ValidationError) as refused:
        VocabularyStudy(model=name)
    message = str(refused.value)
    assert "125m to 405b, or WIDTHxLAYERS" in message
    assert (f"did you mean {hint!r}" in message) == bool(hint)
    assert ("did you mean" in message) == bool(hint)


# Table 1 of the paper: parameters, width, thousands by approach 1, 2 and 3, budget. (It prints the width 12,888 for
# 130B, where its sizes follow from 12,288, which its code has.)
TABLE = [
    (3e9, 3200, (39, 43, 37), 1.3e21),
    (7e9, 4096, (62, 67, 60), 7.1e21),
    (130e9, 12288, (237, 258, 248), 2.4e24),
    (300e9, 16384, (356, 389, 383), 1.3e25),
]


@pytest.mark.parametrize(("parameters", "width", "thousands", "flops"), TABLE)
def test_the_table_of_the_paper(parameters, width, thousands, flops):
    sizes = optimal_sizes(parameters, width)
    assert [size.approach for size in sizes] == ["isoflops", "derivative", "loss"]
    # The table cuts or rounds to thousands.
    assert all(abs(each.vocab_size / 1000 - k) < 1 for each, k in zip(sizes, thousands, strict=True))
    [at_budget] = optimal_sizes(parameters, width, flops)  # which the table rounds
    assert at_budget.vocab_size == pytest.approx(sizes[2].vocab_size, rel=0.01)


def test_caution_where_nothing_was_measured():
    assert {size.caution for size in optimal_sizes(302e6, 1024)} == {""}
    assert all("parameters without vocabulary 7e+09" in each.caution for each in optimal_sizes(7e9, 4096))
    (small,) = optimal_sizes(302e6, 1024, 1e15)
    assert "training FLOPs 1e+15 is outside" in small.caution
    (wide,) = optimal_sizes(302e6, 8192, 1.3e19)
    assert wide.caution.endswith("vocabulary size 1.96e+03 is outside 4.1e+03 to 9.63e+04")
