"""Every published name has one row in the table of proofs, and the proofs that need no network hold again."""

import pytest
from prove_names import SOURCES, Fetched, prove

from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import catalogue, unverified
from tokbench_plugins.proofs import rows

UNVERIFIED = {"claude-3", "claude-opus-4.7", "qwen-3.5"}


@pytest.mark.packages
def test_every_published_name_has_one_row():
    published = catalogue(load_registry())
    assert [row["name"] for row in rows()] == list(published)
    for row in rows():
        assert row["carrier"].split(", ")[0] == str(published[row["name"]][0])


@pytest.mark.packages
def test_proved_names_differ_on_no_text():
    proved = [row for row in rows() if row["name"] in SOURCES]
    assert all(int(row["texts"]) >= 800 and row["differing"] == "0" and row["date"] for row in proved)
    assert all(row["held against"].startswith(SOURCES[row["name"]].what) for row in proved)
    assert {row["name"] for row in rows()} - set(SOURCES) == UNVERIFIED == unverified(load_registry())


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files", "data")
@pytest.mark.parametrize("name", ["llama-3", "mistral-7b-v3"])  # tests of their backends compare the others
def test_names_give_the_ids_of_their_source(name, tmp_path):
    pytest.importorskip("splintr")
    pytest.importorskip(SOURCES[name].package.removesuffix("-rs").replace("-", "_"))
    assert prove(name, Fetched(tmp_path)).differing == {}
