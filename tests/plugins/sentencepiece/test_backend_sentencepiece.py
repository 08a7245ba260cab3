"""SentencePiece behind the contract, and its trainer: bytes, offsets, damage, every option and refusal."""

import json
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.metrics.roundtrip.causes import LossKind
from tokbench_plugins.sentencepiece.backend import SPEC, SentencePieceLoadOptions
from tokbench_plugins.sentencepiece.options import REPAIRS, SentencePieceTrainOptions

BASE = ["low lower lowest\nslow slower, the slowest of 20 low flowers"] * 5
EXACT = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "byte_fallback": True}

train = partial(tokbench.train, "sentencepiece")


@pytest.fixture(scope="module")
def with_bytes():
    options = {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity"}
    return train(BASE, 400, hard_vocab_limit=False, **options)


def load(path):
    return SPEC.load(SentencePieceLoadOptions(path=path))


def test_where_bytes_and_text_differ(with_bytes):
    """A model that removes extra spaces does so in decoded text too, where only U+2581 can have brought them."""
    ids = with_bytes.encode("\u2581\u2581low")
    assert b"".join(map(with_bytes.token_bytes, ids)) == b"   low"
    assert with_bytes.decode(ids) == "low"


@pytest.mark.parametrize(
    ("options", "prefix"),
    [({}, b" "), ({"add_dummy_prefix": False}, b""), ({"treat_whitespace_as_suffix": True, "model_type": "bpe"}, b"")],
)
def test_the_dummy_prefix(options, prefix):
    tokenizer = train(BASE, 60, hard_vocab_limit=False, **options)
    assert (tokenizer.dummy_prefix, tokenizer.unk_id) == (prefix, 0)
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode("low"))).strip() == b"low"


def test_the_exact_setting_loses_nothing():
    tokenizer = train(BASE, 400, hard_vocab_limit=False, **EXACT)

    @settings(deadline=None, max_examples=50)
    @given(text=st.text(st.characters(exclude_characters="\u2581", exclude_categories=["Cs"])))
    def check(text):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert b"".join(map(tokenizer.token_bytes, ids)).removeprefix(b" ").decode() == text

    check()


def test_bytes_of_every_kind_of_piece():
    tokenizer = train(
        BASE, 300, model_type="bpe", byte_fallback=True, control_symbols=("<c>",), user_defined_symbols=("<d>",)
    )
    first = [" ⁇ ".encode(), b"", b"", b"", b"<d>", b"\x00", b"\x01", b"\x02"]
    assert [tokenizer.token_bytes(i) for i in range(8)] == first
    assert [tokenizer.token_bytes(i) for i in tokenizer.encode("slow é")] == [b" slow", b" ", b"\xc3", b"\xa9"]
    assert tokenizer.encode("<c>") != [3]
    assert 4 in tokenizer.encode("a<d>")


def test_offsets_count_bytes_of_the_text_before_normalization():
    tokenizer = train(BASE, 400, hard_vocab_limit=False, model_type="bpe")
    ids, ends = tokenizer.encode_with_offsets("  slow Ωx")
    assert [tokenizer.token_bytes(i) for i in ids] == [b" slow", b" ", " ⁇ ".encode()]
    assert ends == [6, 7, 10]  # the two leading spaces are normalized away, Ωx is one unknown piece


def test_damaged_models(with_bytes, tmp_path):
    path = tmp_path / "x.model"
    with_bytes.save(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(tokbench.BackendError, match=r"x\.model: not a SentencePiece model"):
        load(path)


LEFT_OUT = {
    *("input", "input_format", "model_prefix", "vocab_size", "name", "precompiled_charsmap"),
    *("accept_language", "self_test_sample_size", "vocabulary_output_piece_score"),
    *("mining_sentence_size", "training_sentence_size"),
    *("escape_whitespaces", "auto_character_coverage", "enable_differential_privacy"),
    *("differential_privacy_noise_level", "differential_privacy_clipping_threshold"),
}
OPTIONS = set(SentencePieceTrainOptions.model_fields)


# Options


def fields_of_the_library():
    """Default of every option, by its name."""
    pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    fields = [*pb.TrainerSpec.DESCRIPTOR.fields, *pb.NormalizerSpec.DESCRIPTOR.fields]
    return {field.name: field.default_value for field in fields}


def test_no_option_of_the_library_is_missing():
    named_otherwise = {"normalization_rule_name", "denormalization_rule_tsv"}
    assert set(fields_of_the_library()) - LEFT_OUT == OPTIONS - named_otherwise


def test_defaults_are_those_of_the_library():
    fields = fields_of_the_library() | {"normalization_rule_name": "nmt_nfkc", "model_type": "unigram"}
    for name in OPTIONS - {"denormalization_rule_tsv", "hard_vocab_limit"}:
        default = SentencePieceTrainOptions.model_fields[name].default
        if default in ((), None):
            assert len(fields[name]) == 0, name
        else:
            assert default == pytest.approx(fields[name]), name


def test_options_reach_the_trainer():
    digits = train(BASE, 400, hard_vocab_limit=False, model_type="bpe", split_digits=True)
    assert [digits.token_bytes(i) for i in digits.encode("20")] == [b" ", b"2", b"0"]
    symbols = train(BASE, 60, hard_vocab_limit=False, user_defined_symbols=("a,b", 'q"z', "x y"))
    assert [symbols.token_bytes(i) for i in range(3, 6)] == [b"a,b", b'q"z', b"x y"]
    with_ids = train(BASE, 60, hard_vocab_limit=False, pad_id=0, unk_id=3)
    assert with_ids.unk_id == 3


def loaded_by_the_library(lines):
    """Return the number of lines that the trainer reports on the error stream of the process."""
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
    with pytest.raises(tokbench.BackendError, match="2 of 2 lines longer than max_sentence_length=10"):
        train(["a much longer line\nand another one"], 50, max_sentence_length=10)
    with pytest.raises(tokbench.BackendError, match="no line to train on: the training text is empty"):
        train(["", "\n"], 50)


@pytest.mark.parametrize(
    ("vocab_size", "options", "reason"),
    [
        (5000, {"hard_vocab_limit": True}, r"\(5000\).*; lower vocab_size"),
        (5, {}, r"5 vs \d+; raise vocab_size"),
        (50, {"normalization_rule_tsv": "no/where.tsv"}, "where.tsv.*: No such file or directory"),
    ],
)
def test_refusals_are_one_readable_line(vocab_size, options, reason):
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        train(BASE, vocab_size, **options)
    assert "\n" not in str(caught.value)
    assert ".cc(" not in str(caught.value)


LOSSY = ["the \u65e5 cat", "two  spaces here", "a\ttab", "x\u00b2 squared", "\ufb01ne cats", "the\u0001 cat"]


def _run_on_lossy_texts(folder, *options):
    """Train on plain text, measure the round trip of texts that lose, and return the results."""
    plain = "the cat sat on the mat and two cats sat here fine squared spaces tab one"
    (folder / "plain.txt").write_text("\n".join([plain, *plain.split()]) + "\n", encoding="utf-8")
    (folder / "lossy.txt").write_text("\n".join(LOSSY) + "\n", encoding="utf-8")
    size = 300 if "byte_fallback: true" in options else 40
    fixed = [f"corpus: plain, vocab_size: {size}", "hard_vocab_limit: false"]
    lines = [
        "schema: tokbench/1\nname: losses\ncorpora:",
        "  plain: {source: text, path: plain.txt, document: line, evaluate: false}",
        "  lossy: {source: text, path: lossy.txt, document: line}",
        f"tokenizers:\n  sp: {{backend: sentencepiece, {', '.join([fixed[1], *options])}, train: {{{fixed[0]}}}}}",
        "metrics: [roundtrip]\nreport: {formats: [md]}",
    ]
    (folder / "run.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tokbench.run(folder / "run.yaml", folder / "out", workers=0)


def test_losses_name_the_options_that_prevent_them(tmp_path):
    results = _run_on_lossy_texts(tmp_path)
    [loss] = results.losses
    repairs = results.tokenizers["sp"].repairs
    found = {each.cause for each in loss.causes}
    assert {"unknown", "whitespace", "nfkc", "control"} <= found
    assert {cause: repairs[cause] for cause in sorted(found)} == {
        "control": "normalization_rule_name: identity",
        "nfkc": "normalization_rule_name: identity",
        "unknown": "byte_fallback: true",
        "whitespace": "remove_extra_whitespaces: false, normalization_rule_name: identity",
    }
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8").replace("\\_", "_")
    assert all(f"train with {repairs[cause]}" in text for cause in found)
    assert all(name in SentencePieceTrainOptions.model_fields for repair in REPAIRS.values() for name in repair)
    assert set(REPAIRS) <= {cause.value for cause in LossKind}


def test_the_options_that_losses_name_prevent_them(tmp_path):
    options = {name: value for repair in REPAIRS.values() for name, value in repair.items()}
    results = _run_on_lossy_texts(tmp_path, *(f"{name}: {str(value).lower()}" for name, value in options.items()))
    assert results.losses == []
    assert results.tokenizers["sp"].repairs == {}
