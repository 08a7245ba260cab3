"""The ranking of published vocabularies and of one's own, by the cost of a byte of text over weighted corpora."""

from dataclasses import replace

import numpy as np
import pytest

from tokbench.corpus.shards import BUCKETS
from tokbench.plugin import byte_size, nodes_markdown
from tokbench.results.blocks import TokenizerInfo
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advise import Candidates, recommendation
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, VocabularySizes
from tokbench.studies.vocabulary_size.csv import ranking_csv
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.mixture import Mixture, mix
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.ranking import ranked
from tokbench.studies.vocabulary_size.ranking_nodes import ranking_nodes
from tokbench.studies.vocabulary_size.rows import TextTotals

MODEL = Model(width=4, layers=1, context=2)
"""A token costs 400 FLOPs and 8 more for each id: 128 of projections, 16 of attention, 256 of the feed-forward."""

N_BYTES = 12_000
WEIGHTS = {"prose": 3, "code": 1}


def line_of(tokens_per_byte):
    """A line on one corpus, from its tokens for a byte by size."""
    tokens = [np.full(BUCKETS, round(N_BYTES * share), dtype=float) for share in tokens_per_byte.values()]
    counts = tuple(np.ones(size, dtype=np.int64) for size in tokens_per_byte)
    return Line(np.array(list(tokens_per_byte)), np.array(tokens), counts_by_size=counts)


LINES = {
    # a byte of the mixed text has 0.38, 0.25 and 0.2 tokens
    "mine": {
        "prose": line_of({50: 0.36, 100: 1 / 6, 200: 0.15}),
        "code": line_of({50: 0.44, 100: 0.5, 200: 0.35}),
    },
    "made": {"prose": line_of({200: 0.2}), "code": line_of({200: 0.4})},
}


def advised(model=MODEL, trained_bytes=1e9):
    text = TextTotals(400, np.full(BUCKETS, float(N_BYTES)), None, "")
    mixture = Mixture.of({"prose": text, "code": text}, WEIGHTS)
    lines = {name: mix(name, line, mixture, model) for name, line in LINES.items()}
    worst = {
        (name, choice.vocab_size): min((("c", "g", ratio) for ratio in choice.by_corpus.values()), key=lambda w: w[2])
        for name, line in lines.items()
        for choice in line.choices
    }
    candidates = Candidates(lines, {"lossy": "text of code is lost"}, worst, trained_bytes={"mine": trained_bytes})
    advice = recommendation(mixture, candidates, model, None)
    return replace(advice, weighted=True, ranking=ranked(candidates, model, advice))


def results_of(advice, **facts):
    results = Results(name="sizes", tokenizers={"unread": TokenizerInfo(backend="b")})
    results.studies.put(VOCABULARY_SIZES, VocabularySizes(recommendation=advice, **facts))
    return results


def test_a_ranking_has_published_vocabularies_as_made_and_the_sizes_to_take_of_ones_own():
    rows = [
        (size.line, size.vocab_size, size.kinds, round(size.compression_ratio, 3), round(size.flops_per_byte, 1))
        for size in advised().ranking
    ]
    assert rows == [
        ("mine", 100, ["least cost", "largest to take"], 4.0, 300.0),
        ("mine", 50, ["recommended", "smallest to take"], 2.632, 304.0),
        ("made", 200, ["as made"], 4.0, 500.0),
    ]


def test_without_a_model_the_ranking_is_by_bytes_per_token():
    rows = [(size.line, size.vocab_size, size.kinds, size.flops_per_byte) for size in advised(None).ranking]
    assert rows == [("mine", 200, ["as made"], None), ("made", 200, ["as made"], None)]


def test_what_cannot_be_ranked_stands_apart_with_the_reason():
    results = results_of(advised(), failures=["unread: its merges cannot be read"])
    text = nodes_markdown(ranking_nodes(results, results.studies.get(VOCABULARY_SIZES)))
    assert "| 2 | mine | 50 | recommended, smallest to take | 2.632 | 304 | **+1.3 %** |  |" in text
    assert "| 3 | made | 200 | as made | 4.000 | 500 | +66.7 % | not recommended |" in text
    assert "| lossy | text of code is lost |\n| unread | its merges cannot be read |" in text


@pytest.mark.parametrize(("trained_bytes", "small"), [(10_000, False), (9_999, True)])
def test_a_text_too_small_says_how_much_would_decide(trained_bytes, small):
    advice = advised(trained_bytes=trained_bytes)
    enough = advice.ranges[0].enough_bytes
    assert (enough is not None) == small, "100 bytes for each of 100 ids"
    results = results_of(advice)
    text = nodes_markdown(ranking_nodes(results, results.studies.get(VOCABULARY_SIZES)))
    note = f"trained on too small a text: about {byte_size(enough or 0)} would decide its size"
    assert text.count(note) == (2 if small else 0)


def test_ranking_csv_has_a_row_for_each():
    assert ranking_csv(results_of(advised())).splitlines()[::3] == [
        "rank,line,vocab_size,kinds,compression_ratio,flops_per_byte,beyond_best",
        "3,made,200,as made,4.0,500.0,0.6666666666666667",
    ]
    assert ranking_csv(Results(name="none")).count("\n") == 1
