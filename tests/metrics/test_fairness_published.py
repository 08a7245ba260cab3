"""Premiums of published vocabularies: the configuration that ships, and NTREX beside the published study."""

from pathlib import Path

import pytest
import tiktoken
from conftest import cell

import tokbench
from tokbench.statistics.inequality import gini_coefficient


@pytest.mark.slow
def test_the_configuration_that_ships_has_a_value_everywhere():
    pytest.importorskip("splintr")
    results = tokbench.run(Path(__file__).parents[2] / "configs" / "multilingual.yaml", workers=0)
    assert not results.failed
    for name in results.tokenizers:
        for group in results.corpora["languages"].groups:
            assert cell(results, name, "premium", group).value > 0
            assert cell(results, name, "rank", group).value >= 1
            assert cell(results, name, "nsl", group).value > 0
        assert 0 < cell(results, name, "gini").value < 1
    ours = [c for c in results.cells if c.tokenizer == "regex-8192" and c.value is not None]
    assert {c.in_sample for c in ours} == {0.0}


ENCODINGS = {"cl100k": "cl100k_base", "o200k": "o200k_base"}


@pytest.fixture(scope="module")
def ntrex(data, tmp_path_factory, tiktoken_files):
    """Thirteen languages, 1,997 sentences each, and premiums from a plain count with tiktoken."""
    pytest.importorskip("splintr")
    path = tmp_path_factory.mktemp("ntrex") / "ntrex.yaml"
    path.write_text(
        "schema: tokbench/1\nname: ntrex\ncorpora:\n"
        f"  ntrex: {{source: text, path: '{data}/ntrex/*.txt', document: line, parallel: true, reference: eng}}\n"
        "tokenizers:\n  cl100k: {backend: splintr, vocabulary: cl100k_base}\n"
        "  o200k: {backend: splintr, vocabulary: o200k_base}\nmetrics: [fairness, pairs]\n",
        encoding="utf-8",
    )
    plain = {}
    for name, encoding in ENCODINGS.items():
        encode = tiktoken.get_encoding(encoding).encode_ordinary
        counts = {
            file.stem: sum(len(encode(line)) for line in file.read_text(encoding="utf-8").split("\n"))
            for file in (data / "ntrex").glob("*.txt")
        }
        plain[name] = {group: count / counts["eng"] for group, count in counts.items()}
    return tokbench.run(path, workers=0), plain


@pytest.mark.slow
def test_ntrex_premiums_equal_a_plain_count(ntrex):
    results, plain = ntrex
    for name in ENCODINGS:
        assert len(plain[name]) == 13
        for group, premium in plain[name].items():
            assert cell(results, name, "premium", group).value == pytest.approx(premium, rel=1e-12)
        assert cell(results, name, "gini").value == pytest.approx(
            gini_coefficient(list(plain[name].values())), rel=1e-12
        )


@pytest.mark.slow
def test_ntrex_o200k_lowers_what_cl100k_had(ntrex):
    results, plain = ntrex
    old, new = ({g: cell(results, name, "premium", g) for g in plain[name]} for name in ENCODINGS)
    for group in set(old) - {"eng"}:
        assert new[group].ci_high < old[group].ci_low, group
    assert cell(results, "o200k", "gini").ci_high < cell(results, "cl100k", "gini").ci_low
    # Latin script, Chinese and Cyrillic cost two or three times English, the scripts of South and Southeast Asia and of
    # Ethiopia four to seven times.
    assert sorted(old, key=lambda group: old[group].value) == [
        *("eng", "deu", "zho-CN", "tur", "swa", "vie", "rus", "ukr", "arb", "heb", "tha", "ben", "amh"),
    ]
    assert 1.5 < old["deu"].value < 1.7
    assert 7 < old["amh"].value < 8
    # Everything but Amharic costs less than twice English with o200k_base.
    assert {group for group in new if new[group].value >= 2} == {"amh"}


# Petrov, La Malfa, Torr and Bibi 2023, "Language Model Tokenizers Introduce Unfairness Between Languages" (NeurIPS), from
# their published table tokenization_lengths_validated.csv: tokens of cl100k_base on 2,000 sentences of FLORES-200.
FLORES = {
    "eng": 52_835,
    "deu": 83_450,
    "zho-CN": 101_138,
    "tur": 101_176,
    "swa": 103_109,
    "vie": 129_258,
    "rus": 131_496,
    "ukr": 158_296,
    "arb": 160_485,
    "heb": 193_616,
    "tha": 231_995,
    "ben": 308_325,
    "amh": 405_644,
}


@pytest.mark.slow
def test_ntrex_premiums_are_those_of_the_published_study(ntrex):
    """Other sentences by other translators, the same languages: the same order, and within a tenth."""
    results, _ = ntrex
    found = {group: cell(results, "cl100k", "premium", group).value for group in FLORES}
    published = {group: tokens / FLORES["eng"] for group, tokens in FLORES.items()}
    assert sorted(found, key=found.get) == sorted(published, key=published.get)
    off = {group: found[group] / published[group] - 1 for group in FLORES}
    assert all(abs(each) < 0.1 for each in off.values()), off
    assert sum(abs(each) < 0.02 for each in off.values()) >= 9
