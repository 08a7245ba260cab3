"""A store with damaged entries: a run reports the damage, does the work again, and gives the results of a run without a store."""

import json
import os
import sys
import time

import pytest

import tokbench
from tokbench.foundation.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

TOKENIZERS = """
  bytes: {backend: utf8_bytes}
  units: {backend: utf16_units, same_as: bytes}
  mine: {backend: naive_bpe, train: {corpus: c, vocab_size: 280}}
"""
METRICS = "[compression, fertility, roundtrip, vocabulary, documents]"
TIMES = ("created", "seconds", "durations", "from_store", "environment")


@pytest.fixture
def path(write_config, tmp_path):
    """Write a configuration over two files whose last change is a minute ago."""
    for name, words in (("en", "the low lower lowest newer"), ("de", "die niedrige niedrigere neue äußere")):
        file = tmp_path / f"{name}.txt"
        file.write_text("\n".join(f"{words} {number}" for number in range(40)), encoding="utf-8")
        os.utime(file, (time.time() - 60,) * 2)
    corpora = "  c: {source: text, path: '??.txt', document: line}"
    return write_config(corpora, TOKENIZERS, METRICS, extra="show: {documents: 1}\n")


def results_json(results):
    """Return ``results.json`` without times and cache hits, and the states."""
    whole = json.loads(results.to_json())
    for tokenizer in whole["tokenizers"].values():
        tokenizer.pop("load_s", None)
        for name in ("seconds", "from_store"):
            (tokenizer.get("train") or {}).pop(name, None)
    kept = {name: value for name, value in whole.items() if name not in TIMES}
    return json.dumps(kept), results.states.to_bytes()


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 1
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def test_damage_costs_nothing_but_time(path, stored, caplog):
    clean = results_json(tokbench.run(path, workers=0))
    entries = list(Store(stored).entries())
    assert {entry.kind for entry in entries} >= {"states", "training", "survey", "shards"}
    for number, entry in enumerate(entries):
        (flipped, cut)[number % 2](entry.path)
    assert results_json(tokbench.run(path, workers=0)) == clean
    assert sum("damaged" in message for message in caplog.messages) == len(entries)
    # Damaged entries are gone, and the next run takes everything from the store again.
    caplog.clear()
    again = tokbench.run(path, workers=0)
    assert results_json(again) == clean
    assert any("6 of 6 shards from the store" in sentence for sentence in again.from_store)
    assert caplog.messages == []
