"""The family ``morphology``: token boundaries and boundaries that people marked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.word_units import NO_GOLD, unknown_tokens
from tokbench.plugin import metrics

_NO_MORPHEMES: Final = "the corpus has no gold morphemes; read them from rows with 'segments'"


_SCORED: Final = "morpheme boundaries of words that are cut"
_SCORED_HITS: Final = "morpheme boundaries of words that are cut, at token boundaries"


class Boundaries(NamedTuple):
    """Sums, and the kinds of boundaries that people marked."""

    sums: metrics.Sums
    words: bool
    morphemes: bool

    def __add__(self, other: Boundaries) -> Boundaries:  # type: ignore[override]
        return Boundaries(self.sums + other.sums, self.words and other.words, self.morphemes and other.morphemes)


class BoundaryCounts(NamedTuple):
    """By document: of tokens, of people, and of both."""

    tokens: NDArray[np.int64]
    gold: NDArray[np.int64]
    hits: NDArray[np.int64]

    @classmethod
    def of(
        cls, shard: metrics.Shard, tokens: NDArray[np.int64], gold: NDArray[np.int64], limits: NDArray[np.int64]
    ) -> BoundaryCounts:
        """Count distinct positions by document, which ``limits`` separate."""

        def count(positions: NDArray[np.int64]) -> NDArray[np.int64]:
            return metrics.count_by_document(shard, np.searchsorted(limits, positions, side="right") - 1)

        return cls(count(tokens), count(gold), count(np.intersect1d(tokens, gold, assume_unique=True)))

    def columns(self, kind: str) -> dict[str, NDArray[np.int64]]:
        """Return the quantities to sum: F1 = 2 × hits / all boundaries."""
        return {
            f"{kind}_token_boundaries": self.tokens,
            f"{kind}_gold_boundaries": self.gold,
            f"{kind}_hits": self.hits,
            f"{kind}_boundaries": self.tokens + self.gold,
            f"{kind}_double_hits": 2 * self.hits,
        }


def word_boundaries(shard: metrics.Shard, ends: NDArray[np.int64], aligned: NDArray[np.bool_]) -> BoundaryCounts:
    """Count boundaries in bytes that are not white space: the side of a space does not matter."""
    gold, ink = shard.gold, shard.ink_before
    assert gold is not None
    limits = ink[shard.byte_offsets]
    counted = aligned[gold.words.documents]
    marked = np.concatenate([gold.words.starts[counted], gold.words.ends[counted]])
    return BoundaryCounts.of(shard, np.setdiff1d(ink[ends], limits), np.setdiff1d(ink[marked], limits), limits)


def morpheme_boundaries(
    shard: metrics.Shard, morphemes: NDArray[np.int64], ends: NDArray[np.int64], aligned: NDArray[np.bool_]
) -> BoundaryCounts:
    """Count the boundaries of tokens and of gold morphemes inside gold words."""
    assert shard.gold is not None
    words = shard.gold.words
    padded = np.concatenate([[0], words.ends])

    def inside(positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return positions[padded[np.searchsorted(words.starts, positions, side="left")] > positions]

    document = np.searchsorted(shard.byte_offsets, morphemes, side="right") - 1
    marked = np.unique(morphemes[aligned[document]])
    return BoundaryCounts.of(shard, inside(np.unique(ends)), marked, shard.byte_offsets)


def morphscore_columns(
    shard: metrics.Shard, morphemes: NDArray[np.int64], ends: NDArray[np.int64], aligned: NDArray[np.bool_]
) -> dict[str, NDArray[np.int64]]:
    """Count by document the gold boundaries of words that are cut, and those where tokens meet."""
    assert shard.gold is not None
    words, cuts = shard.gold.words, np.unique(ends)
    before = np.searchsorted(cuts, words.starts, side="right")
    cut = np.searchsorted(cuts, words.ends, side="left") > before
    document = np.searchsorted(shard.byte_offsets, morphemes, side="right") - 1
    word = np.searchsorted(words.starts, morphemes, side="left") - 1
    counted = aligned[document] & cut[word]
    hits = counted & np.isin(morphemes, cuts)
    return {
        _SCORED: metrics.count_by_document(shard, document[counted]),
        _SCORED_HITS: metrics.count_by_document(shard, document[hits]),
    }


class Morphology(metrics.SummedMetric):
    """The text metric."""

    def map(self, encoded: metrics.EncodedShard) -> Boundaries:
        """Leave out unaligned documents and those with unknown tokens."""
        shard, gold = encoded.shard, encoded.shard.gold
        ends, aligned = metrics.token_ends(encoded)
        # Where the unknown token swallows a phrase it has the best of boundaries.
        documents = np.repeat(np.arange(len(shard)), encoded.tokens)
        known = metrics.count_by_document(shard, documents[unknown_tokens(encoded)]) == 0
        ends, aligned = ends[known[documents[aligned[documents]]]], aligned & known
        nothing = np.zeros(len(shard), dtype=np.int64)
        words = morphemes = BoundaryCounts(nothing, nothing, nothing)
        if gold:
            words = word_boundaries(shard, ends, aligned)
        scored = {_SCORED: nothing, _SCORED_HITS: nothing}
        if gold and gold.morphemes is not None:
            morphemes = morpheme_boundaries(shard, gold.morphemes, ends, aligned)
            scored = morphscore_columns(shard, gold.morphemes, ends, aligned)
        columns = {**words.columns("word"), **morphemes.columns("morpheme"), **scored}
        columns["aligned"] = aligned.astype(np.int64)
        return Boundaries(metrics.Sums.of(shard, **columns), bool(gold), bool(gold and gold.morphemes is not None))

    def finish(self, state: Boundaries) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
        aligned = int(state.sums.columns["aligned"].sum())

        def lacking(metric: metrics.Metric) -> str:
            if not state.words:
                return NO_GOLD
            if not state.morphemes and metric not in _OF_WORDS:
                return _NO_MORPHEMES
            return "" if aligned else f"{metrics.NOT_ALIGNED}, or each has an unknown token"

        return {
            metric.id: metrics.NotApplicable(reason)
            if (reason := lacking(metric))
            else state.sums.share(*metric.of, n=aligned)
            for metric in SPEC.values
        }


_ALIGNED: Final = (
    "Documents with an unknown token do not count; those that do not round-trip count only where the tokenizer "
    "says itself where its tokens lie."
)
_WORDS: Final = (
    "Gold words come from the corpus, punctuation included. White space is ignored: a token that includes the space "
    "before it has its boundary where the word begins. The two ends of a document are not boundaries. "
)
_MORPHEMES: Final = (
    "Only positions strictly inside gold words count, in words of one morpheme too: a token boundary in them is wrong. "
)


_metric = partial(metrics.Metric, unit="share of boundaries", direction="higher", needs=metrics.TOKEN_PLACES)


def _specs(kind: str, inside: str, says: str) -> tuple[metrics.Metric, ...]:
    formulas = {
        "precision": (
            ("hits", "token_boundaries"),
            f"token boundaries{inside} that are {kind} boundaries / token boundaries{inside}",
            f"Of the places where tokens meet{inside}, the share where two gold {kind}s meet.",
        ),
        "recall": (
            ("hits", "gold_boundaries"),
            f"{kind} boundaries that are token boundaries / {kind} boundaries",
            f"Of the places where two gold {kind}s meet, the share where tokens meet.",
        ),
        "f1": (
            ("double_hits", "boundaries"),
            f"2 × boundaries of both / (token boundaries{inside} + {kind} boundaries)",
            f"Harmonic mean of precision and recall of the {kind} boundaries.",
        ),
    }
    return tuple(
        _metric(f"{kind}_boundary_{value}", headline=value == "f1", of=tuple(f"{kind}_{part}" for part in of)).means(
            formula, f"{first} {says}{_ALIGNED}"
        )
        for value, (of, formula, first) in formulas.items()
    )


_OF_WORDS: Final = _specs("word", "", _WORDS)
_MORPHSCORE: Final = _metric("morph_score", of=(_SCORED_HITS, _SCORED), label="MorphScore").means(
    "morpheme boundaries that are token boundaries / morpheme boundaries, in words of two tokens and more",
    "Recall of morpheme boundaries without the words that are one token (Arnett and Bergen 2025). On a list of words "
    "with one boundary each (source morphemes) it is the score of their first version; isolated words are encoded "
    f"alone. {_ALIGNED}",
)

SPEC: Final = metrics.MetricFamily(
    name="morphology",
    summary="precision, recall and F1 of token boundaries against gold words and gold morphemes",
    text=Morphology,
    by_script=True,
    subject=("fertility", "morphology"),
    values=(*_OF_WORDS, *_specs("morpheme", " inside words", _MORPHEMES), _MORPHSCORE),
)
