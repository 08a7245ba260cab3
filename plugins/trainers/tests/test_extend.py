"""Extension against the textbook loop, from published ranks and from made-up vocabularies."""

from hypothesis import given
from hypothesis import strategies as st
from literal_loops import continue_literally

from tokbench_plugins.bpe.fast.encode import Encoder
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.bpe.formats import ranks_of
from tokbench_plugins.bpe.literal import train_literally
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_trainers.extend import MergeRule, extend

texts = st.lists(st.text(alphabet="abc é ", max_size=40), min_size=1, max_size=4)


def by_the_loop(vocabulary, documents, pattern, n_more, first_id, tie="first"):
    """The textbook loop, on all chunks of the text, one after the other."""
    encode = Encoder(vocabulary, None)
    encoded = [encode(chunk) for text in documents for chunk in Splitter(pattern)(text)]
    pairs = continue_literally(encoded, range(first_id, first_id + n_more), tie)
    return [(left, right, first_id + k) for k, (left, right) in enumerate(pairs)]


@given(texts, texts, st.sampled_from([None, "gpt2"]), st.sampled_from(["first", "smallest"]))
def test_equal_to_the_loop(before, documents, pattern, tie):
    chunks = [chunk.encode() for text in before for chunk in Splitter(pattern)(text)]
    base = Vocabulary.trained(train_literally(chunks, 262))
    counted = count_chunks(documents, pattern)
    extended = extend(base, counted, 6, 300, MergeRule(tie))
    assert list(extended.vocabulary.merges[len(base.merges) :]) == by_the_loop(base, documents, pattern, 6, 300, tie)
    encode = Encoder(extended.vocabulary, pattern)
    assert sum(len(encode(text)) for text in documents) == extended.tokens[-1]
    assert extended.vocabulary.tokens[: len(base.tokens)] == base.tokens


def test_a_token_that_was_added_by_hand_is_not_made_again():
    tokens = (*Vocabulary.trained([(97, 98)]).tokens, b"abc")
    base = Vocabulary(tokens, tuple(range(256)), ((97, 98, 256),), frozenset({257}))
    extended = extend(base, {"xabcx": 3, "abc": 1}, 2, 258)
    made = extended.vocabulary.tokens[258:]
    assert b"abc" not in made
    assert len(set(made)) == 2
    assert extended.tokens == [4 * 3 + 1, 10, 7]


def test_sizes_count_what_was_replaced():
    """Of three equal ids in a row, a merge replaces two."""
    assert extend(Vocabulary.trained([]), {"aaa": 2, "aaaa": 1}, 1, 256).tokens == [10, 6]


def test_ranks_of_an_extension_are_those_of_the_tokenizer():
    documents = ["low lower lowest slow slowly lowly newer newest " * 3]
    base = Vocabulary.trained(train_literally([b"low", b" lower", b" new"], 262))
    extended = extend(base, count_chunks(documents, "gpt2"), 9, 270).vocabulary
    assert vocabulary_of_ranks(ranks_of(extended)) == extended


def test_nothing_more_to_merge():
    base = Vocabulary.trained([(97, 98)])
    extended = extend(base, {"ab": 5}, 50, 257)
    assert extended.vocabulary is base
    assert extended.tokens == [5]
