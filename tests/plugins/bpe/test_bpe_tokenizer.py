"""The tokenizer and the two backends: contract, capabilities, training, saving, loading, options."""

import pickle
import platform
import subprocess
import sys
from importlib.metadata import version
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import tokbench
import tokbench.plugin
from tokbench.foundation.jit import has_numba
from tokbench.tokenizers.contract import DecodesBatch, EncodesBatch, Exports, HasTokenBytes, Saves, Tokenizer, WarmsUp
from tokbench_plugins import naive_bpe, regex_bpe
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, decode, engines, train
from tokbench_plugins.bpe import tokenizer as bpe_tokenizer
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.vocabulary import Vocabulary

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


ENGINES = ["auto", "python", "numba", "gigatoken"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "o200k"])
def test_all_engines_give_the_same(engine, pattern):
    if engine in {"numba", "gigatoken"}:
        pytest.importorskip(engine)
    merges = train(TEXTS, 300, pattern)
    tokenizer = BPETokenizer(merges, pattern, engine=engine)
    long = "Hello\ud800 unseen ünseen\n" * 400  # by itself as good as a batch
    texts = [*TEXTS, "Hello\ud800", "unseen ünseen", long] * 3
    expected = [BPETokenizer(merges, pattern, engine="python").encode(text) for text in texts]
    for _ in range(2):
        encoded = tokenizer.encode_batch(texts)
        found = [encoded.ids[a:b].tolist() for a, b in zip(encoded.offsets, encoded.offsets[1:], strict=False)]
        assert found == expected
    assert tokenizer.encode(long) == expected[-1]
    assert tokenizer.decode_batch(encoded) == [tokenizer.decode(ids) for ids in expected]
    assert pickle.loads(pickle.dumps(tokenizer)).engine == engine


def test_auto_begins_in_python_and_changes_when_it_is_worth_it(monkeypatch):
    monkeypatch.setattr(bpe_tokenizer, "_WORTH_BULK", 100)
    tokenizer = BPETokenizer([(97, 98)], "gpt2")
    tokenizer.encode_batch(["ab" * 40])
    assert tokenizer._bulk is None
    assert tokenizer.encode_batch(["ab" * 40]).ids.tolist() == [256] * 40
    assert (tokenizer._bulk is not None) == has_numba()


_AUTO = """
import sys
from tokbench_plugins.bpe import BPETokenizer
from tokbench.foundation.jit import has_numba
tokenizer = BPETokenizer([(97, 98)], "gpt2")
encoded = tokenizer.encode_batch(["ab code = 1\\n" * 700_000])
assert (tokenizer._bulk is not None) == has_numba()
tokenizer.warm_up()
print("gigatoken" in sys.modules, tokenizer.encoded_by)
"""


@pytest.mark.slow
def test_auto_is_never_another_s_engine():
    """More than eight million ASCII characters, in a process that nothing else has imported gigatoken into."""
    done = subprocess.run([sys.executable, "-c", _AUTO], capture_output=True, text=True, check=True)
    ours = f"compiled (numba {version('numba')})" if has_numba() else "python (CPython"
    assert done.stdout.startswith(f"False {ours}")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engine_is_named_with_its_version(engine):
    if engine in {"numba", "gigatoken"}:
        pytest.importorskip(engine)
    library = {"auto": "numba" if has_numba() else "python"}.get(engine, engine)
    expected = platform.python_version() if library == "python" else version(library)
    tokenizer = BPETokenizer([(97, 98)], "gpt2", engine=engine)
    assert expected in tokenizer.encoded_by
    tokenizer.warm_up()
    assert expected in tokenizer.encoded_by
    assert tokenizer.encoded_by.startswith({"numba": "compiled"}.get(library, library))


@pytest.mark.skipif(not has_numba(), reason="no numba")
def test_a_vocabulary_that_is_too_large_for_numba_is_not_said_to_be_compiled(caplog):
    tokens = (*(bytes([byte]) for byte in range(256)), *[b""] * (1 << 21))
    tokenizer = BPETokenizer(Vocabulary(tokens, tuple(range(256)), ()), "gpt2")
    assert tokenizer.encode_batch(["ab"]).ids.tolist() == [97, 98]
    tokenizer.warm_up()
    assert "encoding without numba: id 2097407 is above" in caplog.text
    assert tokenizer.encoded_by.startswith("python")


@pytest.mark.slow
def test_without_numba_and_gigatoken_there_is_python(monkeypatch):
    for module in (engines, decode):
        monkeypatch.setattr(module, "has_numba", lambda: False)
    monkeypatch.setattr(engines, "has_gigatoken", lambda: False)
    tokenizer = BPETokenizer([(97, 98)], "gpt2")
    texts = ["ab" * 2_000_000]
    encoded = tokenizer.encode_batch(texts)
    assert encoded.ids.tolist() == [256] * 2_000_000
    assert tokenizer.decode_batch(encoded) == texts
    for engine in ("numba", "gigatoken"):
        with pytest.raises(tokbench.BackendUnavailable, match=f"pip install {engine}"):
            BPETokenizer([], engine=engine)


def test_unknown_engine():
    with pytest.raises(ValueError, match="did you mean 'numba'"):
        BPETokenizer([], engine="numbas")


RANKS = {bytes([255 - i]): i for i in range(256)} | {b"hi": 300, b"hi!": 301}


def test_ranks_with_gaps_and_special_tokens():
    tokenizer = BPETokenizer.from_ranks(RANKS, "gpt4", {"<end>": 400})
    assert tokenizer.vocab_size == 401
    assert tokenizer.encode("hi!") == [300, 222]  # the split keeps '!' apart
    assert tokenizer.merges == ((151, 150), (300, 222))
    assert tokenizer.token_bytes(301) == b"hi!"
    assert tokenizer.token_bytes(299) == b""
    assert tokenizer.token_bytes(400) == b"<end>"
    assert 400 not in tokenizer.encode("<end>")
    assert tokenizer.encode_with_special("hi<end>", allowed_special="all") == [300, 400]
    with pytest.raises(ValueError, match="special token '<end>'"):
        tokenizer.encode_with_special("hi<end>", allowed_special=(), disallowed_special="all")
    with pytest.raises(ValueError, match="id 401 is not in the vocabulary of 401 ids"):
        tokenizer.decode([401])
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.special_tokens == tokenizer.special_tokens
    assert copy.encode("hi!") == tokenizer.encode("hi!")


def test_a_special_token_cannot_have_an_ordinary_id():
    with pytest.raises(ValueError, match="special token '<end>' has id 300"):
        BPETokenizer.from_ranks(RANKS, None, {"<end>": 300})


@pytest.mark.parametrize("compiled", [False, True])
def test_batches_are_decoded_as_the_documents_one_by_one(monkeypatch, compiled):
    monkeypatch.setattr(decode, "_WORTH_COMPILED", 0 if compiled else 10**9)
    monkeypatch.setattr(decode, "_SLAB", 50)
    tokenizer = BPETokenizer.from_ranks(RANKS, None, {"<end>": 400})
    rng = np.random.default_rng(1)
    documents = [
        rng.integers(0, 401, size=size, dtype=np.uint32) for size in [0, 3, 200, 0, 0, 7, 49, 1, *[20] * 30, 0]
    ]
    offsets = np.cumsum([0, *map(len, documents)])
    encoded = tokbench.plugin.Encoded(np.concatenate(documents), offsets)
    assert tokenizer.decode_batch(encoded) == [tokenizer.decode(ids) for ids in documents]
    assert tokenizer.decode_batch(tokbench.plugin.Encoded(encoded.ids[:0], offsets[:1])) == []
    wrong = tokbench.plugin.Encoded(np.array([5, 401], np.uint32), np.array([0, 2]))
    with pytest.raises(ValueError, match="id 401 is not in the vocabulary of 401 ids"):
        tokenizer.decode_batch(wrong)


@pytest.mark.parametrize("module", [naive_bpe, regex_bpe])
def test_training_options(module, tmp_path):
    """Options of a configuration: the tie rule, processes, special tokens by set and by name."""
    spec = spec_of(module)
    documents = ["ba ab ab ba bb", "ab"] * 20

    def trained(**options):
        return spec.train(iter(documents), 259, spec.train_options(**options), silent)

    assert trained().merges[0] == (97, 98)
    assert trained(processes=2).merges == trained().merges
    first, smallest = (
        spec.train(iter(["ba", "ab"]), 257, spec.train_options(tie=tie), silent) for tie in get_args(Tie)
    )
    assert (first.merges, smallest.merges) == (((98, 97),), ((97, 98),))
    tokenizer = trained(special_tokens=["chat", "<end>"])
    assert dict(tokenizer.special_tokens.ids) == {
        "<|im_start|>": 259,
        "<|im_end|>": 260,
        "<|im_sep|>": 261,
        "<end>": 262,
    }
    assert tokenizer.vocab_size == 263
    tokenizer.save(tmp_path / "t.bpe.json")
    more = spec.load(spec.load_options(path=tmp_path / "t.bpe.json", special_tokens=["<end>", "end_of_text"]))
    assert more.special_tokens.ids["<|endoftext|>"] == 263
    assert more.special_tokens.ids["<end>"] == 262
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        spec.train_options(processes=0)


def test_exports_are_read_back(tmp_path):
    tokenizer = BPETokenizer(train(TEXTS, 300, "gpt4"), "gpt4")
    assert isinstance(tokenizer, Exports)
    for name, suffix in tokenizer.exports.items():
        tokenizer.export(name, tmp_path / f"mine{suffix}")
    copy = tokbench.load("tiktoken", path=tmp_path / "mine.tiktoken", pattern="gpt4")
    files = {"encoder": tmp_path / "mine/encoder.json", "vocab": tmp_path / "mine/vocab.bpe"}
    third = tokbench.load("gpt2_files", **files, pattern="gpt4")
    assert all(copy.encode(text) == tokenizer.encode(text) for text in TEXTS)
    assert all(map(third.vocabulary.tokens.__contains__, tokenizer.vocabulary.tokens))


@pytest.mark.skipif(not has_numba(), reason="no numba")
def test_warm_up_gets_the_engine_ready():
    tokenizer = BPETokenizer(train(TEXTS, 300, "gpt4"), "gpt4", engine="numba")
    assert isinstance(tokenizer, WarmsUp)
    ids = tokenizer.encode_batch(TEXTS).ids
    tokenizer.warm_up()
    assert type(tokenizer._bulk).__name__ == "CompiledEncoder"
    assert tokenizer.encode_batch(TEXTS).ids.tolist() == ids.tolist()
