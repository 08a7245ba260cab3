"""tokenizer.json files of published tokenizers behind the contract."""

import itertools
import json
import unicodedata
from functools import cache

import numpy as np
import pytest
from difficult_texts import pud

import tokbench
from tokbench.tokenizers.contract import HasTokenBytes
from tokbench_plugins.huggingface.backend import SPEC, HuggingFaceLoadOptions

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


from tokbench_plugins.huggingface.tokenizer import make_tokenizer  # noqa: E402 - needs the library


@cache
def load(data, name):
    folder = data / "hf"
    if name.startswith("bert"):
        return SPEC.load(HuggingFaceLoadOptions(vocab_txt=folder / f"{name}.vocab.txt"))
    return SPEC.load(HuggingFaceLoadOptions(path=folder / f"{name}.tokenizer.json"))


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("gpt-neox-20b", (50277, None, b"", False, 2)),
        ("roberta-base", (50265, None, b"", True, 5)),
        ("t5-small", (32100, 2, b" ", False, 102)),
        ("bert-base-uncased", (30522, 100, b" ", False, 4)),
    ],
)
def test_facts_of_published_files(name, facts, data):
    tokenizer = load(data, name)
    found = (tokenizer.vocab_size, tokenizer.unk_id, tokenizer.dummy_prefix, tokenizer.lossless)
    assert (*found, len(tokenizer.special_ids)) == facts


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_roberta_is_gpt2_under_other_ids(data):
    gpt2 = tokbench.load("tiktoken", encoding="gpt2")
    roberta, texts = load(data, "roberta-base"), pud(data)[::10]
    of_bytes = {gpt2.token_bytes(i): i for i in range(50256)}
    special = set(roberta.special_ids.values())
    ordinary = [i for i in range(roberta.vocab_size) if i not in special and roberta.token_bytes(i) in of_bytes]
    mapped = np.full(roberta.vocab_size, -1)
    mapped[ordinary] = [of_bytes[roberta.token_bytes(i)] for i in ordinary]
    encoded = roberta.encode_batch(texts)
    assert np.array_equal(mapped[encoded.ids], gpt2.encode_batch(texts).ids)
    assert roberta.decode_batch(encoded) == texts


def sentencepiece_t5(data):
    return tokbench.load("sentencepiece", path=data / "spm" / "t5_base.model")


@pytest.mark.slow
def test_t5_is_the_sentencepiece_model(data):
    texts = pud(data)[::10]
    ours, theirs = load(data, "t5-small").encode_batch(texts), sentencepiece_t5(data).encode_batch(texts)
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.offsets, theirs.offsets)


@pytest.mark.slow
def test_neox_composes_and_has_runs_of_spaces(data):
    neox, texts = load(data, "gpt-neox-20b"), pud(data)[::10]
    assert neox.decode_batch(neox.encode_batch(texts)) == [unicodedata.normalize("NFC", text) for text in texts]
    ids = neox.encode("def f():\n    return  e\u0301")
    assert [neox.token_bytes(i) for i in ids] == [
        *(b"def", b" f", b"():", b"\n", b"    ", b"return", b"  ", "é".encode())
    ]
    # The library aligns what is composed with the letter alone; the mark's bytes go to the next token.
    assert neox.encode_with_offsets("    e\u0301x") == ([50274, 860, 89], [4, 5, 8])


@pytest.mark.slow
def test_bert_decodes_as_the_library_does(data, tmp_path):
    """On ten languages, with the library's own pipeline for such a file: one by one, in a batch, and from its file."""
    library = tokenizers.BertWordPieceTokenizer(str(data / "hf" / "bert-base-uncased.vocab.txt"), lowercase=True)
    library.save(str(tmp_path / "bert.json"))
    texts = pud(data)[::25]
    for bert in (load(data, "bert-base-uncased"), SPEC.load(HuggingFaceLoadOptions(path=tmp_path / "bert.json"))):
        encoded = bert.encode_batch(texts)
        documents = [encoded.ids[a:b].tolist() for a, b in itertools.pairwise(encoded.offsets)]
        assert documents == [each.ids for each in library.encode_batch(texts, add_special_tokens=False)]
        expected = library.decode_batch(documents, skip_special_tokens=False)
        assert bert.decode_batch(encoded) == expected
        assert [bert.decode(ids) for ids in documents[::10]] == expected[::10]
        parts = [b"".join(map(bert.token_bytes, ids)).removeprefix(bert.dummy_prefix) for ids in documents]
        assert [part.decode() for part in parts] == expected


def test_no_bytes_are_claimed_where_tidying_up_depends_on_the_place():
    """A first "' " stays, and a later one loses its spaces."""
    model = {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9}
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    for token, claimed in (("' ", False), ("a b", True), ("don't", True)):
        content = {"added_tokens": [], "decoder": decoder, "model": {**model, "vocab": {"?": 0, token: 1}}}
        tokenizer = make_tokenizer(json.dumps(content))
        assert isinstance(tokenizer, HasTokenBytes) == claimed
        assert tokenizer.decode([0, 1]) == tokenizers.Tokenizer.from_str(json.dumps(content)).decode([0, 1])
