"""The cost of the curve of every vocabulary size, beside the one encoding that it needs and beside a ladder of sizes."""

from __future__ import annotations

from functools import reduce
from time import process_time

import corpora
import encoders
import pytest

pytest.importorskip("numba")
pytest.importorskip("splintr")

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import shards
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.studies.vocabulary_size.curve import SPEC
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench.tokenizers.options import Options
from tokbench_plugins.bpe import BPETokenizer, train
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

LADDER = [1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 20_000, 24_000, 28_000, 30_000, 32_000, 32_768]


def text_of(benchmark):
    texts = corpora.sources(50_000_000 if benchmark.enabled else 100_000)
    documents = (Document(text, "python", str(k), str(k)) for k, text in enumerate(texts))
    return list(shards("sources", documents, by_key=False))


def curve_of(tokenizer, order, parts, metric):
    """Seconds for the encoding, and for all that the curve takes: counting, merging, every size with its entropy."""
    loaded = LoadedTokenizer("t", tokenizer)
    start = process_time()
    views = [EncodedShard(loaded, shard, encode_batch(tokenizer, shard.texts)) for shard in parts]
    encoded = process_time()
    counts = reduce(metric.merge, [metric.map(view) for view in views]).total()
    curve = Curve(order, counts)
    assert len(curve.entropy) == len(curve.tokens)
    return encoded - start, process_time() - encoded


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["tiktoken", "numba"])
def test_curve_beside_one_encoding(benchmark, engine):
    parts = text_of(benchmark)
    ours = encoders._ours("cl100k_base", "numba")
    tokenizer = ours if engine == "numba" else TiktokenTokenizer(encoders.tiktoken_encoding("cl100k_base"))
    start = process_time()
    order = merge_order(ours)
    read = process_time() - start
    encode_batch(tokenizer, parts[0].texts)
    taken = []
    benchmark.pedantic(
        lambda: taken.append(curve_of(tokenizer, order, parts, SPEC.text(Options()))),
        rounds=3 if benchmark.enabled else 1,
        warmup_rounds=0,
    )
    encoding, curve = (min(column) for column in zip(*taken, strict=True))
    benchmark.extra_info["title"] = f"the whole curve of cl100k_base on 50 MB, encoded by {engine}"
    benchmark.extra_info["seconds"] = {
        "one encoding": round(encoding, 2),
        "the curve": round(curve, 2),
        "the merges, read once": round(read, 2),
    }
    benchmark.extra_info["beside the encoding"] = {"the curve": round((encoding + curve) / encoding, 3)}


@pytest.mark.slow
def test_ladder_beside_the_curve(benchmark):
    """Twelve sizes trained and encoded one by one, beside one training, one encoding and the curve of all sizes."""
    parts = text_of(benchmark)
    sizes = LADDER if benchmark.enabled else [300, 400]
    texts = [text for shard in parts for text in shard.texts]

    def rung(size):
        tokenizer = BPETokenizer(train(texts, size, "gpt4", engine="numba"), "gpt4", engine="numba")
        return tokenizer, sum(len(encode_batch(tokenizer, shard.texts).ids) for shard in parts)

    largest, tokens = rung(sizes[-1])
    start = process_time()
    found = benchmark.pedantic(lambda: [rung(size)[1] for size in sizes], rounds=1)
    ladder = process_time() - start
    start = process_time()
    train(texts, sizes[-1], "gpt4", engine="numba")
    trained = process_time() - start
    encoding, curve = curve_of(largest, merge_order(largest), parts, SPEC.text(Options()))
    benchmark.extra_info["title"] = f"{len(sizes)} sizes of our own vocabulary on 50 MB"
    benchmark.extra_info["seconds"] = {
        "trained and encoded one by one": round(ladder, 2),
        "trained and encoded once, with the curve of all sizes": round(trained + encoding + curve, 2),
    }
    assert found[-1] == tokens
