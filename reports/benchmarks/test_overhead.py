"""The cost of the common text metrics and the round trip of every document, beside bare calls that encode and decode."""

from __future__ import annotations

from statistics import median
from time import process_time

import corpora
import encoders
import pytest

pytest.importorskip("splintr")

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import shards
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.registry.plugins import load_registry
from tokbench.tokenizers.batch import decode_batch, encode_batch
from tokbench.tokenizers.options import Options
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

FAMILIES = ("compression", "fertility", "continued_words", "roundtrip", "vocabulary")
ROUNDS = 5


def parts_of(documents, turn):
    """Shards that are new each time: what is counted on a text is kept with its shard."""
    made = (Document(text, "python", str(k), str(k)) for k, text in enumerate(documents))
    return list(shards(f"turn {turn}", made, by_key=False))


def bare(tokenizer, parts):
    start = process_time()
    for shard in parts:
        decode_batch(tokenizer, encode_batch(tokenizer, shard.texts))
    return process_time() - start


def measured(tokenizer, metrics, parts):
    """Seconds, and how many documents came back exactly."""
    loaded = LoadedTokenizer("t", tokenizer)
    exact = 0
    start = process_time()
    for shard in parts:
        view = EncodedShard(loaded, shard, encode_batch(tokenizer, shard.texts))
        for metric in metrics:
            metric.map(view)
        exact += int(view.exact.sum())
    return process_time() - start, exact


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 10_000])
def test_metrics_beside_the_bare_calls(benchmark, size):
    registry = load_registry()
    specs = [registry.metrics.get(name) for name in FAMILIES]
    metrics = [spec.text(spec.options() if spec.options else Options()) for spec in specs]
    tokenizer = TiktokenTokenizer(encoders.tiktoken_encoding("cl100k_base"))
    documents = corpora.chunks(corpora.sources(10_000_000 if benchmark.enabled else 100_000), size)
    pairs: list[tuple[float, float]] = []

    def turn():
        parts = parts_of(documents, len(pairs))
        calls = bare(tokenizer, parts)
        seconds, exact = measured(tokenizer, metrics, parts)
        assert exact == len(documents)
        pairs.append((calls, seconds))

    benchmark.pedantic(turn, rounds=ROUNDS if benchmark.enabled else 1, warmup_rounds=0)
    calls, everything = (median(column) for column in zip(*pairs, strict=True))
    benchmark.extra_info["title"] = (
        f"{', '.join(FAMILIES)}; cl100k_base in tiktoken, documents of {size:,} bytes, 10 MB"
    )
    benchmark.extra_info["seconds"] = {
        "encode and decode": round(calls, 2),
        "with these metrics": round(everything, 2),
    }
    benchmark.extra_info["beside the bare calls"] = {
        "with these metrics": round(median(each / call for call, each in pairs), 2)
    }
