"""Mixtures of counts: by hand, and against training on text that is mixed in the same shares."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pq
from mixed_texts import WORDS, corpus, write_table

from tokbench.sources import sample
from tokbench_plugins.bpe.compiled.encode import count_tokens
from tokbench_plugins.bpe.compiled.train import train_counts
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.bpe.fast.encode import Encoder
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.counts.count import count_table
from tokbench_plugins.counts.facts import read_facts
from tokbench_trainers.mixtures import mixing
from tokbench_trainers.mixtures.languages import LanguageCounts, LanguageTable, read_languages


def languages_of(tmp_path, texts, pattern="gpt4"):
    """The counts of some languages, as if their texts had been counted one after the other."""
    tables = []
    for number, (name, documents) in enumerate(texts.items()):
        path = write_table(tmp_path / f"{name}.counts", documents, number, pattern)
        tables.append(LanguageTable(name, path, read_facts(path)))
    return read_languages(tables, list(texts), tmp_path)


def as_dict(counts):
    data, offsets = bytes(counts.data), counts.offsets.tolist()
    return {data[a:b]: n for a, b, n in zip(offsets, offsets[1:], counts.counts.tolist(), strict=False)}


def test_a_mixture_by_hand(tmp_path, monkeypatch):
    # gpt4 cuts "a b b" into a, " b", " b": 5 bytes; "b b c c c c" has 11 bytes
    languages = languages_of(tmp_path, {"one": ["a b b"], "two": ["b b c c c c"]})
    assert languages.n_bytes == {"one": 5, "two": 11}
    monkeypatch.setattr(mixing, "_FINEST", 1)
    # shares of 2 to 11: an occurrence counts 2/5 and 11/11, which is 1 and 2.5
    assert mixing.factors_of({"one": 2, "two": 11}, languages.n_bytes) == {"one": 1, "two": Fraction(5, 2)}
    counts = as_dict(mixing.mix(languages, {"one": 2, "two": 11}))
    # a: 1; " b": 2 + 2.5 = 4.5, half up 5; b: 2.5, half up 3; " c": 4 * 2.5 = 10
    assert counts == {b"a": 1, b" b": 5, b"b": 3, b" c": 10}


def test_temperature_makes_shares():
    n_bytes = {"en": 10_000, "sw": 1}
    assert mixing.shares_of(1.0, n_bytes)["sw"] == pytest.approx(1 / 10_001)
    assert mixing.shares_of(0.0, n_bytes) == {"en": 0.5, "sw": 0.5}
    assert mixing.shares_of(0.25, n_bytes)["en"] == pytest.approx(10 / 11)


@pytest.mark.parametrize("times", [(1, 1, 1), (2, 1, 3), (3, 7, 2), (0, 5, 4)])
def test_merges_are_those_of_repeated_text(tmp_path, times):
    texts = {name: corpus(name, 1) for name in WORDS}
    languages = languages_of(tmp_path, texts)
    weights = {name: n * languages.n_bytes[name] for name, n in zip(WORDS, times, strict=True)}
    repeated = [text for name, n in zip(WORDS, times, strict=True) for text in n * texts[name]]
    for tie in ("first", "smallest"):
        merges = train_counts(mixing.mix(languages, weights), 330, tie)
        assert merges == train(repeated, 330, "gpt4", tie=tie, engine="python")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pattern", ["gpt2", "o200k"])
def test_random_mixtures_train_as_mixed_text(tmp_path, seed, pattern):
    texts = {name: corpus(name, seed) for name in WORDS}
    languages = languages_of(tmp_path, texts, pattern)
    rng = random.Random(seed)
    times = {name: rng.randrange(1, 17) for name in WORDS}
    weights = {name: n * languages.n_bytes[name] / 7 for name, n in times.items()}
    mixed = [text for name, n in times.items() for text in n * texts[name]]
    assert train_counts(mixing.mix(languages, weights), 320) == train(mixed, 320, pattern, engine="python")


def test_alpha_1_is_the_text_as_it_is(tmp_path):
    texts = {name: corpus(name, 9) for name in WORDS}
    together = [text for documents in texts.values() for text in documents]
    merges = train_counts(mixing.mix(languages_of(tmp_path, texts), 1.0), 330)
    assert merges == train(together, 330, "gpt4", engine="python")


def test_tokens_are_those_of_the_text(tmp_path):
    texts = {name: [*corpus(name, 3), "ab" * 300] for name in WORDS}  # a chunk longer than a lane of the encoder
    languages = languages_of(tmp_path, texts)
    languages.save(tmp_path)
    languages = LanguageCounts.load(tmp_path, list(texts))
    vocabulary = Vocabulary.trained(train_counts(mixing.mix(languages, 0.3), 310))
    encode = Encoder(vocabulary, "gpt4")
    lengths = count_tokens(vocabulary, languages.data, languages.offsets)
    for name, documents in texts.items():
        entries = languages.entries[name]
        assert lengths[entries.chunks] @ entries.counts == sum(len(encode(text)) for text in documents)
        assert languages.n_bytes[name] == sum(len(text.encode()) for text in documents)


def test_counts_beyond_32_bits_do_not_overflow(tmp_path):
    table = count_table(["aab ab"], [0])
    at = table.schema.get_field_index("count")
    paths = {name: tmp_path / f"{name}.counts" for name in ("big", "small")}
    times = [10**15 * count.as_py() for count in table["count"]]
    pq.write_table(table.set_column(at, "count", [times]), paths["big"])
    pq.write_table(count_table(["ba"], 1), paths["small"])
    tables = [LanguageTable(name, path, read_facts(path)) for name, path in paths.items()]
    mixed = mixing.mix(read_languages(tables, list(paths), tmp_path), 1.0)
    assert mixed.counts.min() > 0
    assert int(mixed.counts.sum()) < 2**62
    assert train_counts(mixed, 258) == [(97, 98), (97, 256)]


@pytest.mark.slow
def test_mixtures_of_the_sample_train_as_mixed_text(tmp_path):
    folder = Path(sample.__file__).parent
    texts = {path.stem: [path.read_text("utf-8")] for path in sorted((folder / "languages").glob("*.txt"))}
    texts["code"] = [json.loads(line)["text"] for line in (folder / "code.jsonl").read_text("utf-8").splitlines()]
    assert len(texts) == 29
    languages = languages_of(tmp_path, texts)
    rng = random.Random(0)
    for _ in range(5):
        times = {name: rng.randrange(17) for name in texts}
        weights = {name: n * languages.n_bytes[name] for name, n in times.items()}
        mixed = [text for name, n in times.items() for text in n * texts[name]]
        assert train_counts(mixing.mix(languages, weights), 32_768) == train(mixed, 32_768, "gpt4", engine="numba")
