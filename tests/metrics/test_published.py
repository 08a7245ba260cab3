"""Conformance of every family, and published numbers: gold words of PUD, premiums of NTREX."""

import math

import pytest
import tiktoken
from own_plugins import VALUE, Characters
from shared_fixtures import cell

import tokbench
from tokbench.corpus.shards import shards
from tokbench.corpus.words.icu import icu_works
from tokbench.plugin.metrics import Measured, MetricFamily
from tokbench.results.cells import WHOLE
from tokbench.sources.conllu import ConlluOptions, ConlluSource
from tokbench.statistics.inequality import gini_coefficient
from tokbench.testing.metrics import check_metric, families

OPTIONS = {"nsl": {"reference": "bytes"}}


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_family_of_text_metrics_conforms(family):
    check_metric(family, **OPTIONS.get(family.name, {}))


def family_of(kind):
    return MetricFamily(name="mine", summary="", values=(VALUE,), text=kind)


def test_a_family_of_another_plugin_conforms():
    check_metric(family_of(Characters))


class DependsOnOrder(Characters):
    def merge(self, one, other):
        return 2 * one + other


class ChangesItsArgument(Characters):
    def map(self, encoded):
        return [super().map(encoded)]

    def merge(self, one, other):
        one[0] += other[0]
        return one

    def finish(self, state):
        return super().finish(state[0])


class NoNumber(Characters):
    def finish(self, state):
        return {"characters": Measured(math.nan, n=1)}


class OutsideItsInterval(Characters):
    def finish(self, state):
        return {"characters": Measured(state, 1, state + 1, state + 2)}


class NoValue(Characters):
    def finish(self, state):
        return {}


@pytest.mark.parametrize("kind", [DependsOnOrder, ChangesItsArgument, NoNumber, OutsideItsInterval, NoValue])
def test_a_family_with_a_fault_does_not(kind):
    with pytest.raises(AssertionError):
        check_metric(family_of(kind))


UNITS = ("gold_nonpunct", "icu", "character")


@pytest.mark.parametrize("language", ["ar", "de", "zh"])
def test_gold_words_equal_the_published_tables(data, language):
    documents = list(ConlluSource(ConlluOptions(path=data / f"pud/{language}.conllu.gz")).documents())
    rows = (data / f"pud/{language}.words.tsv").read_text(encoding="utf-8").splitlines()
    assert [[d.text[a:b] for a, b in d.gold.words] for d in documents] == [row.split("\t") for row in rows]
    assert [d.text for d in documents] == (data / f"pud/{language}.txt").read_text(encoding="utf-8").splitlines()
    header, *counts = (row.split("\t") for row in (data / f"pud/{language}.counts.tsv").read_text().splitlines())
    nonpunct = header.index("n_surface_nonpunct")
    assert [d.gold.punctuation.count(False) for d in documents] == [int(row[nonpunct]) for row in counts]
    assert [d.key for d in documents] == [row[0] for row in counts]


@pytest.mark.skipif(not icu_works(), reason="PyICU is not installed: pip install 'tokbench[icu]'")
@pytest.mark.parametrize("language", ["th", "zh"])
def test_the_words_of_icu_are_mostly_gold(data, language):
    documents = ConlluSource(ConlluOptions(path=data / f"pud/{language}.conllu.gz")).documents()
    [shard] = shards("pud", documents, by_key=True)
    gold, icu, characters = ({*zip(*map(tuple, shard.words(unit)[:2]), strict=True)} for unit in UNITS)
    # Dictionaries and treebanks differ in what a word is, in a quarter of them or so.
    assert len(gold & icu) > 0.7 * max(len(gold), 0.95 * len(icu))
    assert len(gold & characters) < 0.5 * len(gold)


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_fertility_is_tokens_over_gold_words(data):
    languages, tokens, words = ("de", "th"), {}, {}
    for row in (data / "MANIFEST.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if row.startswith("| open |") and cells[2] in languages:
            tokens[cells[2]] = int(cells[-4])
    for name in languages:
        rows = (data / f"pud/{name}.words.tsv").read_text(encoding="utf-8").splitlines()
        words[name] = sum(len(row.split("\t")) for row in rows)
    config = {
        "schema": "tokbench/1",
        "name": "gold",
        "corpora": {name: {"source": "conllu", "path": data / f"pud/{name}.conllu.gz"} for name in languages},
        "tokenizers": {"gpt2": {"backend": "tiktoken", "encoding": "gpt2"}},
        "metrics": [{"fertility": {"unit": "gold"}}],
    }
    results = tokbench.run(config, workers=0, store=False)
    cells = {cell.corpus: cell for cell in results.cells if (cell.metric, cell.group) == ("fertility", WHOLE)}
    assert {name: cell.value for name, cell in cells.items()} == {
        name: tokens[name] / words[name] for name in languages
    }
    assert {cell.unit for cell in cells.values()} == {"tokens/word (gold)"}


# Petrov, La Malfa, Torr and Bibi 2023, "Language Model Tokenizers Introduce Unfairness Between Languages" (NeurIPS), from
# their published table tokenization_lengths_validated.csv: tokens of cl100k_base on 2,000 sentences of FLORES-200.
FLORES = {"eng": 52_835, "deu": 83_450, "tur": 101_176, "vie": 129_258, "heb": 193_616, "ben": 308_325, "amh": 405_644}
LINES = 600


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_ntrex_premiums_equal_a_plain_count_and_the_published_study(data, tmp_path):
    """Other sentences by other translators, the same languages: within a tenth."""
    pytest.importorskip("splintr")
    counts, encode = {}, tiktoken.get_encoding("cl100k_base").encode_ordinary
    for name in FLORES:
        lines = (data / "ntrex" / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:LINES]
        counts[name] = sum(len(encode(line)) for line in lines)
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    source = {"source": "text", "path": tmp_path / "*.txt", "document": "line"}
    config = {
        "schema": "tokbench/1",
        "name": "ntrex",
        "corpora": {"ntrex": {**source, "parallel": True, "reference": "eng"}},
        "tokenizers": {"cl100k": {"backend": "splintr", "vocabulary": "cl100k_base"}},
        "metrics": ["fairness"],
    }
    results = tokbench.run(config, workers=0, store=False)
    plain = {name: count / counts["eng"] for name, count in counts.items()}
    found = {name: cell(results, "cl100k", "premium", name).value for name in FLORES}
    assert found == pytest.approx(plain, rel=1e-12)
    assert cell(results, "cl100k", "gini").value == pytest.approx(gini_coefficient(list(plain.values())), rel=1e-12)
    assert found == pytest.approx({name: tokens / FLORES["eng"] for name, tokens in FLORES.items()}, rel=0.1)
    assert sorted(found, key=found.get) == list(FLORES)
