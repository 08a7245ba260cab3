"""The compute-optimal vocabulary size by a published law, and its measured range.

Tao et al. 2024, arXiv 2407.13623 v3, with the constants of its code (github.com/sail-sg/scaling-with-vocab,
``optimal_Nv_predict.py``). N_nv are the parameters without the vocabulary, and N_v = vocab_size x width, counted once,
tied or not. C are the training FLOPs.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from tokbench.studies.vocabulary_size.options import Model

SHORT_SOURCE: Final = "Tao et al. 2024"

SOURCE: Final = f'{SHORT_SOURCE}, "Scaling Laws with Vocabulary", NeurIPS 2024, arXiv 2407.13623'

VALIDITY: Final = (
    "The law was fitted to decoders of 33 million to 1.13 billion parameters without vocabulary, sizes of 4,096 to "
    "96,256 by BPE, on English text (SlimPajama) with 1.2e16 to 4.4e20 training FLOPs; it was tried out at 2.87 "
    "billion. It says nothing of other languages, nor of what a model costs in use."
)

_A, _B, _ALPHA, _BETA = 0.19584238398665638, 2.1241123120064955, 0.6707374679896795, 0.44660634152009615
_FLOPS_PER_PARAMETER: Final = 6
"""FLOPs of training per parameter and token in the law."""


class ScalingOptimum(NamedTuple):
    """The optimal size by one approach of the law; ``caution`` says why it is an extrapolation."""

    approach: str
    vocab_size: int
    caution: str = ""


def law_range(model: Model, tokens_per_byte: float = 0.0) -> str:
    """Return the optimal sizes by all approaches, or that of the model's own training if its length is known.

    A length in bytes is known in tokens by the ``tokens_per_byte`` of a vocabulary.

    >>> law_range(Model(width=2048, layers=16, context=8192, heads=32, kv_heads=8, feed_forward=8192, gated=True))
    '21,600 to 26,000'
    """
    parameters = model.parameters_without_vocabulary
    tokens = model.training_tokens or (model.training_bytes or 0.0) * tokens_per_byte
    optima = optimal_sizes(parameters, model.width, _FLOPS_PER_PARAMETER * parameters * tokens or None)
    sizes = [int(float(f"{optimum.vocab_size:.2e}")) for optimum in optima]
    low, high = min(sizes), max(sizes)
    beyond = " (extrapolated)" if any(optimum.caution for optimum in optima) else ""
    return f"{low:,}{f' to {high:,}' if low < high else ''}{beyond}"


def optimal_sizes(parameters: float, width: int, training_flops: float | None = None) -> list[ScalingOptimum]:
    """Return the optimal size by each approach of the law for N_nv; with a budget C only ``loss`` answers.

    Without one, C is the budget for which N_nv is optimal, N_nv = 0.08 x C**0.5 (figure 5).
    ``isoflops``: N_v = 0.20 x C**0.42. ``derivative``: N_v grows as N_nv**0.84 (equation 7).

    >>> [optimum.vocab_size // 1000 for optimum in optimal_sizes(7e9, 4096)]  # table 1: 62K, 67K, 60K
    [62, 67, 59]
    """
    compute = (parameters / math.exp(-2.4846510161625193)) ** 2 if training_flops is None else training_flops
    found = {"loss": _by_loss(parameters, compute)}
    if training_flops is None:
        isoflops = math.exp(-1.589031299255507) * compute**0.4163622634135234
        found = {"isoflops": isoflops, "derivative": 6144 * 512 * (parameters / 33e6) ** 0.8353974035228025} | found
    sizes = {name: round(nv / width) for name, nv in found.items()}
    return [ScalingOptimum(name, size, _caution(parameters, size, compute)) for name, size in sizes.items()]


def _by_loss(nnv: float, flops: float) -> float:
    """Return the N_v with the lowest A / N_v**0.67 + B / D**0.45, D = C / 6(N_nv + N_v), by bisection (equation 8)."""
    low, high = -20.0, 40.0  # logarithms of N_v in millions
    constant = math.log(_ALPHA * _A / (_BETA * _B * (6 / (flops / 1e15)) ** _BETA))
    while high - low > 1e-12:  # noqa: PLR2004 - far below one row
        middle = (low + high) / 2
        slope = (_ALPHA + 1) * middle + (_BETA - 1) * math.log(nnv / 1e6 + math.exp(middle)) - constant
        low, high = (low, middle) if slope > 0 else (middle, high)
    return math.exp(low) * 1e6


def _caution(nnv: float, size: int, flops: float) -> str:
    fitted = {
        "parameters without vocabulary": (nnv, 33e6, 1.13e9),
        "vocabulary size": (size, 4_096, 96_256),
        "training FLOPs": (flops, 1.2e16, 4.4e20),
    }
    outside = [f"{what} {x:.3g} is outside {a:.3g} to {b:.3g}" for what, (x, a, b) in fitted.items() if not a <= x <= b]
    return f"extrapolated beyond the models that were fitted: {'; '.join(outside)}" if outside else ""
