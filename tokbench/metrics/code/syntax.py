"""The theme of syntax: tokens and leaves of the syntax tree."""

from __future__ import annotations

from typing import Final

import numpy as np

from tokbench.metrics.code.leaves import CODE, COMMENT, STRING, Leaves
from tokbench.metrics.code.theme import Columns, Values, value
from tokbench.plugin import EncodedShard, Metric, Spans, Sums, cuts, sum_by_document, touches

_REGIONS: Final = {"strings": STRING, "comments": COMMENT}


def measure(encoded: EncodedShard, leaves: Leaves | None) -> Columns:
    """Sum over parsed and aligned documents; zeros without leaves."""
    if leaves is None:
        leaves = _nothing(len(encoded.shard))
    seen = leaves.parsed & encoded.token_ends.aligned
    columns: Columns = {
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


def _ending(encoded: EncodedShard, spans: Spans) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    indices = np.searchsorted(encoded.boundaries, [spans.starts, spans.ends], side="right")
    return np.asarray(indices[1] - indices[0], dtype=np.int64)


def _alignment(encoded: EncodedShard, leaves: Leaves) -> Columns:
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


def finish(sums: Sums, n: int) -> Values:
    """Return ratios over ``n`` aligned documents."""
    parsed = int(sums.columns["parsed documents"].sum())
    return {
        "syntax_parsed": sums.share("parsed documents", "documents of programs", n=n),
        "leaf_edges_kept": sums.share("edges kept", "edges between leaves", n=parsed),
        "leaf_one_token": sums.share("leaves that are a token", "leaves of code", n=parsed),
        "leaf_crossing": sums.share("tokens across leaves", "tokens of parsed documents", n=parsed),
        **{
            f"bytes_per_token_{region}": sums.ratio(f"bytes of {region}", f"tokens of {region}", n=parsed)
            for region in ("code", *_REGIONS)
        },
    }


_LEAVES: Final = (
    "Leaves are those of tree-sitter's grammar, a whole string or comment counting as one; white space beside a leaf "
    "may belong to its token. Documents with a syntax error in their tree are left out, see syntax_parsed."
)
_REGION: Final = (
    "A token belongs to the region of its last byte; quotation marks belong to strings. Documents with a "
    "syntax error in their tree are left out."
)


VALUES: Final[tuple[Metric, ...]] = (
    value(
        "syntax_parsed",
        "share of documents",
        "none",
        "documents without an error in their syntax tree / documents",
        "Share of the documents that the grammar parses without error; the other numbers on syntax rest on these.",
    ),
    value(
        "leaf_edges_kept",
        "share of edges",
        "higher",
        "edges between leaves with a token boundary / edges between leaves",
        f"How often the tokens keep two leaves of the syntax tree apart. {_LEAVES}",
    ),
    value(
        "leaf_one_token",
        "share of leaves",
        "higher",
        "leaves of code that are exactly one token / leaves of code",
        f"How often a leaf of the syntax tree, strings and comments aside, is a token by itself. {_LEAVES}",
    ),
    value(
        "leaf_crossing",
        "share of tokens",
        "none",
        "tokens with bytes of more than one leaf / tokens",
        f"How often a token holds several leaves, or parts of them, as ();. {_LEAVES}",
    ),
    *(
        value(
            f"bytes_per_token_{region}",
            "bytes/token",
            "higher",
            f"Σ bytes of {region} / Σ tokens that end there",
            f"{says} {_REGION}",
        )
        for region, says in {
            "code": "Compression of the code, strings and comments aside, white space included.",
            "strings": "Compression of strings, and of the texts of HTML.",
            "comments": "Compression of comments.",
        }.items()
    ),
)
