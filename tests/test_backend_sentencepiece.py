"""SentencePiece behind the contract: every kind of model, every option of its trainer, every refusal."""

import ast
import hashlib
import importlib.util
import io
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from backend_checks import (
    TEXTS,
    check_batch,
    check_bytes,
    check_offsets,
    check_pickle,
    hostile,
    joined,
    pud,
    silent,
    specs_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from sentencepiece import SentencePieceTrainer

import tokbench
from tokbench.protocol import (
    EncodesBatch,
    EncodesWithOffsets,
    HasDummyPrefix,
    HasTokenBytes,
    HasUnknown,
    Saves,
    Tokenizer,
)
from tokbench_plugins import sentencepiece_backend
from tokbench_plugins.sentencepiece_backend import LoadOptions, TrainOptions

SPEC = specs_of(sentencepiece_backend)["sentencepiece"]
BASE = ["low lower lowest\nslow slower, the slowest of 20 low flowers"] * 5

LEFT_OUT = {
    *("input", "input_format", "model_prefix", "vocab_size", "name", "precompiled_charsmap"),
    *("accept_language", "self_test_sample_size", "vocabulary_output_piece_score"),
    *("mining_sentence_size", "training_sentence_size"),
    *("escape_whitespaces", "auto_character_coverage", "enable_differential_privacy"),
    *("differential_privacy_noise_level", "differential_privacy_clipping_threshold"),
}
OPTIONS = set(TrainOptions.model_fields)

# Settings that differ in what text becomes and in how it comes back.
VARIANTS = {
    "bpe": {"model_type": "bpe"},
    "bytes": {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity"},
    "exact": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "byte_fallback": True},
    "unigram": {},
    "plain": {"add_dummy_prefix": False},
    "suffix": {"treat_whitespace_as_suffix": True, "model_type": "bpe"},
    "char": {"model_type": "char"},
    "word": {"model_type": "word", "unk_surface": "?"},
    "symbols": {"user_defined_symbols": ("<a b>", "20"), "control_symbols": ("<c>",), "model_type": "bpe"},
    "spaces": {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False, "split_by_whitespace": False},
}
every = pytest.mark.parametrize("name", VARIANTS)


def train(documents, vocab_size, **options):
    return SPEC.train(documents, vocab_size, TrainOptions(**options), silent)


@cache
def variant(name):
    return train(BASE, 400, hard_vocab_limit=False, **VARIANTS[name])


def model(data, name):
    return SPEC.load(LoadOptions(path=data / "spm" / f"{name}.model"))


def without_visible_spaces(texts):
    """The texts that do not begin with U+2581: see :func:`test_where_bytes_and_text_differ`."""
    return [text for text in texts if not text.startswith("\u2581")]


def test_where_bytes_and_text_differ():
    """A model that removes extra spaces does so in decoded text too, where only U+2581 can have brought them."""
    tokenizer = variant("bytes")
    ids = tokenizer.encode("\u2581\u2581low")
    assert b"".join(map(tokenizer.token_bytes, ids)) == b"   low"
    assert tokenizer.decode(ids) == "low"


@every
def test_capabilities(name):
    tokenizer = variant(name)
    for protocol in (
        *(Tokenizer, EncodesBatch, HasTokenBytes, HasDummyPrefix, HasUnknown),
        *(EncodesWithOffsets, Saves),
    ):
        assert isinstance(tokenizer, protocol)
    assert tokenizer.unk_id == 0
    assert tokenizer.dummy_prefix == (b"" if name in {"plain", "suffix"} else b" ")
    assert tokenizer.notes == ()
    check_pickle(tokenizer)


@every
def test_every_setting_keeps_the_contract(name):
    tokenizer, texts = variant(name), TEXTS + hostile() + BASE
    check_batch(tokenizer, texts)
    check_batch(tokenizer, [])
    check_bytes(tokenizer, without_visible_spaces(texts))
    check_offsets(tokenizer, texts)


@every
@settings(deadline=None, max_examples=50)
@given(texts=st.lists(st.text(), max_size=4))
def test_any_text(name, texts):
    tokenizer = variant(name)
    check_batch(tokenizer, texts)
    if name == "suffix":  # the space after a text that normalizes to nothing is dropped like one before a text
        texts = [text for text in texts if tokenizer.decode(tokenizer.encode(text))]
    check_bytes(tokenizer, without_visible_spaces(texts))
    check_offsets(tokenizer, texts)


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_characters="\u2581", exclude_categories=["Cs"])))
def test_the_exact_setting_loses_nothing(text):
    tokenizer = variant("exact")
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert joined(tokenizer, tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    "name", ["mistral_v1", "mistral_v3", "t5_base", "sentencepiece_test_model", "sentencepiece_test_ja_model"]
)
def test_published_models(name, data):
    tokenizer = model(data, name)
    texts = TEXTS + hostile() + pud(data)[::10]
    check_batch(tokenizer, texts)
    check_bytes(tokenizer, without_visible_spaces(texts))
    check_offsets(tokenizer, texts[: 6 + 42 + 200])
    path = data / "spm" / f"{name}.model"
    assert tokenizer.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (tokenizer.vocab_size, tokenizer.unk_id) == {
        "mistral_v1": (32000, 0),
        "mistral_v3": (32768, 0),
        "t5_base": (32000, 2),
        "sentencepiece_test_model": (1000, 0),
        "sentencepiece_test_ja_model": (8000, 0),
    }[name]


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_published_example(byte_fallback, data):
    path = data.parent / "goldens" / "worked_examples.json"
    if not path.exists():
        pytest.skip("the worked examples are not beside the test data")
    examples = json.loads(path.read_text(encoding="utf-8"))
    case, text = examples["sentencepiece"], examples["texts"]["sentencepiece_toy"]
    options = {key: value for key, value in case["options"].items() if key in OPTIONS}
    assert set(case["options"]) - OPTIONS == {"input_format", "vocab_size"}
    tokenizer = train([text], 400, byte_fallback=byte_fallback, **options)
    expected = case[f"byte_fallback_{str(byte_fallback).lower()}"]
    ids = tokenizer.encode(case["text"])
    assert ids == expected["ids"]
    assert (tokenizer.decode(ids) == case["text"]) == expected["round_trip"]


def test_bytes_of_every_kind_of_piece():
    tokenizer = train(
        BASE, 300, model_type="bpe", byte_fallback=True, control_symbols=("<c>",), user_defined_symbols=("<d>",)
    )
    assert [tokenizer.token_bytes(i) for i in range(8)] == [
        " ⁇ ".encode(),
        b"",
        b"",
        b"",
        b"<d>",
        b"\x00",
        b"\x01",
        b"\x02",
    ]
    assert [tokenizer.token_bytes(i) for i in tokenizer.encode("slow é")] == [b" slow", b" ", b"\xc3", b"\xa9"]
    assert tokenizer.encode("<c>") != [3]
    assert 4 in tokenizer.encode("a<d>")
    with pytest.raises(IndexError):
        tokenizer.token_bytes(300)


def test_offsets_count_bytes_of_the_text_that_was_given():
    tokenizer = variant("bpe")
    ids, ends = tokenizer.encode_with_offsets("  slow Ωx")
    assert [tokenizer.token_bytes(i) for i in ids] == [b" slow", b" ", " ⁇ ".encode()]
    assert ends == [6, 7, 10]  # the two leading spaces are normalized away, Ωx is one unknown piece


# Options


def fields_of_the_library():
    """Name and default of every option, from the descriptor inside the library's generated module."""
    folder = Path(importlib.util.find_spec("sentencepiece").origin).parent
    tree = ast.parse((folder / "sentencepiece_model_pb2.py").read_bytes())
    (descriptor,) = [
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "AddSerializedFile"
    ]
    fields = {}
    for message in wire(descriptor)[4]:
        parts = wire(message)
        if parts[1][0] in {b"TrainerSpec", b"NormalizerSpec"}:
            for field in map(wire, parts[2]):
                fields[field[1][0].decode()] = field.get(7, [b""])[0].decode()
    return fields


def wire(data):
    """A protobuf message: lists of values by field number."""

    def varint(at):
        value, shift = 0, 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value, at

    fields, at = {}, 0
    while at < len(data):
        key, at = varint(at)
        value, at = varint(at)
        if key & 7 == 2:  # a length and so many bytes
            value, at = data[at : at + value], at + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def test_no_option_of_the_library_is_missing():
    named_otherwise = {"normalization_rule_name", "denormalization_rule_tsv"}
    assert set(fields_of_the_library()) - LEFT_OUT == OPTIONS - named_otherwise


@pytest.mark.parametrize("name", sorted(OPTIONS - {"denormalization_rule_tsv"}))
def test_defaults_are_those_of_the_library(name):
    written = fields_of_the_library().get(name, "nmt_nfkc")  # the one the trainer itself fills in
    default = TrainOptions.model_fields[name].default
    if isinstance(default, bool):
        assert str(default).lower() == (written or "false")
    elif default in ((), None):
        assert written == ""
    elif isinstance(default, str):
        assert default == (written.lower() if name == "model_type" else written)
    else:
        assert default == float(written or 0)


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_the_trainer_accepts_every_option(name, tmp_path):
    value = TrainOptions.model_fields[name].default
    if value is None:  # a file: of pieces and their scores, or of characters and what they become, in hexadecimal
        value = tmp_path / "rules.tsv"
        value.write_text("slow\t1\n" if name.startswith("seed") else "41\t61\n")
    elif isinstance(value, tuple):
        value = ["<x>", "a,b"]
    kind = "unigram" if name == "seed_sentencepieces_file" else "bpe"
    out = io.BytesIO()
    SentencePieceTrainer.Train(
        sentence_iterator=iter(BASE[0].split("\n")),
        model_writer=out,
        **{"vocab_size": 20, "minloglevel": 2, "model_type": kind, "hard_vocab_limit": kind == "bpe", name: value},
    )
    assert out.getvalue()


def test_unknown_names_are_refused():
    with pytest.raises(ValidationError, match="splitdigits"):
        TrainOptions(splitdigits=True)
    with pytest.raises(ValidationError, match="max_sentencepiece_length"):
        TrainOptions(max_sentencepiece_length=1000)


def test_options_reach_the_trainer():
    digits = train(BASE, 400, hard_vocab_limit=False, model_type="bpe", split_digits=True)
    assert [digits.token_bytes(i) for i in digits.encode("20")] == [b" ", b"2", b"0"]
    symbols = train(BASE, 60, hard_vocab_limit=False, user_defined_symbols=("a,b", 'q"z', "x y"))
    assert [symbols.token_bytes(i) for i in range(3, 6)] == [b"a,b", b'q"z', b"x y"]
    with_ids = train(BASE, 60, hard_vocab_limit=False, pad_id=0, unk_id=3)
    assert with_ids.unk_id == 3


# What the trainer leaves out, and what it refuses


def loaded_by_the_library(lines):
    """How many lines the trainer says it takes; it says so on the process's own error stream."""
    code = (
        "import io, json, sys; from sentencepiece import SentencePieceTrainer as trainer\n"
        "trainer.Train(sentence_iterator=iter(json.load(sys.stdin)), model_writer=io.BytesIO(), vocab_size=400,\n"
        "    hard_vocab_limit=False, minloglevel=0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(lines), capture_output=True, text=True, check=True
    )
    return int(done.stderr.partition("Loaded all ")[2].split()[0])


def test_lines_are_counted_as_the_trainer_counts_them():
    odd = ["x" * 4192, "x" * 4193, "é" * 2097, "y" * 4192 + "\r", "a\u2585b", "", " ", "nul\x00", "a\u2581b", "\ufeffz"]
    document = "\n".join([*BASE, *odd])
    tokenizer = train([document], 400, hard_vocab_limit=False)
    seen = len(document.split("\n")) - 1  # one is empty
    assert tokenizer.notes == (
        f"2 of {seen} lines longer than max_sentence_length=4192 bytes were left out by the trainer",
        f"1 of {seen} lines with the reserved character U+2585 were left out by the trainer",
    )
    assert loaded_by_the_library(document.split("\n")) == seen - 3


def test_nothing_to_train_on():
    reason = (
        r"sentencepiece has no line to train on: 2 of 2 lines longer than max_sentence_length=10 bytes were left out"
    )
    with pytest.raises(tokbench.BackendError, match=reason):
        train(["a much longer line\nand another one"], 50, max_sentence_length=10)
    with pytest.raises(tokbench.BackendError, match="no line to train on: the training text is empty"):
        train(["", "\n"], 50)


@pytest.mark.parametrize(
    ("vocab_size", "options", "reason"),
    [
        (
            5000,
            {},
            r"Vocabulary size too high \(5000\). Please set it to a value <= \d+; lower vocab_size, train on more",
        ),
        (
            5,
            {},
            r"Vocabulary size is smaller than required_chars. 5 vs \d+; raise vocab_size or lower character_coverage",
        ),
        (50, {"bos_id": 0}, r"insert_id\(.*bos_piece\(\)\) does not hold"),
        (50, {"normalization_rule_tsv": "no/where.tsv"}, "where.tsv.*: No such file or directory"),
    ],
)
def test_refusals_are_one_readable_line(vocab_size, options, reason):
    with pytest.raises(tokbench.BackendError, match=f"sentencepiece does not train: .*{reason}") as caught:
        train(BASE, vocab_size, **options)
    assert "\n" not in str(caught.value)
    assert ".cc(" not in str(caught.value)


def test_errors_of_the_documents_are_not_hidden():
    def documents():
        yield BASE[0]
        raise tokbench.InputError("line 2 is not UTF-8")

    with pytest.raises(tokbench.InputError, match="line 2 is not UTF-8"):
        train(documents(), 50)


def test_saving_and_loading(tmp_path):
    tokenizer = variant("bytes")
    path = tmp_path / f"x{tokenizer.file_suffix}"
    tokenizer.save(path)
    loaded = SPEC.load(LoadOptions(path=path))
    assert [loaded.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]
    assert loaded.sha256 == tokenizer.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [file.name for file in tmp_path.iterdir()] == ["x.model"]


@pytest.mark.parametrize("damage", [lambda model: b"", lambda model: b"garbage", lambda model: model[:-10]])
def test_damaged_models(damage, tmp_path):
    tokenizer, path = variant("bytes"), tmp_path / "x.model"
    tokenizer.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(tokbench.BackendError, match=r"x\.model: not a SentencePiece model, or a damaged one"):
        SPEC.load(LoadOptions(path=path))


def test_absent_model(tmp_path):
    with pytest.raises(tokbench.BackendError, match=r"x\.model: No such file or directory"):
        SPEC.load(LoadOptions(path=tmp_path / "x.model"))


def test_training_is_reproducible():
    first, second = (train(BASE, 60, hard_vocab_limit=False) for _ in range(2))
    assert first.sha256 == second.sha256
