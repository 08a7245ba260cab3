"""Made-up results, from the tokens of each tokenizer by jackknife group."""

from dataclasses import replace

import numpy as np

from tokbench.corpus.shards import BUCKETS
from tokbench.measuring.metric import Role
from tokbench.results.blocks import CorpusInfo, MetricInfo, RawState, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench.results.states import RawStates

BYTES = np.random.default_rng(16).integers(2250, 2750, BUCKETS) * 4
TOKENS = BYTES // 4
"""Four bytes per token."""

METRICS = {
    "density": MetricInfo(
        family="f", direction="higher", role=Role.TEXT_PER_TOKEN, headline=True, ratio_of=["bytes", "tokens"]
    ),
    "exact": MetricInfo(family="r", direction="higher", role=Role.ROUND_TRIP, loss_cannot_help="it is the loss"),
    "rate": MetricInfo(family="s", direction="higher", role=Role.ENCODING_SPEED, timed=True, loss_cannot_help="no"),
}


def more(share, noise=0):
    """Return tokens by jackknife group: so many more than the best one, with some noise."""
    jitter = np.random.default_rng(1).integers(-noise, noise + 1, BUCKETS)
    return np.round(TOKENS * (1 + share)).astype(int) + jitter - round(jitter.mean())


def results_of(cells, metrics, states=(), **facts):
    """Results from cells, and raw states by tokenizer, corpus, group and family; ``facts`` replace what follows of them.

    A group has as many documents as its last cell, and every tokenizer is alike.
    """
    groups = {cell.corpus: {} for cell in cells}
    for cell in cells:
        groups[cell.corpus] |= {cell.group: cell.n} if cell.group != WHOLE else {}
    names = dict.fromkeys(cell.tokenizer for cell in cells)
    place = ("tokenizer", "corpus", "group", "family")
    raw = [RawState(**dict(zip(place, at, strict=True)), state=state) for at, state in dict(states).items()]
    made = {
        "name": "made up",
        "corpora": {corpus: CorpusInfo(groups=group) for corpus, group in groups.items()},
        "tokenizers": {name: TokenizerInfo(backend="b", vocab_size=9) for name in names},
    }
    return Results(**{**made, **facts}, metrics=dict(metrics), cells=cells, states=RawStates(raw))


def made_up(tokens, *, corpus="prose", documents=400, exact=(), speed=(), in_sample=(), infos=(), **changes):
    """Results of one corpus with one group, from the tokens of each tokenizer by jackknife group."""
    cells, states = [], {}
    exact, speed, in_sample, infos = dict(exact), dict(speed), dict(in_sample), dict(infos)
    for name, counts in tokens.items():
        n_bytes = BYTES[: len(counts)]
        sums = {"bytes": n_bytes.tolist(), "tokens": counts.tolist()}
        states[name, corpus, "g", "f"] = {"documents": documents, "sums": sums}
        share = in_sample.get(name)
        value = float(n_bytes.sum() / counts.sum())
        cells.append(Cell(name, corpus, WHOLE, "density", value, "bytes/token", n=documents, in_sample=share))
        cells.append(Cell(name, corpus, WHOLE, "exact", exact.get(name, 1.0), "share", n=documents))
        if name in speed:
            low, value, high = speed[name]
            cells.append(Cell(name, corpus, WHOLE, "rate", value, "MB/s", low, high, 9))
    results = results_of(cells, METRICS, states, corpora={corpus: CorpusInfo(groups={"g": documents})})
    results.tokenizers |= infos
    return replace(results, **changes)


def together(name, *parts):
    """Return the results of several corpora as one run."""
    return replace(
        parts[0],
        name=name,
        corpora={name: info for part in parts for name, info in part.corpora.items()},
        tokenizers={name: info for part in parts for name, info in part.tokenizers.items()},
        metrics={name: info for part in parts for name, info in part.metrics.items()},
        cells=[cell for part in parts for cell in part.cells],
        states=RawStates([state for part in parts for state in part.states]),
    )
