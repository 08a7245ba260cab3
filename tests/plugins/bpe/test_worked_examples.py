"""Published worked examples must come out, to the last id."""

import json

import pytest

from tokbench.registry.plugins import load_registry


@pytest.fixture(scope="module")
def examples(data):
    path = data.parent / "goldens" / "worked_examples.json"
    if not path.exists():
        pytest.skip("the worked examples are not beside the test data")
    return json.loads(path.read_text(encoding="utf-8"))


def train(backend, text, vocab_size, **options):
    spec = load_registry().backends.get(backend)
    return spec.train([text], vocab_size, spec.train_options(**options), lambda done, total: None)


def listed(tokenizer):
    return [[list(pair), 256 + rank] for rank, pair in enumerate(tokenizer.merges)]


def test_wikipedia(examples):
    case = examples["naive_bpe"]["wikipedia"]
    assert train("naive_bpe", case["text"], case["vocab_size"]).encode(case["text"]) == case["encoded"]


@pytest.mark.parametrize("name", ["unicode_article_oneline", "unicode_article_short", "computers_en_ja"])
def test_naive_bpe(examples, name):
    case, text = examples["naive_bpe"][name], examples["texts"][name]
    tokenizer = train("naive_bpe", text, case["vocab_size"])
    assert listed(tokenizer) == case["merges"]
    assert len(text.encode()) == case["n_bytes"]
    assert len(tokenizer.encode(text)) == case["n_tokens"]
    assert case["n_bytes"] / case["n_tokens"] == case["compression_ratio"]
    for example, ids in case.get("encode", {}).items():
        assert tokenizer.encode(example) == ids


def spelled(piece):
    """The bytes that a published piece stands for."""
    if piece.startswith("<0x"):
        return bytes([int(piece[3:5], 16)])
    return " ⁇ ".encode() if piece == "<unk>" else piece.replace("▁", " ").encode()


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_sentencepiece(examples, byte_fallback):
    case = examples["sentencepiece"]
    options = {name: value for name, value in case["options"].items() if name not in {"vocab_size", "input_format"}}
    tokenizer = train(
        "sentencepiece", examples["texts"]["sentencepiece_toy"], case["options"]["vocab_size"],
        byte_fallback=byte_fallback, **options,
    )  # fmt: skip
    expected = case["byte_fallback_true" if byte_fallback else "byte_fallback_false"]
    ids = tokenizer.encode(case["text"])
    assert list(ids) == expected["ids"]
    assert [tokenizer.token_bytes(i) for i in ids] == [spelled(piece) for piece in expected["pieces"]]
    assert (tokenizer.decode(ids) == case["text"]) == expected["round_trip"]
    assert (tokenizer.unk_id in list(ids)) != byte_fallback
