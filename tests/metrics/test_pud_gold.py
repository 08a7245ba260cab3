"""Gold words of ten languages: fertility equals tokens over surface words of the tables that come with the data."""

from pathlib import Path

import pytest

import tokbench
from tokbench.corpus.shards import shards
from tokbench.corpus.words.icu import icu_works
from tokbench.results.cells import WHOLE
from tokbench.sources.conllu import ConlluOptions, ConlluSource

CONFIG = Path(__file__).parents[2] / "configs" / "words.yaml"
ENCODINGS = ("gpt2", "cl100k", "o200k")
UNITS = ("gold_nonpunct", "icu", "character")
LANGUAGES = "ar de en es fi ko ru th tr zh".split()


@pytest.mark.parametrize("language", LANGUAGES)
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
    tokens = {}
    for row in (data / "MANIFEST.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if row.startswith("| open |"):
            tokens.update({(encoding, cells[2]): int(n) for encoding, n in zip(ENCODINGS, cells[-4:-1], strict=True)})
    words = {
        language: len((data / f"pud/{language}.words.tsv").read_text(encoding="utf-8").replace("\n", "\t").split("\t"))
        - 1
        for language in LANGUAGES
    }
    results = tokbench.run(CONFIG, workers=0)
    assert not results.failed
    cells = {(c.tokenizer, c.group): c for c in results.cells if c.metric == "fertility"}
    assert {key: cell.value for key, cell in cells.items() if key[1] != WHOLE} == {
        (encoding, language): count / words[language] for (encoding, language), count in tokens.items()
    }
    assert len(tokens) == 30
    assert {cell.unit for cell in cells.values()} == {"tokens/word (gold)"}
    # All groups are counted in one unit, so that the corpus has a value too.
    for encoding in ENCODINGS:
        total = sum(tokens[encoding, language] for language in LANGUAGES)
        assert cells[encoding, WHOLE].value == total / sum(words.values())
