"""splintr's vocabularies: no special token in or out, and the ids of two other engines where they share one."""

from functools import cache
from typing import get_args

import pytest
from backend_checks import TEXTS, check_batch, check_bytes, check_pickle, hostile, joined, pud, specs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import tokbench
from tokbench.tokenizers.contract import EncodesBatch, HasDummyPrefix, HasTokenBytes, HasUnknown, Saves, Tokenizer
from tokbench_plugins.sentencepiece import backend as sentencepiece_backend
from tokbench_plugins.splintr import backend as splintr_backend
from tokbench_plugins.tiktoken import backend as tiktoken_backend

splintr = pytest.importorskip("splintr", reason="splintr-rs is not installed")

SPEC = specs_of(splintr_backend)["splintr"]
NAMES = get_args(splintr_backend.Vocabulary)
every = pytest.mark.parametrize("name", NAMES)

# SentencePiece's own spelling of a space, in a text that means the character itself.
LITERAL_SPACE = "\u2581"
SENTENCEPIECE = {"codellama", "gemma2", "gemma3", "gemma4", "llama2", "mistral_v1", "mistral_v2"}


@cache
def load(name):
    return SPEC.load(splintr_backend.SplintrLoadOptions(vocabulary=name))


def special_tokens(name):
    return splintr.Tokenizer.from_pretrained(name).special_tokens()


def spelled(name):
    """Texts that spell every special token, alone and between words."""
    tokens = sorted(special_tokens(name))[:400]
    return [text for token in tokens for text in (token, f"a{token}b", f"  {token} x{token}\n", f"{token}{token}")]


@pytest.mark.slow
def test_every_vocabulary_of_the_library_is_listed():
    with pytest.raises(ValueError, match="Supported: ") as caught:
        splintr.Tokenizer.from_pretrained("no such vocabulary")
    spellings = str(caught.value).rpartition("Supported: ")[2].split(", ")

    def identity(name):
        return (
            splintr.base_vocab_size(name),
            tuple(splintr.Tokenizer.from_pretrained(name).encode_ordinary("tokenizer")),
        )

    assert {identity(name) for name in spellings} <= {identity(name) for name in NAMES}
    assert set(NAMES) <= set(spellings)


@pytest.mark.slow
@every
def test_capabilities(name):
    tokenizer = load(name)
    for protocol in (Tokenizer, EncodesBatch, HasTokenBytes, HasDummyPrefix, HasUnknown):
        assert isinstance(tokenizer, protocol)
    assert not isinstance(tokenizer, Saves)
    assert tokenizer.vocab_size == splintr.base_vocab_size(name)
    assert tokenizer.dummy_prefix == (b" " if name in {"codellama", "llama2", "mistral_v1", "mistral_v2"} else b"")
    assert tokenizer.unk_id is None or tokenizer.token_bytes(tokenizer.unk_id) == b""
    check_pickle(tokenizer)


@pytest.mark.slow
@every
def test_special_tokens_are_neither_added_nor_recognised(name):
    tokenizer, texts = load(name), TEXTS + hostile() + spelled(name)
    check_batch(tokenizer, texts)
    check_batch(tokenizer, [])
    markers = {token_id for token_id in special_tokens(name).values() if token_id >= tokenizer.vocab_size}
    special = markers | set(tokenizer.special_ids.values())
    for text in texts:
        assert not special.intersection(tokenizer.encode(text))


@pytest.mark.slow
@every
def test_batches_bytes_and_round_trip_of_sentences(name, data):
    tokenizer, texts = load(name), pud(data)
    texts = texts if name in {"modernbert", "gemma4", "llama2"} else texts[::10]
    check_batch(tokenizer, texts)
    assert check_bytes(tokenizer, texts) == texts


@pytest.mark.slow
@every
def test_hostile_texts_come_back(name):
    tokenizer, texts = load(name), TEXTS + hostile() + spelled(name)
    decoded = check_bytes(tokenizer, texts)
    if name not in {"modernbert", "qwen3"}:  # they normalize to NFC
        assert decoded == [text.replace(LITERAL_SPACE, " ") if name in SENTENCEPIECE else text for text in texts]


@every
@settings(deadline=None, max_examples=30)
@given(texts=st.lists(st.text(), max_size=4), data=st.data())
def test_any_text_and_any_ids(name, texts, data):
    tokenizer = load(name)
    check_batch(tokenizer, texts)
    check_bytes(tokenizer, texts)
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=6))
    assert joined(tokenizer, ids) == tokenizer.decode(ids)


@every
def test_ids_that_stand_for_nothing(name):
    tokenizer = load(name)
    for token_id in special_tokens(name).values():
        if token_id < tokenizer.vocab_size:
            assert tokenizer.decode([token_id]).strip() == tokenizer.token_bytes(token_id).decode().strip()
    for beyond in (-1, tokenizer.vocab_size):
        with pytest.raises(ValueError, match="is not in the vocabulary of"):
            tokenizer.token_bytes(beyond)


def test_runs_of_spaces_are_ordinary_text_in_modernbert():
    tokenizer = load("modernbert")
    ids = tokenizer.encode("def f():\n    return  1")
    assert [tokenizer.token_bytes(i) for i in ids] == [b"def", b" f", b"():", b"\n", b"    ", b"return", b"  ", b"1"]
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode("[CLS]   x"))) == b"[CLS]   x"


def test_qwen_3_normalizes_to_nfc():
    tokenizer = load("qwen3")
    assert tokenizer.encode("e\u0301") == tokenizer.encode("é") == [963]
    assert tokenizer.encode("\u1112\u1161\u11ab") == tokenizer.encode("한")
    ids, offsets = tokenizer.encode_batch(["a", "e\u0301", "<|im_end|>e\u0301", "é"])
    assert (ids[:2].tolist(), offsets[:3].tolist(), ids[-1]) == ([64, 963], [0, 1, 2], 963)
    check_batch(tokenizer, ["e\u0301<think>\u0338", "<|im_end|>e\u0301", "a", "\ud800"])
    assert tokenizer.decode([68, 53839]) == "e\u0301"
    assert tokenizer.lossless is False


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("gemma3", "<table><td>", [168, 175]),
        ("gemma3", "<mask><unused6241>", [4, 262_143]),
        ("gemma3", " </blockquote>", [236_743, 197]),
        ("gemma3", " \u2581\u2581\u2581\u2581", [236_743, 140]),
        ("gemma3", "<eos>", [236_820, 211_827, 236_813]),
        ("gemma3", "<start_of_turn>", [236_820, 3041, 236_779, 1340, 236_779, 887, 236_813]),
        ("gemma2", "<code><code>", [207, 207]),
        ("gemma2", f"a{' ' * 40}b", [235_250, 153, 161, 235_268]),
        ("qwen3", "  <|file_sep|> \n", [256, 151_664, 715]),
        ("deepseek_v3", "<｜fim▁hole｜>", [128_800]),
    ],
)
def test_defined_pieces_are_ordinary_text(name, text, ids):
    """The ids are of each model's tokenizer.json in Hugging Face's library."""
    assert load(name).encode(text) == ids
    check_batch(load(name), [text, f"x{text}y", text])


def test_control_tokens_are_special_in_gemma():
    turns = {"<start_of_turn>": 106, "<end_of_turn>": 107}
    assert load("gemma2").special_ids == {"<pad>": 0, "<eos>": 1, "<bos>": 2, "<unk>": 3} | turns
    images = {"<start_of_image>": 255_999, "<end_of_image>": 256_000}
    assert images.items() <= load("gemma3").special_ids.items()
    assert load("gemma3").encode_with_special("<start_of_turn><b>") == [105, 200]
    assert "<think>" not in load("qwen3").special_ids


def test_damaged_utf8_of_byte_pieces():
    tokenizer = load("llama2")
    ids = tokenizer.encode("a\U0001f9ff")
    assert tokenizer.decode(ids[:-1]) == "a\ufffd"


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.usefixtures("tiktoken_files")
def test_ids_are_those_of_tiktoken(name, data):
    reference = specs_of(tiktoken_backend)["tiktoken"].load(tiktoken_backend.TiktokenLoadOptions(encoding=name))
    same_ids(load(name), reference, pud(data) + TEXTS + hostile() + spelled(name))


def test_ids_are_those_of_sentencepiece(data):
    path = data / "spm" / "mistral_v1.model"
    reference = specs_of(sentencepiece_backend)["sentencepiece"].load(
        sentencepiece_backend.SentencePieceLoadOptions(path=path)
    )
    same_ids(load("mistral_v1"), reference, pud(data) + hostile())


def same_ids(tokenizer, reference, texts):
    found, expected = tokenizer.encode_batch(texts), reference.encode_batch(texts)
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert found.ids.tolist() == expected.ids.tolist()


def test_unknown_vocabulary():
    with pytest.raises(ValidationError, match="Input should be 'cl100k_base'"):
        splintr_backend.SplintrLoadOptions(vocabulary="cl100k")
    with pytest.raises(tokbench.BackendError, match=r"the installed splintr-rs has no vocabulary 'gpt-9'"):
        SPEC.load(splintr_backend.SplintrLoadOptions.model_construct(vocabulary="gpt-9"))
