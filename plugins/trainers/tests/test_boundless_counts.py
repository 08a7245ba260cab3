"""BoundlessBPE against a trainer that counts nothing: it does every possible merge and looks which one saves the most."""

from hypothesis import example, given
from hypothesis import strategies as st
from literal_superwords import train_boundless_literally

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


@given(texts, patterns, ties)
@example(ZEROS, r"0+|zq|[AB]|-", "first")
@example([" a" * 5 + "." + " bb." * 3 + " cc dd." * 4], "gpt2", "smallest")  # five equal chunks are two supermerges
def test_the_merge_that_is_done_most_often_comes_first(documents, pattern, tie):
    chunks = ([chunk.encode() for chunk in Splitter(pattern)(text)] for text in documents)
    assert train_boundless(documents, 264, pattern, tie=tie) == train_boundless_literally(chunks, 264, tie)


def test_a_run_of_one_sign_counts_by_its_merges():
    """Nine times `zq`, six times `A` and `B` as chunks of their own, and five times `00`."""
    learned = train_boundless(ZEROS, 259, r"0+|zq|[AB]|-")
    assert Vocabulary.trained(learned.merges).tokens[256:] == (b"zq", b"AB", b"00")
    assert learned.supermerges == [1]
