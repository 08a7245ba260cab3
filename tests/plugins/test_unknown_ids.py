"""No backend decodes an id that is not in its vocabulary: neither the first one beyond it nor a negative one."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

import tokbench
from tokbench.tokenizers.contract import DecodesBatch, HasTokenBytes

LINES = ["low lower lowest", "slow slower, the slowest of 20 low flowers"] * 20
BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}


def train(backend, vocab_size=300, **options):
    return lambda _folder: tokbench.train(backend, LINES, vocab_size=vocab_size, **options)


def load(backend, module=None, **options):
    load_it = lambda _folder: tokbench.load(backend, **options)  # noqa: E731 - one of a table
    return pytest.param(
        load_it, id=backend, marks=pytest.mark.skipif(not find_spec(module or backend), reason="absent")
    )


def pretokenized(folder):
    (folder / "rows.jsonl").write_text(json.dumps({"text": "hi", "ids": [104, 105]}), encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps(BYTES), encoding="utf-8")
    return tokbench.load(
        "pretokenized", path=folder / "rows.jsonl", vocab=folder / "vocab.json", spelling="sentencepiece"
    )


MADE = [
    *(pytest.param(train("naive_bpe", engine=engine), id=f"naive_bpe-{engine}") for engine in ("auto", "literal")),
    pytest.param(train("regex_bpe"), id="regex_bpe"),
    pytest.param(train("tiktoken"), id="tiktoken"),
    pytest.param(train("sentencepiece", 60, hard_vocab_limit=False), id="sentencepiece"),
    pytest.param(
        train("huggingface"), id="huggingface", marks=pytest.mark.skipif(not find_spec("tokenizers"), reason="absent")
    ),
    pytest.param(pretokenized, id="pretokenized"),
    *(load(name, "tokbench") for name in ("utf8_bytes", "utf16_units")),
    load("tokbench_bpe", "splintr", encoding="cl100k_base"),
    load("splintr", vocabulary="llama3"),
    load("fastokens", encoding="cl100k_base"),
    load("gigatoken", encoding="cl100k_base"),
    load("kitoken", encoding="cl100k_base"),
    load("bpe_openai", encoding="cl100k_base"),
    load("rs_bpe", encoding="cl100k_base"),
]


@pytest.mark.parametrize("make", MADE)
def test_an_id_beyond_the_vocabulary_is_refused(make, tmp_path):
    tokenizer = make(tmp_path)
    size = tokenizer.vocab_size
    for wrong in (size, size + 1, -1, -size):
        with pytest.raises(ValueError, match=rf"{wrong}|range\({size}\)"):
            tokenizer.decode([0, wrong])
        if isinstance(tokenizer, HasTokenBytes):
            with pytest.raises(ValueError, match=str(wrong)):
                tokenizer.token_bytes(wrong)
    if isinstance(tokenizer, DecodesBatch):
        beyond = tokbench.plugin.Encoded(np.array([0, size], np.uint32), np.array([0, 2], np.int64))
        with pytest.raises(ValueError, match=str(size)):
            tokenizer.decode_batch(beyond)
    tokenizer.decode([size - 1])
