"""SentencePiece's BPE on words and their counts: the pieces of the text."""

import random

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pq

from tokbench.foundation.errors import BackendError
from tokbench.plugin import silent
from tokbench_plugins.bpe.patterns import WORDS as SPLIT
from tokbench_plugins.counts.count import count_table
from tokbench_plugins.counts.source import CountsOptions, CountsSource
from tokbench_plugins.sentencepiece.backend import SPEC
from tokbench_plugins.sentencepiece.options import SentencePieceTrainOptions

WORDS = [
    "low",
    "lower",
    "new",
    "newer",
    "Wide",
    "été",
    "e\u0301",
    "東京",
    "12",
    "'s",
    "x\u00b4y",
    "z\u200bw",
    "\x01",
    "🎉",
]
TAB = ["a\tb", "\ttab"]
ENDS = [" ", " ", "  ", "\n", "\r\n", " \n"]


def corpus(seed, words):
    rng = random.Random(seed)
    return ["".join(rng.choice(words) + rng.choice(ENDS) for _ in range(300)) for _ in range(5)]


def tables(folder, documents, pattern=SPLIT):
    """The documents in a table, the last first."""
    path = folder / "words.counts"
    pq.write_table(count_table(documents[::-1], pattern=pattern), path)
    return {"words": CountsSource(CountsOptions(path=path)).counts}


def options(**keys):
    return SentencePieceTrainOptions(model_type="bpe", hard_vocab_limit=False, **keys)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (WORDS + TAB, {}),
        (WORDS + TAB, {"treat_whitespace_as_suffix": True, "byte_fallback": True}),
        (WORDS, {"normalization_rule_name": "identity"}),
    ],
)
def test_pieces_are_those_of_the_text(tmp_path, seed, words, keys):
    documents, chosen = corpus(seed, words), options(**keys)
    counted = tables(tmp_path, documents)
    assert SPEC.check_counts(chosen, counted) == ""
    of_counts = SPEC.train_counts(counted, 400, chosen, silent)
    of_text = SPEC.train(documents, 400, chosen, silent)
    assert of_counts.stages == of_text.stages
    assert of_counts.vocab_size == of_text.vocab_size > 70


@pytest.mark.parametrize(
    ("keys", "pattern", "message"),
    [
        ({"model_type": "unigram"}, SPLIT, "unigram"),
        ({"remove_extra_whitespaces": False}, SPLIT, "'remove_extra_whitespaces' needs whole lines"),
        ({}, "gpt4", "count again: tokbench count --pattern '[^ "),
    ],
)
def test_what_counts_cannot_train(tmp_path, keys, pattern, message):
    chosen = SentencePieceTrainOptions(**{"model_type": "bpe", **keys})
    assert message in SPEC.check_counts(chosen, tables(tmp_path, ["low lower"], pattern))


def test_tabs_that_are_not_spaces(tmp_path):
    with pytest.raises(BackendError, match="tab"):
        SPEC.train_counts(tables(tmp_path, ["low a\tb"]), 300, options(normalization_rule_name="nfkc"), silent)
