"""The sentences of the contract, as the tests of every backend check them."""

import json
import pickle
from importlib import resources

import numpy as np

from tokbench_plugins.sentencepiece import backend as sentencepiece_backend

TEXTS = [
    "Hello, world! Hello?",
    "",
    "  été 2024\t\n",
    "日本語 🙂🏽\r\n",
    "a" * 200,
    "end </s> <|endoftext|> ▁ \x00 e\u0301",
]


def hostile():
    """The difficult texts that ship with tokbench."""
    lines = resources.files("tokbench.sources.sample").joinpath("hostile.jsonl").read_text(encoding="utf-8")
    return [json.loads(line)["text"] for line in lines.splitlines()]


def pud(data):
    """Every sentence of the parallel treebanks."""
    files = sorted((data / "pud").glob("*.txt"))
    return [line for file in files for line in file.read_text(encoding="utf-8").split("\n") if line]


def silent(done, total):
    pass


def specs_of(module):
    specs = []
    module.register_backends(specs.append)
    return {spec.name: spec for spec in specs}


def check_batch(tokenizer, texts):
    """Ids are in range, and a batch gives those of its documents one by one."""
    ids, offsets = tokenizer.encode_batch(texts)
    assert (ids.dtype, offsets.dtype) == (np.uint32, np.int64)
    assert offsets.shape == (len(texts) + 1,)
    assert offsets[0] == 0
    assert offsets[-1] == len(ids)
    assert not len(ids) or ids.max() < tokenizer.vocab_size
    for text, start, end in zip(texts, offsets[:-1], offsets[1:], strict=True):
        assert ids[start:end].tolist() == list(tokenizer.encode(text)), text


def joined(tokenizer, ids):
    """The bytes of ids, without the dummy prefix, as text."""
    data = b"".join(map(tokenizer.token_bytes, ids))
    return data.removeprefix(getattr(tokenizer, "dummy_prefix", b"")).decode("utf-8", errors="replace")


def check_bytes(tokenizer, texts):
    """The bytes of the ids are those of the decoded text; return what each text has been decoded to."""
    decoded = []
    for text in texts:
        ids = tokenizer.encode(text)
        decoded.append(tokenizer.decode(ids))
        assert joined(tokenizer, ids) == decoded[-1], text
    return decoded


def check_offsets(tokenizer, texts):
    """One end for each id, never falling, never beyond the text."""
    for text in texts:
        ids, ends = tokenizer.encode_with_offsets(text)
        assert list(ids) == list(tokenizer.encode(text))
        assert len(ends) == len(ids)
        assert list(ends) == sorted(ends)
        assert all(0 <= end <= len(text.encode()) for end in ends)


def check_pickle(tokenizer):
    """It can be handed to another process."""
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert all(copy.encode(text) == tokenizer.encode(text) for text in TEXTS)


BASE_LINES = ["low lower lowest\nslow slower, the slowest of 20 low flowers"] * 5


def train_sentencepiece(documents, vocab_size, **options):
    """A SentencePiece model, trained through the backend."""
    spec = specs_of(sentencepiece_backend)["sentencepiece"]
    return spec.train(documents, vocab_size, spec.train_options(**options), silent)
