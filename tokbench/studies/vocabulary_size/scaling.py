"""The compute-optimal vocabulary size by a published law, and the range in which that law was measured.

Tao, Liu, Dou, Muennighoff, Wan, Luo, Lin and Wong, "Scaling Laws with Vocabulary: Larger Models Deserve Larger
Vocabularies", NeurIPS 2024, arXiv 2407.13623 v3. The paper prints its constants rounded; those below are the ones of
its published code (github.com/sail-sg/scaling-with-vocab, ``optimal_Nv_predict.py``), which round to them.

The law speaks of N_nv, the parameters without the vocabulary, and N_v = vocab_size x width: the vocabulary counted
once, tied or not, as the output layer alone costs operations (its footnote 1). The sizes that the paper prints for
larger models take a width from a table; here the width of the model at hand is used.
"""

from __future__ import annotations

import math
from typing import Final

from tokbench.studies.vocabulary_size.block import ScalingOptimum
from tokbench.studies.vocabulary_size.checks import positive

SOURCE: Final = 'Tao et al. 2024, "Scaling Laws with Vocabulary", NeurIPS 2024, arXiv 2407.13623'

VALIDITY: Final = (
    "The law was fitted to decoders of 33 million to 1.13 billion parameters without vocabulary, sizes of 4,096 to "
    "96,256 by BPE, on English text (SlimPajama) with 1.2e16 to 4.4e20 training FLOPs; it was tried out at 2.87 "
    "billion. It says nothing of other languages, nor of what a model costs in use."
)
"""The range in which the law was measured, as a sentence for a report."""

FITTED_PARAMETERS: Final = (33e6, 1.13e9)
"""Parameters without vocabulary of the models that were fitted; at 2.87e9 one prediction was tried out."""
FITTED_SIZES: Final = (4_096, 96_256)
"""Vocabulary sizes that were fitted."""
FITTED_FLOPS: Final = (1.2e16, 4.4e20)
"""Training budgets that were fitted, in the published ``exp_data.csv``; predictions were tried out up to 2.3e21."""

_NV_SCALE, _NV_POWER = math.exp(-1.589031299255507), 0.4163622634135234
_NNV_SCALE, _NNV_POWER = math.exp(-2.4846510161625193), 0.5
_BASE_NNV, _BASE_NV, _GAMMA = 33_000_000, 6144 * 512, 0.8353974035228025
_A2, _B, _ALPHA2, _BETA = 0.19584238398665638, 2.1241123120064955, 0.6707374679896795, 0.44660634152009615


def optimal_flops(parameters: float) -> float:
    """Return the training FLOPs for which this N_nv is optimal: N_nv = 0.08 x C**0.5 (figure 5).

    >>> [f"{optimal_flops(n):.1e}" for n in (3e9, 7e9, 70e9)]  # table 1: 1.3e21, 7.1e21, 7.1e23
    ['1.3e+21', '7.1e+21', '7.1e+23']
    """
    return math.pow(float(positive(parameters, "parameters")) / _NNV_SCALE, 1 / _NNV_POWER)


def by_isoflops(parameters: float) -> float:
    """Approach 1: vocabulary parameters N_v = 0.20 x C**0.42 at the budget C that is optimal for the model.

    >>> round(by_isoflops(7e9) / 4096), round(by_isoflops(70e9) / 8192)  # table 1: 62K and 212K
    (62281, 211860)
    """
    return float(_NV_SCALE * optimal_flops(parameters) ** _NV_POWER)


def by_derivative(parameters: float) -> float:
    """Approach 2: N_v = N_v0 x (N_nv / N_nv0)**0.83, from a model of 33 million with 6,144 x 512 (equation 7).

    The exponent is where FLOPs for a fixed amount of text have their minimum over the size.

    >>> round(by_derivative(7e9) / 4096), round(by_derivative(70e9) / 8192)  # table 1: 67K and 231K
    (67450, 230861)
    """
    return float(_BASE_NV * (float(positive(parameters, "parameters")) / _BASE_NNV) ** _GAMMA)


def by_loss(parameters: float, training_flops: float | None = None) -> float:
    """Approach 3: the N_v with the lowest loss -E + A1 / N_nv**0.447 + 0.196 / N_v**0.671 + 2.124 / D**0.447.

    N in millions, D = C / (6 (N_nv + N_v)) in billions of tokens (equation 8; the units are those of the published
    code). It answers for any budget C, so for more or less text than is optimal too. The loss has one minimum:
    the slope has the sign of N_v**1.671 x (N_nv + N_v)**-0.553 - constant, which rises; bisection finds it.

    >>> round(by_loss(7e9) / 4096), round(by_loss(70e9) / 8192)  # table 1: 60K and 218K
    (59548, 217961)
    """
    nnv = float(positive(parameters, "parameters")) / 1e6
    flops = optimal_flops(parameters) if training_flops is None else training_flops
    budget = float(positive(flops, "training FLOPs")) / 1e15
    constant = _ALPHA2 * _A2 / (_BETA * _B * (6 / budget) ** _BETA)
    low, high = -20.0, 40.0  # logarithms of N_v in millions
    while high - low > 1e-12:  # noqa: PLR2004 - far below one row
        middle = (low + high) / 2
        slope = (_ALPHA2 + 1) * middle + (_BETA - 1) * math.log(nnv + math.exp(middle)) - math.log(constant)
        low, high = (low, middle) if slope > 0 else (middle, high)
    return math.exp(low) * 1e6


def optimal_sizes(parameters: float, width: int, training_flops: float | None = None) -> list[ScalingOptimum]:
    """Return the optimal size by each of the three approaches, with a caution where it is extrapolated.

    Args:
        parameters: parameters without vocabulary, N_nv.
        width: width of the model, by which vocabulary parameters become a size.
        training_flops: the budget; default: the one that is optimal for ``parameters``. Approaches 1 and 2 know
            no other, so with a budget only approach 3 answers.

    Raises:
        InputError: a number is not above 0.

    >>> [(optimum.approach, optimum.vocab_size, optimum.caution) for optimum in optimal_sizes(302e6, 1024)]
    [('isoflops', 18183, ''), ('derivative', 19528, ''), ('loss', 15759, '')]

    Llama 2 7B with its 2e12 tokens (figure 6: 472 million vocabulary parameters, a size of 115,000):

    >>> (optimum,) = optimal_sizes(6_476_271_616, 4096, 6 * 6.6e9 * 2e12)
    >>> optimum.approach, optimum.vocab_size
    ('loss', 112042)
    >>> print(optimum.caution)  # doctest: +ELLIPSIS
    extrapolated beyond the models that were fitted: parameters without vocabulary 6.48e+09 is outside ...
    """
    rows = float(positive(width, "width"))
    vocabularies = {"loss": by_loss(parameters, training_flops)}
    if training_flops is None:
        vocabularies = {"isoflops": by_isoflops(parameters), "derivative": by_derivative(parameters)} | vocabularies
    budget = optimal_flops(parameters) if training_flops is None else training_flops
    sizes = {name: round(vocabulary / rows) for name, vocabulary in vocabularies.items()}
    return [
        ScalingOptimum(
            approach=name, vocab_size=size, caution=_caution(parameters, size, budget), budget=training_flops
        )
        for name, size in sizes.items()
    ]


def _caution(parameters: float, size: int, flops: float) -> str:
    outside = [
        f"{what} {value:.3g} is outside {low:.3g} to {high:.3g}"
        for what, value, (low, high) in (
            ("parameters without vocabulary", parameters, FITTED_PARAMETERS),
            ("vocabulary size", size, FITTED_SIZES),
            ("training FLOPs", flops, FITTED_FLOPS),
        )
        if not low <= value <= high
    ]
    return f"extrapolated beyond the models that were fitted: {'; '.join(outside)}" if outside else ""
