"""The ten PUD languages, through the configuration that ships: token counts equal the published ones."""

from pathlib import Path

import pytest

import tokbench
from tokbench.corpus.words.icu import icu_works
from tokbench.results.cells import WHOLE, Status

ROOT = Path(__file__).parents[2]

ENCODINGS = ("gpt2", "cl100k", "o200k")


@pytest.fixture(scope="module")
def published(data):
    """Tokens by language and encoding, from the table that comes with the data."""
    table, rows = {}, (data / "MANIFEST.md").read_text(encoding="utf-8").splitlines()
    for row in rows:
        cells = [cell.strip() for cell in row.split("|")]
        if row.startswith("| open |"):
            table[cells[2]] = dict(zip(ENCODINGS, map(int, cells[-4:-1]), strict=True))
    assert len(table) == 10
    return table


@pytest.fixture(scope="module")
def results(data, tiktoken_files):
    settings = ["metrics=[compression, fertility]", "show.documents=0"]
    return tokbench.run(ROOT / "configs" / "pud.yaml", workers=0, settings=settings, only=ENCODINGS)


def by_group(results, tokenizer, metric):
    return {c.group: c for c in results.cells if (c.tokenizer, c.metric) == (tokenizer, metric)}


pytestmark = pytest.mark.slow


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tokens_equal_the_published_table(results, published, encoding):
    found = {group: cell.value for group, cell in by_group(results, encoding, "tokens").items() if group != WHOLE}
    assert found == {language: row[encoding] for language, row in published.items()}


def test_fertility_units_make_sense(results):
    cells = by_group(results, "o200k", "fertility")
    assert cells["zh"].unit == cells["th"].unit == ("tokens/word (ICU)" if icu_works() else "tokens/character")
    assert cells["ko"].unit == "tokens/word (whitespace)"
    assert cells["en"].unit == "tokens/word (UAX #29)"
    assert cells[WHOLE].status == Status.NOT_APPLICABLE
    # Between spaces there are 12,347 Korean words: n_whitespace of the published counts.
    assert cells["ko"].value == pytest.approx(34199 / 12347)
