"""The merges of every tokenizer, read by the worker that has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokbench.contracts.tokenizer import Tokenizer
from tokbench.errors import ContractError
from tokbench.failures import Failure
from tokbench.runner.workers.pool import WorkerDied, WorkerPool
from tokbench.runner.workers.worker import TokenizerJob
from tokbench.vocabulary.merges import MergeOrder, merge_order, ordinary_tokens


class Built(NamedTuple):
    """The way a vocabulary is built.

    Attributes:
        order: its merges; ``None`` if it cannot be cut.
        size: how many ids are ordinary tokens: neither special nor without bytes; all where bytes are not told.
        reason: why it cannot be cut; empty if it can.
        spaces: the longest run of spaces that is one token, 0 if there is none.
        spaces_from: the size from which on two spaces are one token; ``None`` if they never are, or it cannot be cut.
    """

    order: MergeOrder | None
    size: int
    reason: str = ""
    spaces: int = 0
    spaces_from: int | None = None


def _built(tokenizer: Tokenizer) -> Built:
    try:
        tokens = ordinary_tokens(tokenizer)
    except ContractError as error:
        return Built(None, tokenizer.vocab_size, str(error))
    runs = {i: len(token) for i, token in enumerate(tokens) if token and not token.strip(b" ")}
    longest = max(runs.values(), default=0)
    try:
        order = merge_order(tokenizer)
    except ContractError as error:
        return Built(None, sum(map(bool, tokens)), str(error), longest)
    two = [order.base + int(order.rank_of[i]) + 1 for i, length in runs.items() if length == len(b"  ")]
    return Built(order, order.base + len(order), "", longest, min(two, default=None))


def read_merges(names: Sequence[str], pool: WorkerPool) -> dict[str, Built | Failure]:
    """Return the way each vocabulary is built, or the failure."""
    jobs = [TokenizerJob((name,), "reading the merges of", name, _built) for name in names]
    answers = pool.ask_each(jobs, "reading merges")
    return {name: answer.failure if isinstance(answer, WorkerDied) else answer for name, answer in answers}
