"""A metric family: the share of tokens that begin with a space."""

import numpy as np
from tokbench.plugin import HasTokenBytes
from tokbench.plugin.metrics import Metric, counted


def count(encoded, options):  # one shard and the ids that one tokenizer gives it: by name, a number for each document
    ids, offsets = encoded.arrays
    used, which = np.unique(ids, return_inverse=True)
    starts = np.array([encoded.tokenizer.token_bytes(i).startswith(b" ") for i in used.tolist()], dtype=np.int64)
    running = np.concatenate([[0], np.cumsum(starts[which])])
    return {"starts": np.diff(running[offsets]), "tokens": encoded.tokens}


SPEC = counted(
    "word_starts", "word starts", count,
    Metric("word_starts", "share of tokens", "none", of=("starts", "tokens"), needs=(HasTokenBytes,)).means(
        "tokens that begin with a space / tokens",
        "How many tokens begin a word, in scripts that put spaces between words.",
    ),
)  # fmt: skip
