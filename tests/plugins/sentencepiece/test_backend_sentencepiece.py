"""SentencePiece behind the contract: every kind of model, every option of its trainer, every refusal."""

from functools import cache

import pytest
from backend_checks import BASE_LINES as BASE
from backend_checks import (
    TEXTS,
    check_batch,
    check_bytes,
    check_offsets,
    check_pickle,
    hostile,
    joined,
    pud,
    specs_of,
)
from backend_checks import train_sentencepiece as train
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.tokenizers.contract import (
    EncodesBatch,
    EncodesWithOffsets,
    HasDummyPrefix,
    HasTokenBytes,
    HasUnknown,
    Saves,
    Tokenizer,
)
from tokbench_plugins.sentencepiece import backend as sentencepiece_backend
from tokbench_plugins.sentencepiece.backend import SentencePieceLoadOptions

SPEC = specs_of(sentencepiece_backend)["sentencepiece"]

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


@cache
def variant(name):
    return train(BASE, 400, hard_vocab_limit=False, **VARIANTS[name])


def model(data, name):
    return SPEC.load(SentencePieceLoadOptions(path=data / "spm" / f"{name}.model"))


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
    assert (tokenizer.vocab_size, tokenizer.unk_id) == {
        "mistral_v1": (32000, 0),
        "mistral_v3": (32768, 0),
        "t5_base": (32000, 2),
        "sentencepiece_test_model": (1000, 0),
        "sentencepiece_test_ja_model": (8000, 0),
    }[name]


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
    with pytest.raises(ValueError, match="id 300 is not in the vocabulary of 300 ids"):
        tokenizer.token_bytes(300)


def test_offsets_count_bytes_of_the_text_that_was_given():
    tokenizer = variant("bpe")
    ids, ends = tokenizer.encode_with_offsets("  slow Ωx")
    assert [tokenizer.token_bytes(i) for i in ids] == [b" slow", b" ", " ⁇ ".encode()]
    assert ends == [6, 7, 10]  # the two leading spaces are normalized away, Ωx is one unknown piece


def test_saving_and_loading(tmp_path):
    tokenizer = variant("bytes")
    path = tmp_path / f"x{tokenizer.file_suffix}"
    tokenizer.save(path)
    loaded = SPEC.load(SentencePieceLoadOptions(path=path))
    assert [loaded.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]
    assert [file.name for file in tmp_path.iterdir()] == ["x.model"]


@pytest.mark.parametrize("damage", [lambda model: b"", lambda model: b"garbage", lambda model: model[:-10]])
def test_damaged_models(damage, tmp_path):
    tokenizer, path = variant("bytes"), tmp_path / "x.model"
    tokenizer.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(tokbench.BackendError, match=r"x\.model: not a SentencePiece model, or a damaged one"):
        SPEC.load(SentencePieceLoadOptions(path=path))


def test_absent_model(tmp_path):
    with pytest.raises(tokbench.BackendError, match=r"x\.model: No such file or directory"):
        SPEC.load(SentencePieceLoadOptions(path=tmp_path / "x.model"))
