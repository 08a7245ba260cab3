"""splintr's vocabularies: the ids of the models' own libraries, and what splintr alone would give otherwise."""

from typing import get_args

import pytest
import tiktoken
from difficult_texts import TEXTS, hostile, pud
from sentencepiece import SentencePieceProcessor

import tokbench
from tokbench_plugins.splintr import backend

splintr = pytest.importorskip("splintr", reason="splintr-rs is not installed")

NAMES = get_args(backend.Vocabulary)


def load(name):
    return backend.SPEC.load(backend.SplintrLoadOptions(vocabulary=name))


def test_every_vocabulary_of_the_library_is_listed():
    with pytest.raises(ValueError, match="Supported: ") as caught:
        splintr.Tokenizer.from_pretrained("no such vocabulary")
    spellings = str(caught.value).rpartition("Supported: ")[2].split(", ")

    assert {splintr.base_vocab_size(name) for name in spellings} == {splintr.base_vocab_size(name) for name in NAMES}
    assert set(NAMES) <= set(spellings)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[::4])
def test_special_tokens_are_neither_added_nor_recognised(name):
    tokenizer, special = load(name), splintr.Tokenizer.from_pretrained(name).special_tokens()
    assert tokenizer.vocab_size == splintr.base_vocab_size(name)
    assert tokenizer.dummy_prefix == (b" " if name in {"codellama", "llama2", "mistral_v1", "mistral_v2"} else b"")
    spelled = [f"{token} a{token}b" for token in sorted(special)[:100]]
    markers = {token_id for token_id in special.values() if token_id >= tokenizer.vocab_size}
    ids = tokenizer.encode_batch(spelled).ids.tolist()
    assert not (markers | set(tokenizer.special_ids.values())).intersection(ids)
    assert ids == [token_id for text in spelled for token_id in tokenizer.encode(text)]


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
    assert tokenizer.decode([68, 53839]) == "e\u0301"
    assert tokenizer.lossless is False


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("gemma3", "<table><td>", [168, 175]),
        ("gemma3", "<mask><unused6241>", [4, 262_143]),
        ("gemma3", " </blockquote>", [236_743, 197]),
        ("gemma3", " \u2581\u2581\u2581\u2581", [236_743, 140]),
        ("gemma3", "<start_of_turn>", [236_820, 3041, 236_779, 1340, 236_779, 887, 236_813]),
        ("gemma2", f"a{' ' * 40}b", [235_250, 153, 161, 235_268]),
        ("qwen3", "  <|file_sep|> \n", [256, 151_664, 715]),
        ("deepseek_v3", "<｜fim▁hole｜>", [128_800]),
    ],
)
def test_defined_pieces_are_ordinary_text(name, text, ids):
    """The ids are of each model's tokenizer.json in Hugging Face's library."""
    tokenizer = load(name)
    assert tokenizer.encode(text) == ids
    assert tokenizer.encode_batch([text, text]).ids.tolist() == ids * 2


def test_control_tokens_are_special_in_gemma():
    turns = {"<start_of_turn>": 106, "<end_of_turn>": 107}
    assert load("gemma2").special_ids == {"<pad>": 0, "<eos>": 1, "<bos>": 2, "<unk>": 3} | turns
    gemma3 = load("gemma3")
    assert {"<start_of_image>": 255_999, "<end_of_image>": 256_000}.items() <= gemma3.special_ids.items()
    assert gemma3.encode_with_special("<start_of_turn><b>") == [105, 200]
    assert "<think>" not in load("qwen3").special_ids


def test_damaged_utf8_of_byte_pieces():
    tokenizer = load("llama2")
    ids = tokenizer.encode("a\U0001f9ff")
    assert tokenizer.decode(ids[:-1]) == "a\ufffd"


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "gpt-oss"])
@pytest.mark.usefixtures("tiktoken_files")
def test_ids_are_those_of_tiktoken(name, data):
    texts = [*pud(data)[::10], *TEXTS, *hostile(), "x'ſ'Rex", "'ſ"]
    encoding = tiktoken.get_encoding({"gpt-oss": "o200k_harmony"}.get(name, name))
    expected = [i for text in texts for i in encoding.encode_ordinary(text)]
    assert load(name).encode_batch(texts).ids.tolist() == expected
    assert load(name).encode(texts[-2]) == encoding.encode_ordinary(texts[-2])


def test_ids_of_kimi_are_those_of_its_ranks(data):
    texts = ["x'ſ'Rex", "汉字abc DEF汉", "IT'S Ⅷ", "'ſ"]
    ranks = tokbench.load("tiktoken", path=str(data / "hf" / "kimi-k2.tiktoken"))
    assert ranks.notes == ()
    assert [load("kimi_k2").encode(text) for text in texts] == [ranks.encode(text) for text in texts]


def test_ids_are_those_of_sentencepiece(data):
    texts = [*pud(data)[::10], *hostile()]
    model = SentencePieceProcessor(model_file=str(data / "spm" / "mistral_v1.model"))
    tokenizer = load("mistral_v1")
    assert [tokenizer.encode(text) for text in texts] == model.encode(texts)
