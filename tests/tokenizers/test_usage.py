"""Usage classes: what is built is counted right, and every id is of one class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokbench.inspect.usage import corpus_use
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.bpe import train
from tokbench_plugins.bpe.tokenizer import BPETokenizer

MERGES = train(["the other brother bathes there, then they gather another feather " * 4], 300, None)


def built_on_the_way(tokenizer, text):
    """Every merge that is done, one by one, as the literature's loop does them; and the bytes it begins with."""
    ids = list(text.encode())
    counts = np.bincount(ids, minlength=tokenizer.vocab_size)
    for rank, pair in enumerate(tokenizer.merges):
        at = 0
        while at < len(ids) - 1:
            if (ids[at], ids[at + 1]) == pair:
                ids[at : at + 2] = [256 + rank]
                counts[256 + rank] += 1
            at += 1
    return counts


@given(st.text("thebrofa ,n", max_size=60))
def test_what_is_built_equals_the_merges_that_are_done(text):
    tokenizer = BPETokenizer(MERGES, engine="python")
    emitted = np.bincount(tokenizer.encode(text), minlength=tokenizer.vocab_size).astype(np.int64)
    assert Curve(merge_order(tokenizer), emitted).built.tolist() == built_on_the_way(tokenizer, text).tolist()


def test_the_made_ids_of_merges_are_found_by_their_bytes():
    tokenizer = BPETokenizer.from_ranks({bytes([255 - i]): i for i in range(256)} | {b"hi": 300, b"hi!": 301}, "gpt2")
    order = merge_order(tokenizer)
    assert (order.made.tolist(), order.parts.tolist()) == ([300, 301], [151, 150, 300, 222])


def test_scaffold_is_what_is_built_most_and_hardly_emitted():
    tokenizer = BPETokenizer([(97, 98), (256, 99)], engine="python")
    use = corpus_use(tokenizer, ["abc" * 9, "bc"])
    assert (use.documents, use.tokens) == (2, 11)
    assert [(token.id, token.remark) for token in use.apart["scaffold"]] == [
        (97, "built 9, emitted 0"),
        (256, "built 9, emitted 0"),
    ]
