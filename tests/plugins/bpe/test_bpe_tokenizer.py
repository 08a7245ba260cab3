"""The tokenizer and the two backends: contract, capabilities, training, saving, loading, options."""

import pickle
from typing import get_args

import numpy as np
import pytest
from pydantic import ValidationError

import tokbench
from tokbench_plugins import naive_bpe, regex_bpe
from tokbench_plugins.bpe import BPETokenizer, engines, train
from tokbench_plugins.bpe.literal import Tie

TEXTS = ["Hello, world! Hello?", "", "été 2024", "日本語 🙂\n", "a" * 200]


def silent(done, total):
    pass


def spec_of(module):
    return module.SPEC


@pytest.fixture(params=[None, "gpt4"])
def tokenizer(request):
    return BPETokenizer(train(TEXTS, 300, request.param), request.param)


def test_decoding_arrays_and_damaged_text(tokenizer):
    assert tokenizer.decode(np.array(tokenizer.encode("été"), dtype=np.uint32)) == "été"
    assert tokenizer.decode([128]) == "\ufffd"
    assert tokenizer.decode([]) == ""
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"


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
    with pytest.raises(tokbench.BackendError, match=r"none\.bpe\.json: No such file"):
        spec.load(spec.load_options(path=str(tmp_path / "none.bpe.json")))


def test_a_text_too_short_gives_a_smaller_vocabulary():
    spec = spec_of(regex_bpe)
    assert spec.min_vocab_size == 256
    assert spec.train(["abc"], 10_000, spec.train_options(), silent).vocab_size == 258
    assert spec.train([], 256, spec.train_options(), silent).vocab_size == 256


def test_without_numba_there_is_python(monkeypatch):
    monkeypatch.setattr(engines, "has_numba", lambda: False)
    tokenizer = BPETokenizer([(97, 98)], "gpt2")
    tokenizer.warm_up()
    encoded = tokenizer.encode_batch(["ab" * 2000])
    assert encoded.ids.tolist() == [256] * 2000
    assert tokenizer.decode_batch(encoded) == ["ab" * 2000]
    with pytest.raises(tokbench.BackendUnavailable, match="pip install numba"):
        BPETokenizer([], engine="numba")


RANKS = {bytes([255 - i]): i for i in range(256)} | {b"hi": 300, b"hi!": 301}


def test_ranks_with_gaps_and_special_tokens():
    tokenizer = BPETokenizer.from_ranks(RANKS, "gpt4", {"<end>": 400})
    assert tokenizer.vocab_size == 401
    assert tokenizer.encode("hi!") == [300, 222]  # the split keeps '!' apart
    assert tokenizer.merges == ((151, 150), (300, 222))
    assert [tokenizer.token_bytes(i) for i in (301, 299, 400)] == [b"hi!", b"", b"<end>"]
    assert 400 not in tokenizer.encode("<end>")
    assert tokenizer.encode_with_special("hi<end>", allowed_special="all") == [300, 400]
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.special_tokens == tokenizer.special_tokens
    assert copy.encode("hi!") == tokenizer.encode("hi!")
    with pytest.raises(ValueError, match="special token '<end>' has id 300"):
        BPETokenizer.from_ranks(RANKS, None, {"<end>": 300})


def test_training_options(tmp_path):
    """Options of a configuration: the tie rule, special tokens by set and by name."""
    spec = spec_of(naive_bpe)

    def trained(**options):
        return spec.train(iter(["ba", "ab"]), 257, spec.train_options(**options), silent)

    first, smallest = (trained(tie=tie) for tie in get_args(Tie))
    assert (first.merges, smallest.merges) == (((98, 97),), ((97, 98),))
    tokenizer = trained(special_tokens=["chat", "<end>"])
    ids = {"<|im_start|>": 257, "<|im_end|>": 258, "<|im_sep|>": 259, "<end>": 260}
    assert dict(tokenizer.special_tokens.ids) == ids
    assert tokenizer.vocab_size == 261
    tokenizer.save(tmp_path / "t.bpe.json")
    more = spec.load(spec.load_options(path=tmp_path / "t.bpe.json", special_tokens=["<end>", "end_of_text"]))
    assert dict(more.special_tokens.ids) == {**ids, "<|endoftext|>": 261}
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        spec.train_options(processes=0)
