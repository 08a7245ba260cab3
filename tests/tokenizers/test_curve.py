"""The curve equals encoding with fewer merges, at every size."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.tokenizers.curve import Curve, CutIds, tokens_of_each
from tokbench.tokenizers.merges import MergeOrder, merge_order
from tokbench_plugins.bpe import BPETokenizer, train

TEXTS = st.lists(st.one_of(st.text(alphabet="ab ", max_size=60), st.text(max_size=30)), min_size=1, max_size=5)


@pytest.mark.parametrize("pattern", [None, "gpt4"])
@settings(deadline=None, max_examples=8)
@given(texts=TEXTS, others=TEXTS)
def test_every_size_of_any_text(pattern, texts, others):
    merges = train(texts, 300, pattern, engine="python")
    largest = BPETokenizer(merges, pattern, engine="python")
    order = merge_order(largest)
    assert order.base == 256
    encoded = largest.encode_batch(others)
    ids = encoded.ids.tolist()
    curve = Curve(order, np.bincount(ids, minlength=largest.vocab_size))
    for size in range(len(merges) + 1):
        smaller = BPETokenizer(merges[:size], pattern, engine="python")
        cut, really = CutIds(order, size)(encoded), smaller.encode_batch(others)
        assert cut.ids.tolist() == really.ids.tolist()
        assert cut.offsets.tolist() == really.offsets.tolist()
        expected = np.bincount(really.ids, minlength=largest.vocab_size)
        assert curve.tokens[size] == expected.sum()
        assert curve.counts_at(size).tolist() == expected.tolist()
        assert tokens_of_each(order, size)[ids].sum() == expected.sum()
    assert np.all(np.diff(curve.tokens) <= 0)


@pytest.mark.parametrize("size", [0, 2, 4])
@example("abca")
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30).map("".join))
def test_tokens_that_are_looked_up_whole(size, text):
    """A token of three parts is there from its rank on, if it is the whole text; it is never built inside another."""
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"abca": 4, b"ca": 5, b"bc": 6}
    order = MergeOrder(7, [(0, 1, 3), (3, 2, 0, 4), (2, 0, 5), (1, 2, 6)])

    def encode(kept):
        if ranks.get(text.encode(), 7) < 3 + kept:
            return [ranks[text.encode()]]
        ids = [ranks[letter.encode()] for letter in text]
        for merge in [(0, 1, 3), None, (2, 0, 5), (1, 2, 6)][:kept]:
            at = 0
            while merge and at < len(ids) - 1:
                if (ids[at], ids[at + 1]) == merge[:2]:
                    ids[at : at + 2] = [merge[2]]
                at += 1
        return ids

    curve = Curve(order, np.bincount(encode(4), minlength=7))
    assert curve.tokens[size] == len(encode(size))
    assert curve.counts_at(size).tolist() == np.bincount(encode(size), minlength=7).tolist()


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([(97, 98, 256), (98, 97, 256)], "merges 0 and 1 both make id 256"),
        ([(97, 256, 257), (97, 97, 256)], "out of rank order"),
        ([(97, -1, 256)], "a merge names id -1, but vocab_size is 258"),
        ([(97, 256)], "merge 0 has fewer than two parts"),
    ],
)
def test_what_is_not_in_order_is_refused(merges, message):
    with pytest.raises(tokbench.TokbenchError, match=message):
        MergeOrder(258, merges)


def test_nothing_and_no_merges():
    assert Curve(MergeOrder(256, []), np.zeros(256, np.int64)).tokens.tolist() == [0]
