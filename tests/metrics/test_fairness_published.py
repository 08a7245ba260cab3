"""Premiums of a published vocabulary on NTREX against a plain count and the published study."""

import pytest
import tiktoken
from shared_fixtures import cell

import tokbench
from tokbench.statistics.inequality import gini_coefficient

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
