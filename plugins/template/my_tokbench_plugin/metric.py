"""A metric family: the share of tokens that begin with a space."""

import numpy as np
from tokbench.plugin import HasTokenBytes, Metric, MetricFamily, Sums, hookimpl


class WordStarts:
    def __init__(self, options): ...

    def map(self, encoded):  # one shard and the ids that one tokenizer gives it
        ids, offsets = encoded.arrays
        used, which = np.unique(ids, return_inverse=True)
        starts = np.array([encoded.tokenizer.token_bytes(i).startswith(b" ") for i in used.tolist()], dtype=np.int64)
        running = np.concatenate([[0], np.cumsum(starts[which])])
        return Sums.of(encoded.shard, starts=np.diff(running[offsets]), tokens=encoded.tokens)

    def merge(self, one, other):  # in any order
        return one + other

    def finish(self, state):  # a ratio of sums, with its jackknife interval
        return {"word_starts": state.share("starts", "tokens")}

    def raw(self, state):  # what a run keeps of it; None for nothing
        return state.raw()


WORD_STARTS = Metric(
    id="word_starts", label="word starts", unit="share of tokens", direction="none",
    formula="tokens that begin with a space / tokens", needs=(HasTokenBytes,),
    definition="How many tokens begin a word, in scripts that put spaces between words.",
)  # fmt: skip


@hookimpl
def register_metrics(register):
    register(MetricFamily(name="word_starts", summary="word starts", text=WordStarts, values=(WORD_STARTS,)))
