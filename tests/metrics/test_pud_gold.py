"""Gold words of ten languages: fertility equals tokens over surface words of the tables that come with the data."""

import pytest

import tokbench
from tokbench.corpus.shards import shards
from tokbench.corpus.words.icu import icu_works
from tokbench.results.cells import WHOLE
from tokbench.sources.conllu import ConlluOptions, ConlluSource

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
