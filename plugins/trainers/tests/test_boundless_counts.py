"""BoundlessBPE against a trainer that counts nothing: it does every possible merge and looks which one saves the most."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from literal_superwords import (
    BoundlessMerges,
    join_chunks,
    merge_within,
    runs_of,
    train_boundless_literally,
)

from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_trainers.superwords.train_boundless import train_boundless

WORDS = ["a", " a", " aa", "aaa", "b", " b", "ab", " ab", "-", "--", "----", " ", "  ", "0000", "1"]
runs = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(1, 7)), max_size=8)
texts = st.lists(runs.map(lambda run: "".join(word * times for word, times in run)), min_size=1, max_size=3)
patterns = st.sampled_from(["gpt2", "gpt4", "[ab]|-+|0+|.", "a+|[ab]| |-"])
ties = st.sampled_from(["first", "smallest"])

ZEROS = ["000-" * 5 + "zq-" * 9 + "AB-" * 6]
"""`00` stands ten times if pairs may overlap, and is merged five times: fewer than `zq` and `AB`."""


def train_by_merging(documents, vocab_size, pattern, tie):
    """Try every merge of every step: the text with the fewest ids wins, and of equals the supermerge."""
    chunks = [[chunk.encode() for chunk in Splitter(pattern)(text)] for text in documents]
    text = [[list(chunk) for chunk in document] for document in chunks]
    merges, supermerges = [], []
    while (made := 256 + len(merges)) < vocab_size:
        tokens = Vocabulary.trained(merges).tokens
        across = dict.fromkeys(pair for document in text for run in runs_of(document, tokens) for pair in pairwise(run))
        within = dict.fromkeys(pair for document in text for chunk in document for pair in pairwise(chunk))
        tried = []
        for pair in across:
            token = tokens[pair[0]] + tokens[pair[1]]
            if token not in tokens and not any(token in chunk for document in chunks for chunk in document):
                tried.append((pair, True, [join_chunks(document, pair, made) for document in text]))
        tried += [(pair, False, [merge_within(document, pair, made) for document in text]) for pair in within]
        if not tried:
            break
        if tie == "smallest":
            tried.sort(key=lambda step: (not step[1], step[0]))
        pair, joins, text = min(tried, key=lambda step: sum(len(chunk) for document in step[2] for chunk in document))
        supermerges += [len(merges)] * joins
        merges.append(pair)
    return BoundlessMerges(merges, supermerges)


@given(texts, patterns, ties)
@example(ZEROS, r"0+|zq|[AB]|-", "first")
@example([" a" * 5 + "." + " bb." * 3 + " cc dd." * 4], "gpt2", "smallest")  # five equal chunks are two supermerges
def test_the_merge_that_is_done_most_often_comes_first(documents, pattern, tie):
    merged = train_by_merging(documents, 264, pattern, tie)
    assert train_boundless(documents, 264, pattern, tie=tie) == merged
    literally = ([chunk.encode() for chunk in Splitter(pattern)(text)] for text in documents)
    assert train_boundless_literally(literally, 264, tie) == merged


def test_a_run_of_one_sign_counts_by_its_merges():
    """Nine times `zq`, six times `A` and `B` as chunks of their own, and five times `00`."""
    learned = train_boundless(ZEROS, 259, r"0+|zq|[AB]|-")
    assert Vocabulary.trained(learned.merges).tokens[256:] == (b"zq", b"AB", b"00")
    assert learned.supermerges == [1]
