"""The cost of more rows in a finished model: special tokens, further merges, rounding up."""

from __future__ import annotations

from tokbench.plugin import InputError
from tokbench.studies.vocabulary_size.block import ExtensionCost
from tokbench.studies.vocabulary_size.checks import vocab_sizes
from tokbench.studies.vocabulary_size.compute import forward_flops
from tokbench.studies.vocabulary_size.options import BYTES, Model


def round_up(vocab_size: int, multiple: int) -> int:
    """Round up to a multiple. Matrices of such a height are faster, so many models keep spare rows.

    >>> round_up(50257, 64), round_up(50304, 64), round_up(50257, 1)
    (50304, 50304, 50257)
    """
    return -(-vocab_size // multiple) * multiple


def extend(model: Model, vocab_size: int, further: int, *, multiple: int = 1) -> ExtensionCost:
    """Add ``further`` special tokens or merges to a vocabulary; to the matrices both are rows.

    Args:
        model: the model.
        vocab_size: tokens before.
        further: tokens to be added.
        multiple: both heights are rounded up to a multiple of it, so that a few tokens may fit spare rows.

    Raises:
        InputError: a negative number of tokens, or a multiple below 1.

    1,000 further tokens for Llama 2 7B, rounded up to a multiple of 128:

    >>> llama2 = Model(width=4096, layers=32, context=4096, feed_forward=11008, gated=True)
    >>> added = extend(llama2, 32000, 1000, multiple=128)
    >>> added.rows, added.spare, added.parameters, added.bytes / 2**20, round(added.share, 5)
    (1024, 24, 8388608, 16.0, 0.00124)
    >>> f"{added.break_even:.3%}"
    '0.059%'
    """
    if further < 0 or multiple < 1:
        raise InputError(
            f"cannot add {further} tokens with rows a multiple of {multiple}; give numbers from 0 and 1 on"
        )
    tokens = int(vocab_sizes(vocab_size))
    before, after = round_up(tokens, multiple), round_up(tokens + further, multiple)
    parameters = int(model.vocabulary_parameters(after) - model.vocabulary_parameters(before))
    old, new = (float(forward_flops(model, rows).total) for rows in (before, after))
    return ExtensionCost(
        further=further,
        before=before,
        after=after,
        rows=after - before,
        spare=after - tokens - further,
        parameters=parameters,
        bytes=parameters * BYTES[model.precision],
        share=parameters / float(model.parameters(after)),
        flops=new - old,
        break_even=1 - old / new,
    )
