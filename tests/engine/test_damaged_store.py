"""Stores with crafted entries: a run tells the damage, does the work again, and gives what a run without a store gives."""

import json
import os
import pickle
import sys
import time

import numpy as np
import pytest

import tokbench
from tokbench.corpus.corpus import Survey
from tokbench.corpus.shards import ShardMark
from tokbench.foundation.plain_data import packed, unpacked
from tokbench.foundation.store import Store
from tokbench.measuring.sums import Sums
from tokbench.results.segmentation import Segmentation
from tokbench.results.states import write_states

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

TOKENIZERS = """
  bytes: {backend: utf8_bytes}
  units: {backend: utf16_units, same_as: bytes}
  mine: {backend: naive_bpe, train: {corpus: c, vocab_size: 280}}
"""
METRICS = "[compression, fertility, roundtrip, vocabulary, documents, probes]"
TIMES = ("created", "seconds", "durations", "from_store", "environment")


@pytest.fixture
def path(write_config, tmp_path):
    """Write a configuration over two files that nobody has written to for a minute."""
    for name, words in (("en", "the low lower lowest newer"), ("de", "die niedrige niedrigere neue äußere")):
        file = tmp_path / f"{name}.txt"
        file.write_text("\n".join(f"{words} {number}" for number in range(40)), encoding="utf-8")
        os.utime(file, (time.time() - 60,) * 2)
    corpora = "  c: {source: text, path: '??.txt', document: line}"
    return write_config(corpora, TOKENIZERS, METRICS, extra="show: {documents: 1}\n")


def results_json(results):
    """Return ``results.json`` without times and without what came from the store, and ``states.bin``."""
    whole = json.loads(results.to_json())
    for tokenizer in whole["tokenizers"].values():
        tokenizer.pop("load_s", None)
        for name in ("seconds", "from_store"):
            (tokenizer.get("train") or {}).pop(name, None)
    kept = {name: value for name, value in whole.items() if name not in TIMES}
    return json.dumps(kept), write_states(results.states)


class Runs:
    """A pickle that writes a file when somebody reads it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def rewritten(store, change):
    """Give every entry other content with the right hash; ``change`` takes its kind and its bytes."""
    for entry in list(store.entries()):
        data = change(entry.kind, store.get(entry.kind, entry.key))
        if data is not None:
            store.put(entry.kind, entry.key, data)


def no_numbers(store, _):
    def change(kind, data):
        if kind == "training":
            return data.replace(b'"seconds": ', b'"seconds": NaN, "was": ')
        if kind != "states":
            return data.replace(b'"value":', b'"value":NaN,"was":')
        records = unpacked(data)
        for record, state in records.items():
            line, _, body = state.partition(b"\n")
            arrays = json.loads(line)["arrays"]
            floats = np.full(len(body) // 8, np.nan).tobytes()
            known = any(kind == "<f8" for kind, _ in arrays)
            records[record] = line + b"\n" + floats if known else state.replace(b'"value":', b'"value":Infinity,"was":')
        return packed(records)

    rewritten(store, change)


def no_files(store, _):
    for number, entry in enumerate(list(store.entries())):
        entry.path.unlink()
        [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.joinpath("inner").mkdir(parents=True)][
            number % 3
        ](entry.path)


def deep_and_cut_and_huge(store, _):
    for number, entry in enumerate(list(store.entries())):
        data = store.get(entry.kind, entry.key)
        if number % 4 == 0:
            entry.path.write_bytes(entry.path.read_bytes()[:-1])
        elif number % 4 == 1:
            os.truncate(entry.path, 1 << 42)
        elif number % 4 == 2:
            entry.path.write_bytes(b"[" * 10**6)
        else:  # the right hash of data that are too deep
            store.put(entry.kind, entry.key, b'{"arrays":[],"classes":[],"value":' + b"[" * 10**5 + data)


def other_content(store, folder):
    """Write what is sound by itself, and that of other work; what is a pickle runs where it is read."""
    ran = pickle.dumps(Runs(folder / "ran"))

    def change(kind, data):
        if kind == "training":
            return data.partition(b"\n")[0] + b"\nno pickle"
        if kind == "survey":
            survey = unpacked(data, Survey)
            survey.groups["en"] += 1
            return packed(survey)
        if kind == "shards":
            return packed(unpacked(data, list[ShardMark])[::-1])
        if kind != "states":
            return ran
        records = unpacked(data)
        return packed({record: ran if k % 2 else packed(np.arange(3)) for k, record in enumerate(records)})

    rewritten(store, change)


def what_fails_late(store, _):
    """Write states that can be merged and not be finished, and answers of the right type that fit to no question."""

    def change(kind, data):
        if kind == "segmentations":
            return packed(unpacked(data, list[Segmentation])[:-1])
        if kind != "states":
            return None
        records = unpacked(data)
        for record, state in records.items():
            value = unpacked(state)
            if isinstance(value, Sums):
                value.columns = {name[::-1]: column for name, column in value.columns.items()}
                records[record] = packed(value)
        return packed(records)

    rewritten(store, change)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("damage", [no_numbers, no_files, deep_and_cut_and_huge, other_content, what_fails_late])
def test_a_damaged_store_costs_nothing_but_time(path, stored, tmp_path, caplog, damage, workers):
    clean = results_json(tokbench.run(path, workers=workers, store=False))
    assert results_json(tokbench.run(path, workers=workers)) == clean
    warm = tokbench.run(path, workers=workers)
    assert any("6 of 6 shards from the store" in sentence for sentence in warm.from_store)
    assert results_json(warm) == clean
    store = Store(stored)
    assert {entry.kind for entry in store.entries()} >= {"states", "training", "survey", "shards", "answer"}
    caplog.clear()
    damage(store, tmp_path)
    assert results_json(tokbench.run(path, workers=workers)) == clean
    assert any("damaged" in message for message in caplog.messages)
    assert not tmp_path.joinpath("ran").exists()
    # What was damaged is gone, and the next run takes everything from the store again.
    caplog.clear()
    again = tokbench.run(path, workers=workers)
    assert results_json(again) == clean
    assert again.from_store == warm.from_store
    assert caplog.messages == []
