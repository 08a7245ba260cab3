"""Parameters, operations and memory: published totals, and sums by hand."""

import pytest
from pydantic import ValidationError

from tokbench.studies.vocabulary_size import compute
from tokbench.studies.vocabulary_size.options import Model

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
    assert model.parameters(vocab_size) == total


def test_gpt2_small_by_hand():
    assert GPT2_SMALL.vocabulary_parameters(50257) == 50257 * 768 == 38_597_376
    layer = (4 * 768 * 768 + 4 * 768) + (2 * 768 * 3072 + 3072 + 768) + 2 * 2 * 768
    assert GPT2_SMALL.parameters_without_vocabulary == 12 * layer + 2 * 768 + 1024 * 768
    assert GPT2_SMALL.vocabulary_parameters(50257) == 38_597_376
    assert GPT2_SMALL.parameters(50257) == 124_439_808
    weights = 12 * (4 * 768 * 768 + 2 * 768 * 3072)
    attention = 12 * 2 * (2 * 512 * 768)  # two products over half the context on average
    assert float(compute.flops_per_token(GPT2_SMALL, 50257)) == 2 * weights + attention + 2 * 38_597_376


def test_llama2_by_hand():
    weights, attention = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008), 2 * 32 * 4096 * 4096
    expected = [2 * weights + attention + 2 * 4096 * size for size in (32000, 64000)]
    assert compute.flops_per_token(LLAMA2, [32000, 64000]).tolist() == expected


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
