"""Batches handed to gigatoken: our ids, or none at all."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.foundation.jit import has_numba
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, Encoder, train
from tokbench_plugins.bpe import gigatoken as gigatoken_encode
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.vocabulary import Vocabulary

pytest.importorskip("gigatoken")

import itertools

from tokbench_plugins.bpe.gigatoken import GigatokenEncoder, refusal

TEXT = st.one_of(st.text(alphabet="abA's 1\n\t\ré🙂中.!/_", max_size=80), st.text(max_size=30))
DOCUMENTS = ["some words, somewhat worded", "été été HTTPServer's isn't 12345\n\n  x", "日本語 日本 語"]


@pytest.fixture(scope="module", params=PATTERNS)
def engines(request):
    vocabulary = Vocabulary.trained(train(DOCUMENTS, 330, request.param))
    compiled = BPETokenizer(vocabulary, request.param, engine="numba" if has_numba() else "python")
    return GigatokenEncoder(vocabulary, request.param), Encoder(vocabulary, request.param), compiled


def check(engines, texts):
    gigatoken, ours, _ = engines
    ids, offsets = gigatoken.encode_batch(texts)
    assert (ids.dtype, offsets.dtype, offsets.shape) == (np.uint32, np.int64, (len(texts) + 1,))
    assert [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)] == list(map(ours, texts))


@settings(deadline=None)
@given(texts=st.lists(TEXT, max_size=5))
def test_ids_are_ours(engines, texts):
    check(engines, texts)


def test_lone_surrogates_empty_batches_and_special_tokens(engines):
    check(engines, [])
    check(engines, ["", "", "a\ud800b", "\ud83d\ude00"])
    check(engines, ["<|endoftext|>", "a<|im_start|>b</s>"])


def test_characters_too_new_for_this_python(engines):
    check(engines, ["été", "a\u0378b \U0003fffe", *DOCUMENTS * 200, "1\u0378'"])


@pytest.mark.slow
def test_every_character(engines):
    """Those that this Python knows, beside the compiled engine, which other tests hold against ``regex``.

    Surrogates and the planes for private use are left out, for they are all alike.
    """
    gigatoken, _, compiled = engines
    known = [c for c in map(chr, range(0xF0000)) if unicodedata.category(c) not in {"Cn", "Cs"}]
    assert len(known) > 140_000
    texts = [f"a{c}b 1{c} {c}.{c}'s\n{c}{c}" for c in known]
    found, expected = gigatoken.encode_batch(texts), compiled.encode_batch(texts)
    assert np.array_equal(found.offsets, expected.offsets)
    assert np.array_equal(found.ids, expected.ids)


def test_what_it_cannot_be_given():
    trained = Vocabulary.trained([(97, 98)])
    assert "does not know the pattern" in refusal(trained, r"\w+|\W+")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"xyz": 256}
    assert "no merge builds" in refusal(vocabulary_of_ranks(ranks), "gpt2")
    by_hand = [(97, 98), (98, 99), (97, 257)]
    with pytest.raises(ValueError, match="which of two merges"):
        GigatokenEncoder(Vocabulary.trained(by_hand), "gpt2")
    with pytest.raises(tokbench.BackendError, match=r"engine 'gigatoken': .*which of two merges"):
        BPETokenizer(by_hand, "gpt2", engine="gigatoken").encode_batch(["abc"])


def test_other_ids_are_found_out(monkeypatch):
    vocabulary = Vocabulary.trained(train(DOCUMENTS, 330, "gpt4"))
    load = gigatoken_encode._load
    monkeypatch.setattr(gigatoken_encode, "_load", lambda vocabulary, _: load(vocabulary, "gpt2"))
    with pytest.raises(ValueError, match="gigatoken gives other ids than this engine"):
        GigatokenEncoder(vocabulary, "gpt4")
