"""Engines that count: toktok held against tiktoken's ids, ctok against the figures that its authors print."""

import pickle

import pytest
import tiktoken
from backend_checks import TEXTS, hostile, pud

import tokbench
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.engine_contract import CountsAlone, CountsTokens

SURROGATES = ["a\ud800b", "\ud83d\ude00"]


@pytest.fixture
def encoding(request, tiktoken_files):
    return tiktoken.get_encoding(request.param)


def counts_of(encoding, texts):
    return [len(encoding.encode_ordinary(text)) for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base", "o200k_harmony"], indirect=True)
def test_toktok_counts_the_ids_of_tiktoken(encoding, data):
    pytest.importorskip("toktok")
    tokenizer = tokbench.load("toktok", encoding=encoding.name)
    texts = [*TEXTS, *hostile(), *pud(data)[::5], "a<|endoftext|>b", "", *SURROGATES]
    assert list(tokenizer.count_batch(texts)) == counts_of(encoding, texts)
    assert tokenizer.vocab_size == encoding.n_vocab
    assert isinstance(tokenizer, CountsAlone)
    assert isinstance(tokenizer, Tokenizer)
    assert pickle.loads(pickle.dumps(tokenizer)).count_batch(["a b"]) == [2]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cl100k_base"], indirect=True)
@pytest.mark.parametrize("name", ["bpe_openai", "quicktok", "rs_bpe"])
def test_engines_with_ids_have_a_count_of_their_own(name, encoding, data):
    pytest.importorskip(name)
    tokenizer = tokbench.load(name, encoding=encoding.name)
    texts = [*TEXTS, *hostile(), *pud(data)[::20], "a<|endoftext|>b", "", *SURROGATES]
    assert isinstance(tokenizer, CountsTokens)
    assert list(tokenizer.count_batch(texts)) == counts_of(encoding, texts)


@pytest.mark.slow
def test_other_engines_have_no_count_of_their_own():
    assert not isinstance(tokbench.load("tokbench_bpe", encoding="cl100k_base"), CountsTokens)


@pytest.mark.slow
def test_engines_say_what_they_return():
    returns = {"quicktok": "arrays", "snaptokens": "arrays", "kitoken": "lists", "rs_bpe": "lists", "splintr": "arrays"}
    for name, shape in returns.items():
        pytest.importorskip(name)
        option = "vocabulary" if name == "splintr" else "encoding"
        tokenizer = tokbench.load(name, **{option: "cl100k_base"})
        assert tokbench.plugin.output_of(tokenizer) == shape, name


@pytest.mark.parametrize(
    ("vocabulary", "of_hello_world", "size"),
    [("v3", 10 - 7, 48_792), ("v4.7", 15 - 11, 15_283), ("v4.8", 10 - 6, 15_283)],
)
def test_ctok_counts_what_its_authors_print_less_the_frame(vocabulary, of_hello_world, size):
    """The README of ctok 1.3.0 gives 10, 15 and 10 tokens for this message, and frames of 7 and 6."""
    pytest.importorskip("ctok")
    tokenizer = tokbench.load("ctok", vocabulary=vocabulary)
    assert list(tokenizer.count_batch(["hello, world", "", "a\ud800b"]))[:2] == [of_hello_world, 0]
    assert tokenizer.vocab_size == size
    assert len(tokenizer.notes) == 3
    assert pickle.loads(pickle.dumps(tokenizer)).count_batch(["hello, world"]) == [of_hello_world]
