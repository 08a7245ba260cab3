"""Parameters, operations and memory: published totals, and sums by hand."""

import itertools

import pytest
from pydantic import ValidationError

from tokbench.studies.vocabulary_size.advice import flops_per_token
from tokbench.studies.vocabulary_size.options import MODELS, Model, VocabularyStudy, model_named

GPT2 = {"context": 1024, "positions": 1024, "biases": True, "tied": True}
GPT2_SMALL = Model(width=768, layers=12, **GPT2)
LLAMA2 = Model(width=4096, layers=32, context=4096, heads=32, feed_forward=11008, gated=True)
LLAMA3 = Model(width=4096, layers=32, context=8192, heads=32, kv_heads=8, feed_forward=14336, gated=True)

PUBLISHED = {
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


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_totals_to_the_parameter(name):
    model, vocab_size, total = PUBLISHED[name]
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
        ({"heads": 3}, "no multiple of 3 heads"),
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


def test_sizes_and_shapes_grow_with_the_parameters():
    models = [model_named(f"{millions}m") for millions in range(125, 405_000, 1975)]
    for small, large in itertools.pairwise(models):
        assert small.width <= large.width
        assert small.layers <= large.layers
        assert small.parameters_without_vocabulary < 1.01 * large.parameters_without_vocabulary, "keys shared by more"


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
