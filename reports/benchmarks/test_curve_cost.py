"""The cost of the curve of every vocabulary size, beside the one encoding that it needs."""

from __future__ import annotations

from functools import reduce
from time import process_time

import corpora
import encoders
import pytest

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import shards
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.studies.vocabulary_size.plugin import CURVE as SPEC
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench.tokenizers.options import Options


def curve_of(tokenizer, order, parts, metric):
    """Seconds for the encoding, and for all that the curve takes: counting, merging, every size."""
    loaded = LoadedTokenizer("t", tokenizer)
    start = process_time()
    views = [EncodedShard(loaded, shard, encode_batch(tokenizer, shard.texts)) for shard in parts]
    encoded = process_time()
    curve = Curve(order, reduce(metric.merge, [metric.map(view) for view in views]).total())
    assert len(curve.tokens) == len(order) + 1
    return encoded - start, process_time() - encoded


@pytest.mark.slow
def test_curve_beside_one_encoding(benchmark):
    if not benchmark.enabled:
        pytest.skip("it compares seconds; run with --benchmark-enable")
    documents = (Document(text, "python", str(k), str(k)) for k, text in enumerate(corpora.sources(50_000_000)))
    parts = list(shards("sources", documents, by_key=False))
    tokenizer = encoders._ours("cl100k_base")
    order, metric, taken = merge_order(tokenizer), SPEC.text(Options()), []
    encode_batch(tokenizer, parts[0].texts)
    benchmark.pedantic(lambda: taken.append(curve_of(tokenizer, order, parts, metric)), rounds=3)
    encoding, curve = (min(column) for column in zip(*taken, strict=True))
    benchmark.extra_info["seconds"] = {"one encoding": round(encoding, 2), "the curve": round(curve, 2)}
