"""A configuration given as a mapping in Python: the same checks, and messages that name a value by its keys."""

from pathlib import Path

import numpy as np
import pytest

import tokbench
from tokbench.config.read import config_of
from tokbench.foundation.errors import InputError

CONFIG = {
    "schema": "tokbench/1",
    "name": "mine",
    "corpora": {"c": {"source": "text", "path": Path("?.txt"), "document": "line"}},
    "tokenizers": {"bytes": {"backend": "utf8_bytes"}, "no": {"backend": "utf16_units"}},
    "metrics": ("compression", {"fertility": {"unit": "whitespace"}}),
}


def test_a_mapping_gives_the_numbers_of_a_file(tmp_path, monkeypatch, corpus):
    monkeypatch.chdir(tmp_path)
    results = tokbench.run(CONFIG, tmp_path / "out", workers=0, limit=np.int64(1).item(), only=["no"])
    (tmp_path / "run.yaml").write_text(results.config.text, encoding="utf-8")
    again = tokbench.run(tmp_path / "run.yaml", workers=0, limit=1, only=["no"])
    assert results.cells == again.cells != []
    assert {cell.tokenizer for cell in results.cells} == {"no"}  # a word that YAML 1.1 would take for false
    assert (tmp_path / "out" / "results.csv").exists()


def test_messages_name_the_keys(tmp_path, monkeypatch, corpus):
    monkeypatch.chdir(tmp_path)
    config = CONFIG | {
        "tokenizers": {"a": {"backend": "utf8_bites"}, "b": {"backend": "tiktoken", "encodin": "gpt2"}},
        "metrics": ["compresion"],
        "limit": 3,
    }
    with pytest.raises(InputError) as caught:
        tokbench.run(config, workers=0)
    found = {problem.where: problem.message for problem in caught.value.problems}
    assert found["tokenizers.a.backend"] == "unknown backend 'utf8_bites'; did you mean 'utf8_bytes'?"
    assert set(found) == {"limit", "tokenizers.a.backend", "tokenizers.b.encodin", "metrics.0"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "object is not a string, a number, a list or a mapping"),
        (float("nan"), "Out of range float values are not JSON compliant"),
        ({1, 2}, "set is not a string"),
    ],
)
def test_other_values_are_refused(value, message):
    with pytest.raises(InputError, match=f"the configuration cannot be written as YAML: .*{message}"):
        config_of(CONFIG | {"name": value})
