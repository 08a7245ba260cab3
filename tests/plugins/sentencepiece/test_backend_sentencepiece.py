"""SentencePiece behind the contract: bytes of every kind of piece, offsets, and damaged models."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.sentencepiece.backend import SPEC, SentencePieceLoadOptions

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
