"""The theme of syntax: tokens and leaves of the syntax tree."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.find import Spans
from tokbench.measuring.counted import TOKEN_PLACES, Counts
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric
from tokbench.measuring.spans import cuts, touches
from tokbench.metrics.code.leaves import CODE, COMMENT, STRING, Leaves
from tokbench.plugin.metrics import sum_by_document

_REGIONS: Final = {"strings": STRING, "comments": COMMENT}


def count(encoded: EncodedShard, leaves: Leaves | None) -> Counts:
    """Count in parsed and aligned documents; zeros without leaves."""
    if leaves is None:
        leaves = _nothing(len(encoded.shard))
    seen = leaves.parsed & encoded.token_ends.aligned
    columns: dict[str, NDArray[Any]] = {
        "documents of programs": np.ones(len(encoded.shard), dtype=np.int64) * encoded.token_ends.aligned,
        "parsed documents": seen,
    }
    columns |= _alignment(encoded, leaves)
    totals = {"tokens": np.where(seen, encoded.tokens, 0), "bytes": np.where(seen, encoded.shard.n_bytes, 0)}
    columns |= {f"{name} of parsed documents": total for name, total in totals.items()}
    for region, kind in _REGIONS.items():
        spans = leaves.spans.where(leaves.kinds == kind)
        sums = {"tokens": sum_by_document(encoded, spans, _ending(encoded, spans))}
        sums["bytes"] = sum_by_document(encoded, spans, spans.ends - spans.starts)
        for name, column in sums.items():
            columns[f"{name} of {region}"] = column
            totals[name] = totals[name] - column
    return columns | {f"{name} of code": total for name, total in totals.items()}


def _nothing(documents: int) -> Leaves:
    none = Spans(*(np.empty(0, dtype=np.int64) for _ in range(3)))
    return Leaves(none, np.empty(0, dtype=np.int64), none, np.zeros(documents, dtype=np.bool_))


def _ending(encoded: EncodedShard, spans: Spans) -> NDArray[np.int64]:
    indices = np.searchsorted(encoded.boundaries, [spans.starts, spans.ends], side="right")
    return np.asarray(indices[1] - indices[0], dtype=np.int64)


def _alignment(encoded: EncodedShard, leaves: Leaves) -> Counts:
    spans, reach = leaves.spans, leaves.reach
    # White space around a leaf may belong to its token: the edge is kept if a token begins or ends anywhere in it.
    left, right = touches(encoded, reach.starts, spans.starts), touches(encoded, spans.ends, reach.ends)
    inner = np.append(False, spans.documents[1:] == spans.documents[:-1])[: len(spans.starts)]
    code = leaves.kinds == CODE
    missed = spans.where(inner & ~left)
    # Several edges may be missed by one and the same token.
    tokens = np.searchsorted(encoded.boundaries, missed.starts, side="right")
    crossing = missed.where(np.append(True, np.diff(tokens) > 0)[: len(tokens)])
    alone = code & left & right & (cuts(encoded, spans) == 0)
    return {
        "edges between leaves": sum_by_document(encoded, spans, inner),
        "edges kept": sum_by_document(encoded, spans, inner & left),
        "leaves of code": sum_by_document(encoded, spans, code),
        "leaves that are a token": sum_by_document(encoded, spans, alone),
        "tokens across leaves": sum_by_document(encoded, crossing),
    }


_LEAVES: Final = (
    "Leaves come from tree-sitter's grammar; a whole string or comment is one leaf; white space next to a leaf may "
    "belong to its token. Documents with a syntax error in their tree are left out, see syntax_parsed."
)
_REGION: Final = (
    "A token belongs to the region of its last byte; quotation marks belong to strings. Documents with a "
    "syntax error in their tree are left out."
)


_laid = partial(Metric, needs=TOKEN_PLACES)

PARSED: Final = _laid(
    "syntax_parsed", "share of documents", "none", of=("parsed documents", "documents of programs")
).means(
    "documents without an error in their syntax tree / documents",
    "Share of the documents that the grammar parses without error; the other syntax metrics count only these.",
)
METRICS: Final = (
    _laid("leaf_edges_kept", "share of edges", "higher", of=("edges kept", "edges between leaves")).means(
        "edges between leaves with a token boundary / edges between leaves",
        f"How often a token boundary separates two leaves of the syntax tree. {_LEAVES}",
    ),
    _laid("leaf_one_token", "share of leaves", "higher", of=("leaves that are a token", "leaves of code")).means(
        "leaves of code that are exactly one token / leaves of code",
        f"How often a leaf of the syntax tree, strings and comments aside, is a token by itself. {_LEAVES}",
    ),
    _laid("leaf_crossing", "share of tokens", "none", of=("tokens across leaves", "tokens of parsed documents")).means(
        "tokens with bytes of more than one leaf / tokens",
        f"How often a token holds several leaves, or parts of them, as ();. {_LEAVES}",
    ),
    *(
        _laid(
            f"bytes_per_token_{region}", "bytes/token", "higher", of=(f"bytes of {region}", f"tokens of {region}")
        ).means(f"Σ bytes of {region} / Σ tokens that end there", f"{says} {_REGION}")
        for region, says in {
            "code": "Compression of the code, strings and comments aside, white space included.",
            "strings": "Compression of strings, and of the texts of HTML.",
            "comments": "Compression of comments.",
        }.items()
    ),
)
"""Of the parsed documents."""
