"""Bits per byte in a run: the parts of the text, the exclusions, the store, workers, and the report."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import numpy as np
import pytest
from shared_fixtures import cell

import tokbench
from tokbench.corpus.contract import Document
from tokbench.corpus.corpus import Corpus, fingerprint
from tokbench.formats import html
from tokbench.foundation.errors import InputError
from tokbench.results.cells import Status
from tokbench.tokenizers.batch import encode_batch
from tokbench_models.language_models.block import BITS_PER_BYTE
from tokbench_models.language_models.contract import ModelTexts
from tokbench_models.language_models.ngram_model import bits_by_order
from tokbench_models.language_models.texts import text_parts

pytestmark = pytest.mark.slow

TEXTS = ModelTexts("", 0.3, 10_000_000, 1_000_000, 8192)
IDS = [f"bits_per_byte_{order}" for order in range(1, 7)]


def prose(seed, size):
    """Sentences with words of a Zipf distribution, so that models have something to learn."""
    rng = random.Random(f"prose {seed}")
    words = [f"{chr(97 + k % 26)}{'aeiou'[k % 5]}{chr(97 + k * 7 % 26)}" for k in range(200)]
    return "".join(words[min(199, int(rng.paretovariate(0.7)))] + rng.choice([" ", " ", "  "]) for _ in range(size))


class Texts:
    licence = ""

    def __init__(self, texts):
        self._texts = texts

    def documents(self):
        for k, text in enumerate(self._texts):
            yield Document(text, "g", str(k), f"texts:{k}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A hundred documents, and a run over them with tokenizers of every kind."""
    path = tmp_path_factory.mktemp("bits")
    for k in range(100):
        (path / f"{k:03}.txt").write_text(prose(k, 120), encoding="utf-8")
    (path / "copy.txt").write_text(prose(3, 120) + " and an end", encoding="utf-8")
    (path / "run.yaml").write_text(
        """
schema: tokbench/1
name: bits
corpora:
  c: {source: text, path: "*.txt", holdout: 0.4}
  whole: {source: text, path: "0*.txt", evaluate: false}
tokenizers:
  bytes: {backend: utf8_bytes}
  one: &one {backend: regex_bpe, train: {corpus: c, vocab_size: 300}}
  two: {backend: regex_bpe, train: {corpus: c, vocab_size: 300}}
  large: {backend: regex_bpe, train: {corpus: c, vocab_size: 400}}
  seen: {backend: regex_bpe, train: {corpus: whole, vocab_size: 300}}
  published: {backend: splintr, vocabulary: whisper_v1}
  lossy: {backend: sentencepiece, train: {corpus: c, vocab_size: 60}}
metrics: [bits_per_byte]
report: {formats: [csv]}
""".replace("&one ", ""),
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def results(folder):
    return tokbench.run(folder / "run.yaml", workers=0, store=False)


def pair(results, one, other):
    [study] = results.studies.get(BITS_PER_BYTE)
    matching = [
        comparison for comparison in study.comparisons if {comparison.tokenizer, comparison.other} == {one, other}
    ]
    return matching[0] if matching else None


def test_every_order_has_a_number_with_its_interval(results):
    for name in ("bytes", "one", "published"):
        found = [cell(results, name, each) for each in IDS]
        assert all(each.status == Status.OK and each.ci_low < each.value < each.ci_high for each in found)
    first = [cell(results, "bytes", id_).value for id_ in IDS]
    assert first[0] > first[1] > first[2]
    assert results.metrics[IDS[0]].direction == "none"


def test_one_tokenizer_under_two_names_is_level(results):
    found = pair(results, "one", "two")
    assert found.verdict == "level"
    assert found.differences == [0.0] * 6


def test_only_tokenizers_that_learned_from_the_same_text_are_compared(results):
    [study] = results.studies.get(BITS_PER_BYTE)
    assert study.blocks == {
        "bytes": "no training text",
        "one": "trained on c",
        "two": "trained on c",
        "large": "trained on c",
        "seen": "trained on whole, scored text included",
        "published": "published, training text unknown",
    }
    compared = {frozenset((comparison.tokenizer, comparison.other)) for comparison in study.comparisons}
    mine = ("bytes", "one", "two", "large")
    assert compared == {frozenset((a, b)) for a in mine for b in mine if a < b}


def test_text_that_was_trained_on_is_marked(results):
    assert cell(results, "one", IDS[0]).in_sample == 0
    assert cell(results, "seen", IDS[0]).in_sample > 0.5
    assert cell(results, "published", IDS[0]).in_sample is None


def test_who_loses_a_scored_document_has_no_number(results):
    value = cell(results, "lossy", IDS[2])
    assert (value.status, value.value) == (Status.NOT_APPLICABLE, None)
    assert ".txt:1" in value.reason


def test_bytes_by_the_model_itself(results, folder):
    """The cell is that of the documents on both sides of the holdout, without the copy, in the order of hashes."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    marks = {path: fingerprint(text) for path, text in texts.items()}
    ordered = sorted(texts, key=marks.get)
    both = [prose(3, 120), prose(3, 120) + " and an end"]
    parts = [[texts[path] for path in ordered if (marks[path] < 0.4 * 2**64) == held] for held in (False, True)]
    second = [text for part in parts for text in part if text in both][1]
    training, scored = ([text for text in part if text != second] for part in parts)

    def encoded(part):
        return encode_batch(tokbench.load("utf8_bytes"), part)

    bits = bits_by_order(encoded(training), encoded(scored), 256).sum(axis=1)
    expected = bits / sum(map(len, scored))
    assert [cell(results, "bytes", id_).value for id_ in IDS] == pytest.approx(expected.tolist(), rel=1e-12)


def test_workers_and_the_store_change_nothing(folder, results, tmp_path, monkeypatch):
    """A second run takes the models from the store that a smaller one has left: `two` is the same tokenizer as `one`."""
    monkeypatch.delenv("TOKBENCH_NO_STORE")
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    first = tokbench.run(folder / "run.yaml", workers=2, only=["bytes", "one"])
    second = tokbench.run(folder / "run.yaml", workers=0)
    assert "training models: 3 tokenizers x corpora from the store" in second.from_store
    assert not any(each.startswith("training models") for each in first.from_store)
    assert second.frame.to_csv() == results.frame.to_csv()
    assert second.studies.get(BITS_PER_BYTE) == results.studies.get(BITS_PER_BYTE)


def test_the_block_tells_how_well_the_text_feeds_the_ids(results):
    """Every byte is a token of ``bytes``, so that its numbers follow from the sizes of the texts."""
    [study] = results.studies.get(BITS_PER_BYTE)
    assert study.training_documents + study.scored_documents == 100
    assert study.training_duplicates + study.scored_duplicates == 1
    assert cell(results, "bytes", IDS[0]).n == study.scored_documents
    assert set(study.trained_ids) == set(study.blocks)
    trained = study.trained_ids["bytes"]
    assert (trained.ids, trained.training_tokens) == (256, study.training_bytes)
    assert trained.tokens_per_id == study.training_bytes / 256
    assert (trained.training_bytes_per_token, trained.scored_bytes_per_token) == (1.0, 1.0)
    assert trained.never_trained == 0
    assert study.trained_ids["large"].tokens_per_id < study.trained_ids["one"].tokens_per_id


def corpus(texts, **options):
    return Corpus("c", Texts(texts), **options)


def test_parts_do_not_depend_on_the_order_of_documents():
    texts = [prose(k, 50) for k in range(60)]
    one = text_parts(both := corpus(texts), both, TEXTS)
    other = text_parts(both := corpus(texts[::-1]), both, TEXTS)
    assert (one.training, one.scored) == (other.training, other.scored)
    assert set(one.training).isdisjoint(one.scored)
    assert len(one.training) + len(one.scored) == 60


def test_a_part_has_the_documents_with_the_smallest_hashes():
    texts = [prose(k, 50) for k in range(60)]
    few = text_parts(both := corpus(texts), both, TEXTS._replace(most_training=2000))
    every = text_parts(both, both, TEXTS)
    assert few.scored == every.scored
    sizes = np.cumsum([len(text) for text in every.training])
    assert list(few.training) == list(every.training[: int((sizes <= 2000).sum())])


def test_a_copy_in_the_other_part_is_not_scored():
    texts = [prose(k, 50) for k in range(40)]
    copies = [f"{text} and more" for text in texts]
    with pytest.raises(InputError, match="'c'"):
        text_parts(corpus(texts), corpus(copies), TEXTS)
    parts = text_parts(corpus(texts), corpus([*copies, prose("new", 50)]), TEXTS)
    assert parts.scored == [prose("new", 50)]
    assert parts.sizes.scored.duplicates == 40


def test_training_documents_become_pieces_and_lose_nothing():
    texts = [prose(k, 200) for k in range(10)]
    whole = text_parts(both := corpus(texts), both, TEXTS)
    parts = text_parts(both, both, TEXTS._replace(training_piece=100))
    assert max(len(text.encode()) for text in parts.training) <= 100
    assert "".join(parts.training) == "".join(whole.training)
    assert len(parts.training) > len(whole.training)
    assert parts.sizes.training == whole.sizes.training  # what is counted are documents
    assert parts.scored == whole.scored


def test_a_text_without_a_part_is_an_error():
    with pytest.raises(InputError, match="'c'"):
        text_parts(one := corpus([prose(1, 50)]), one, TEXTS._replace(holdout=1e-9))


def test_a_tokenizer_that_crashes_costs_its_own_cells(folder, results, faulty, monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,faulty_backends,language_models,metrics,reports")
    text = (folder / "run.yaml").read_text(encoding="utf-8")
    before, _, after = text.partition("  one: ")
    path = folder / "faults.yaml"
    crashes = "  crashes: {backend: CrashesInEncode}\n"
    path.write_text(f"{before}{crashes}{after[after.index('metrics:') :]}", encoding="utf-8")
    found = tokbench.run(path, workers=1, store=False)
    assert [cell(found, "bytes", id_).value for id_ in IDS] == [cell(results, "bytes", each).value for each in IDS]
    assert cell(found, "crashes", IDS[0]).status == Status.FAILED
    assert "SIGSEGV while encoding corpus c" in cell(found, "crashes", IDS[0]).reason
    [study] = found.studies.get(BITS_PER_BYTE)
    assert list(study.blocks) == ["bytes"]


@pytest.fixture(scope="module")
def small_transformers(tmp_path_factory):
    """A run of transformers of width 8 over forty documents."""
    pytest.importorskip("jax")
    path = tmp_path_factory.mktemp("transformers")
    for k in range(40):
        (path / f"{k:03}.txt").write_text(prose(k, 40), encoding="utf-8")
    (path / "run.yaml").write_text(
        """
schema: tokbench/1
name: transformers
corpora: {c: {source: text, path: "*.txt", holdout: 0.5}}
tokenizers: {one: {backend: utf8_bytes}}
metrics:
  - bits_per_byte
  - transformer: {width: 8, layers: 1, heads: 1, context_bytes: 32, step_bytes: 256, seeds: 2, rates: [0.01]}
report: {formats: []}
""",
        encoding="utf-8",
    )
    return path / "run.yaml"


@pytest.fixture(scope="module")
def transformers(small_transformers):
    return tokbench.run(small_transformers, workers=0, store=False)


def test_transformers_of_two_workers_are_the_same(small_transformers, transformers):
    assert tokbench.run(small_transformers, workers=2, store=False).frame.to_csv() == transformers.frame.to_csv()
    _, study = transformers.studies.get(BITS_PER_BYTE)
    assert len(study.trainings["one"].seeds) == 2
    page = html.render(transformers)
    assert page.count('aria-label="Trainings on c"') == 1, "n-grams have no trainings"


def test_a_run_that_is_killed_goes_on_from_its_trainings(small_transformers, transformers, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    command = [sys.executable, "-m", "tokbench", "run", small_transformers, "-o", tmp_path / "killed", "-w", "0"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = tmp_path / "store" / "model checkpoint"
    while len(found := [file for file in kept.glob("*/*") if not file.name.startswith(".")]) < 4:
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    files = {file: file.stat().st_ino for file in found}
    again = tokbench.run(small_transformers, workers=0)
    assert again.frame.to_csv() == transformers.frame.to_csv()
    assert {file: file.stat().st_ino for file in files} == files  # what was kept was not made again
    assert len(list(kept.glob("*/*"))) > len(files)
