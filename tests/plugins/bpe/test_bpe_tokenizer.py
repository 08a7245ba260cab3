"""The tokenizer and its saved file: contract, capabilities, training, saving, loading, damage."""

import hashlib
import json
import pickle
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tokbench
from tokbench.tokenizers.contract import Encoded
from tokbench_plugins import naive_bpe, regex_bpe
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, decode, engines, read_artefact, train
from tokbench_plugins.bpe.artefact import Artefact, TrainingRecord, TrainingText, write_artefact
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens

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


def test_long_documents_are_decoded_in_pieces(monkeypatch):
    tokenizer = BPETokenizer(train(TEXTS, 280, "gpt4"), "gpt4")
    encoded = tokenizer.encode_batch(TEXTS)
    monkeypatch.setattr(decode, "_AT_ONCE", 3)
    assert tokenizer.decode_batch(encoded) == TEXTS
    with pytest.raises(ValueError, match="id 280 is not in the vocabulary"):
        tokenizer.decode_batch(Encoded(np.array([1, 2, 3, 280], np.uint32), np.array([0, 4])))


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


MERGES = [(104, 105), (256, 33), (257, 257)]
SPECIAL = SpecialTokens({"<|endoftext|>": 259, "<é>": 300})
TRAINING = TrainingRecord(1000, "smallest", TrainingText("0" * 64, 2, 17))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, MERGES, PATTERNS["gpt4"])
    return path


def refused(path, reason, kind="regex_bpe"):
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        read_artefact(path, kind)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def rewrite(path, *, signed=True, **changes):
    """Change the file; with ``signed`` its digest is made to fit."""
    content = {**json.loads(path.read_text()), **changes}
    if signed:
        body = {key: value for key, value in content.items() if key != "sha256"}
        digest = hashlib.sha256(json.dumps(body, separators=(",", ":")).encode()).hexdigest()
        content = {**body, "sha256": digest}
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("pattern", "merges", "special", "training"),
    [
        (None, [], NO_SPECIAL, TrainingRecord()),
        (PATTERNS["o200k"], MERGES, SPECIAL, TRAINING),
        (r"\w+|é", MERGES, NO_SPECIAL, TrainingRecord(300, "first", None)),
        (PATTERNS["gpt4"], MERGES, NO_SPECIAL, TRAINING._replace(kind="superbpe", rule={"stage_one": 257})),
    ],
)
def test_round_trip(tmp_path, pattern, merges, special, training):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, merges, pattern, special, training)
    kind = training.kind or ("naive_bpe" if pattern is None else "regex_bpe")
    assert read_artefact(path, kind) == Artefact(merges, pattern, special, training)
    notes = ("caution: trained with tokbench on 2 documents, 17 bytes: on these its numbers are too good",)
    assert read_artefact(path, kind).notes == (notes if training.corpus else ())
    if kind in {"naive_bpe", "regex_bpe"}:
        assert tuple(tokbench.load(path.as_posix()).notes) == (notes if training.corpus else ())


def test_what_the_file_says(tmp_path):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, MERGES, "[a-z]+", SPECIAL, TRAINING)
    content = json.loads(path.read_text())
    assert len(content.pop("sha256")) == 64
    assert content == {
        "format": "tokbench-bpe/2",
        "tokbench": tokbench.__version__,
        "kind": "regex_bpe",
        "options": {"pattern": "[a-z]+", "tie": "smallest", "vocab_size": 1000},
        "corpus": {"sha256": "0" * 64, "documents": 2, "bytes": 17},
        "special_tokens": {"<|endoftext|>": 259, "<é>": 300},
        "merges": [[104, 105], [256, 33], [257, 257]],
    }


def test_the_bytes_are_always_the_same_and_may_be_reformatted(path, tmp_path):
    assert path.read_text().startswith('{"format":"tokbench-bpe/2","tokbench":"')
    again = tmp_path / "y.bpe.json"
    write_artefact(again, MERGES, PATTERNS["gpt4"])
    assert again.read_bytes() == path.read_bytes()
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    assert read_artefact(path, "regex_bpe").merges == MERGES


@given(data=st.data())
def test_no_changed_byte_is_read_differently(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flip") / "x.bpe.json"
    write_artefact(path, MERGES, PATTERNS["gpt4"])
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        artefact = read_artefact(path, "regex_bpe")
    except tokbench.BackendError:
        return
    assert artefact == Artefact(MERGES, PATTERNS["gpt4"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", ":1:1: not JSON"),
        (b"\xff\xfe", ":1:1: not UTF-8"),
        (b"[" * 100_000, ":1:1: JSON that is nested deeper"),
        (b"[]", "not a file saved by tokbench's BPE"),
        (b'{"version": 1}', "not a file saved by tokbench's BPE"),
    ],
)
def test_other_content(path, content, reason):
    path.write_bytes(content)
    refused(path, reason)
    path.unlink()
    refused(path, "No such file")


@pytest.mark.parametrize("written", ["tokbench-bpe/1", "tokbench-bpe/3", "tokbench-bpe/10"])
def test_another_version_is_refused(path, written):
    rewrite(path, format=written)
    refused(path, f"its format is '{written}'")


def test_a_change_is_noticed_by_the_digest(path):
    rewrite(path, signed=False, merges=[[104, 105]])
    refused(path, "does not match its sha256")


def test_kind_pattern_and_options(path):
    refused(path, "load it with 'backend: regex_bpe'", kind="naive_bpe")
    known = {"pattern": "(", "tie": None, "vocab_size": None}
    rewrite(path, options=known)
    refused(path, "not a regular expression")
    rewrite(path, options={**known, "sampling": {"dropout": 0.1}})
    refused(path, "its options are pattern, tie, vocab_size, sampling")
