"""Prompts, streams and drawn ids: values by hand, and brute force with the libraries' own ids and offsets."""

import numpy as np
import pytest
import tiktoken
from sentencepiece import SentencePieceProcessor

import tokbench
from tokbench.corpus.shards import Shard
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.plugin import Document, Options, encode_batch
from tokbench.plugin.metrics import EncodedShard, Sums
from tokbench_plugins.bpe import BPETokenizer
from tokbench_research.metrics.prompts import SPEC, random_cuts


def shard_of(texts):
    return Shard("c", "g", 0, [Document(text, "g", str(k), str(k)) for k, text in enumerate(texts)], by_key=False)


def sums(tokenizer, texts):
    encoded = EncodedShard(LoadedTokenizer("t", tokenizer), shard_of(texts), encode_batch(tokenizer, texts))
    return SPEC.text(Options()).map(encoded)


def values(tokenizer, texts):
    return SPEC.text(Options()).finish(sums(tokenizer, texts))


@pytest.fixture(scope="module")
def texts(data):
    """100 sentences in each of ten languages."""
    files = sorted((data / "pud").glob("*.txt"))[:10]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n")[:100]]
    assert len(lines) == 1000
    return lines


def of_tiktoken(encoding, text):
    ids = encoding.encode_ordinary(text)
    return ids, np.cumsum([len(encoding.decode_single_token_bytes(i)) for i in ids])


def of_sentencepiece(processor, text):
    found = processor.encode_as_offset_mapping(text)
    return found["ids"], [len(text[:end].encode()) for _, end in found["offsets"]]


def libraries(data):
    model = data / "spm" / "mistral_v1.model"
    return {
        "bpe": (of_tiktoken, tiktoken.get_encoding("gpt2"), {"backend": "tiktoken", "encoding": "gpt2"}),
        "sentencepiece": (
            of_sentencepiece,
            SentencePieceProcessor(model_file=str(model)),
            {"backend": "sentencepiece", "path": model},
        ),
    }


@pytest.mark.parametrize("name", ["bpe", "sentencepiece"])
def test_brute_force_with_the_library_s_own_ids_and_offsets(name, texts, data):
    ids_and_ends, library, options = libraries(data)[name]
    broken, back, lost = (np.zeros(len(texts), dtype=np.int64) for _ in range(3))
    for k, characters in random_cuts(texts):
        prompt, _ = ids_and_ends(library, texts[k][:characters])
        whole, ends = ids_and_ends(library, texts[k])
        taken = next(n for n in range(len(prompt) + 1) if prompt[: len(prompt) - n] == whole[: len(prompt) - n])
        kept = ends[len(prompt) - taken - 1] if taken < len(prompt) else 0
        broken[k], back[k] = taken > 0, taken
        lost[k] = max(len(texts[k][:characters].encode()) - kept, 0)
    given = Sums.of(shard_of(texts), broken_prompts=broken, tokens_back=back, bytes_back=lost)
    found = sums(tokbench.load(options.pop("backend"), **options), texts)
    for column in given.columns:
        assert found.columns[column].tolist() == given.columns[column].tolist(), column
    assert found.columns["prompts"].sum() == found.columns["laid_prompts"].sum() == 1000
    assert 0 < broken.sum() < 1000


HELLO = BPETokenizer([(104, 101), (256, 108), (257, 108), (258, 111)])  # he, hel, hell, hello
DOUBLES = BPETokenizer([(97, 97), (256, 256)])  # aa, aaaa


def test_a_word_that_is_one_token_by_hand():
    # h, he, hel and hell are one token each, which is not that of hello: one token and all bytes are taken back.
    texts = ["hello"] * 3
    found = sums(HELLO, texts)
    assert {name: found.columns[name].sum() for name in ("prompts", "broken_prompts", "tokens_back")} == dict.fromkeys(
        ("prompts", "broken_prompts", "tokens_back"), 3
    )
    assert found.columns["bytes_back"].sum() == sum(cut.characters for cut in random_cuts(texts))


def test_bytes_are_never_broken_and_always_canonical():
    measured = values(tokbench.load("utf8_bytes"), ["abc", "d\u00e9j\u00e0", "x", ""])
    assert {measured[f"prompt_{name}"].value for name in ("broken", "tokens_back", "bytes_back")} == {0}
    # abc 3, d\u00e9j\u00e0 6 with 2 first bytes of two, x 1.
    assert measured["stream_partial"].value == 2 / 10
    assert measured["stream_tokens"].value == 10 / 8
    assert values(tokbench.load("utf8_bytes"), ["abc"])["canonical_ids"].value == 1


def test_ids_that_no_text_gives_by_hand():
    # Four times aa is twice aaaa.
    assert values(DOUBLES, ["aa"])["canonical_ids"].value == 0
    # Four times aaaa is that: no merge makes more of it.
    assert values(DOUBLES, ["aaaa", "b"])["canonical_ids"].value == 1
