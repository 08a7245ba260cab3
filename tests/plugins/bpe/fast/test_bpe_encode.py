"""The encoder against the literal loop and against tiktoken: the same ids, whatever the text."""

import tiktoken
from bpe_texts import SPLITS, TEXT, made_by_hand
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import PATTERNS, BPETokenizer, Encoder, Splitter, train
from tokbench_plugins.bpe.fast import encode
from tokbench_plugins.bpe.literal import encode_literally
from tokbench_plugins.bpe.vocabulary import token_bytes_of

# Without a split one chunk, longer than those whose ranks are scanned.
LONG = st.lists(st.sampled_from(["a", "b", "ab", "aab", "é", "🙂"]), min_size=257, max_size=600).map("".join)


@settings(deadline=None)
@given(pattern=st.sampled_from(SPLITS), documents=st.lists(TEXT, max_size=4), text=TEXT)
def test_trained_merges_encode_as_the_literal_loop(pattern, documents, text):
    merges = train(documents, 330, pattern)
    expected = [token for chunk in Splitter(pattern)(text) for token in encode_literally(chunk.encode(), merges)]
    tokenizer = BPETokenizer(merges, pattern)
    assert tokenizer.encode(text) == expected
    assert tokenizer.decode(expected) == text


@settings(deadline=None)
@given(merges=made_by_hand(), text=st.text(alphabet="ab", max_size=40))
def test_any_merges_encode_as_the_literal_loop(merges, text):
    assert Encoder(merges)(text) == encode_literally(text.encode(), merges)


@settings(deadline=None, max_examples=6)
@given(text=LONG, merges=made_by_hand())
def test_long_chunks_encode_as_the_literal_loop(text, merges):
    """A chunk of more than 256 ids is merged through a heap."""
    for each in (merges, train([text[:100], text[::-1]], 300, None)):
        expected = encode_literally(text.encode(), each)
        [chunk] = Splitter(None)(text)
        assert len(chunk.encode()) > encode._LONGEST_SCANNED == 256
        assert Encoder(each)(text) == expected
        ranks, made = {pair: rank for rank, pair in enumerate(each)}, range(256, 256 + len(each))
        assert encode._merge_short(list(text.encode()), ranks, made) == expected


# The same cuts in the dialect of tiktoken's engine; '(?s:.+)' is the whole document.
@settings(deadline=None)
@given(pattern=st.sampled_from([None, *PATTERNS]), documents=st.lists(TEXT, max_size=4), text=TEXT)
def test_tiktoken_gives_the_same_ids_with_trained_ranks(pattern, documents, text):
    merges = train([*documents, text[: len(text) // 2]], 330, pattern)
    ranks = {token: rank for rank, token in enumerate(token_bytes_of(merges))}
    split = "(?s:.+)" if pattern is None else PATTERNS[pattern]
    peer = tiktoken.Encoding("trained", pat_str=split, mergeable_ranks=ranks, special_tokens={})
    ascii_only = text.encode("ascii", "ignore").decode()  # the two engines know different versions of Unicode
    assert Encoder(merges, pattern)(ascii_only) == peer.encode_ordinary(ascii_only)


def test_remembered_chunks_do_not_leak_into_answers():
    encoder = Encoder([(97, 98)], "gpt2")
    encoder("ab ab").clear()
    assert encoder("ab ab") == [256, 32, 256]
