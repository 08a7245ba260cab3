"""The tokenizer and the two backends: contract, capabilities, training, saving, loading, options."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import tokbench
from tokbench.protocol import DecodesBatch, EncodesBatch, HasTokenBytes, Saves, Tokenizer
from tokbench_plugins import naive_bpe, regex_bpe
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, train

TEXTS = ["Hello, world! Hello?", "", "été 2024", "日本語 🙂\n", "a" * 200]


def silent(done, total):
    pass


def spec_of(module):
    specs = []
    module.register_backends(specs.append)
    assert len(specs) == 1
    return specs[0]


@pytest.fixture(params=[None, "gpt2", "gpt4", "o200k"])
def tokenizer(request):
    return BPETokenizer(train(TEXTS, 300, request.param), request.param)


def test_protocols(tokenizer):
    for protocol in (Tokenizer, EncodesBatch, DecodesBatch, HasTokenBytes, Saves):
        assert isinstance(tokenizer, protocol)


@settings(deadline=None)
@given(texts=st.lists(st.text(), max_size=6))
def test_batches_equal_the_loop(texts):
    tokenizer = BPETokenizer(train(texts, 280, "gpt4"), "gpt4")
    encoded = tokenizer.encode_batch(texts)
    assert (encoded.ids.dtype, encoded.offsets.dtype) == (np.uint32, np.int64)
    assert encoded.offsets.shape == (len(texts) + 1,)
    for k, text in enumerate(texts):
        assert encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]].tolist() == tokenizer.encode(text)
    assert tokenizer.decode_batch(encoded) == texts


def test_token_bytes_join_to_the_text(tokenizer):
    for text in TEXTS:
        ids = tokenizer.encode(text)
        assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()
        assert all(0 <= token < tokenizer.vocab_size for token in ids)


def test_decoding_arrays_and_damaged_text(tokenizer):
    assert tokenizer.decode(np.array(tokenizer.encode("été"), dtype=np.uint32)) == "été"
    assert tokenizer.decode([128]) == "\ufffd"
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize("beyond", [0, 1, 2**32])
def test_unknown_ids_are_refused(tokenizer, beyond):
    size = tokenizer.vocab_size
    for wrong in (size + beyond, -1 - beyond):
        for refusing in (lambda ids: tokenizer.decode([97, *ids]), lambda ids: tokenizer.token_bytes(*ids)):
            with pytest.raises(ValueError, match=f"id {wrong} is not in the vocabulary of {size} ids"):
                refusing([wrong])


def test_lone_surrogates_are_encoded_as_replacement_characters(tokenizer):
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"


def test_impossible_merges_are_refused():
    with pytest.raises(ValueError, match="only ids below 256"):
        BPETokenizer([(1, 256)])


def test_pickle(tokenizer):
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert (copy.merges, copy.pattern) == (tokenizer.merges, tokenizer.pattern)
    assert [copy.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]


@pytest.mark.parametrize(("module", "other"), [(naive_bpe, regex_bpe), (regex_bpe, naive_bpe)])
def test_train_save_load(module, other, tmp_path):
    spec = spec_of(module)
    trained = spec.train(iter(TEXTS), 290, spec.train_options(), silent)
    assert trained.vocab_size == 290
    path = tmp_path / f"x{trained.file_suffix}"
    trained.save(path)
    loaded = spec.load(spec.load_options(path=str(path)))
    assert (loaded.merges, loaded.pattern) == (trained.merges, trained.pattern)
    assert [loaded.encode(text) for text in TEXTS] == [trained.encode(text) for text in TEXTS]

    stranger = spec_of(other)
    with pytest.raises(tokbench.BackendError, match=f"backend: {spec.name}"):
        stranger.load(stranger.load_options(path=str(path)))


@pytest.mark.parametrize("module", [naive_bpe, regex_bpe])
def test_a_text_too_short_gives_a_smaller_vocabulary(module):
    spec = spec_of(module)
    assert spec.min_vocab_size == 256
    assert spec.train(["abc"], 10_000, spec.train_options(), silent).vocab_size == 258
    assert spec.train([], 256, spec.train_options(), silent).vocab_size == 256


@pytest.mark.parametrize("module", [naive_bpe, regex_bpe])
def test_a_missing_file_is_a_backend_error(module, tmp_path):
    spec = spec_of(module)
    with pytest.raises(tokbench.BackendError, match=r"none\.bpe\.json: No such file"):
        spec.load(spec.load_options(path=str(tmp_path / "none.bpe.json")))


def test_pattern_option():
    options = spec_of(regex_bpe).train_options
    assert options().pattern == "gpt4"
    assert options(pattern=r"\S+|\s+").pattern == r"\S+|\s+"
    with pytest.raises(ValidationError, match="did you mean 'gpt4'"):
        options(pattern="gpt-4")
    with pytest.raises(ValidationError, match="is not a regular expression: missing \\)"):
        options(pattern="(a")


def test_trained_pattern_is_the_named_one():
    spec = spec_of(regex_bpe)
    assert spec.train(TEXTS, 260, spec.train_options(), silent).pattern == PATTERNS["gpt4"]
