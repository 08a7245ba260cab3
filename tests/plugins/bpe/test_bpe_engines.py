"""The engines: each gives the same merges, a short text never waits for numba, and ``literal`` shows its work."""

import platform
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.foundation import jit
from tokbench.foundation.jit import has_numba
from tokbench_plugins.bpe import BPETokenizer, engines
from tokbench_plugins.bpe.engines import train

DOCUMENTS = st.lists(st.one_of(st.text(alphabet="ab", max_size=60), st.text(max_size=30)), max_size=6)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="256 bytes alone"):
        train(["text"], 255, None, engine="literal")
    with pytest.raises(ValueError, match="did you mean 'gpt4'"):
        train(["text"], 300, "gpt-4", engine="python")


def test_a_short_text_is_trained_in_python(monkeypatch):
    monkeypatch.setattr(engines, "has_numba", lambda: pytest.fail("asked for numba"))
    assert train(["abab"] * 100, 257, None) == [(97, 98)]


def test_without_numba(monkeypatch):
    monkeypatch.setattr(engines, "has_numba", lambda: False)
    monkeypatch.setattr(engines, "_LONG_NAIVE", 1)
    assert train(["abab"], 257, None) == [(97, 98)]
    with pytest.raises(tokbench.BackendUnavailable, match="pip install"):
        train(["abab"], 257, None, engine="numba")


def test_a_numba_that_cannot_be_imported_costs_speed_only(monkeypatch, caplog):
    def broken(_name):
        raise ImportError("needs an older NumPy")

    has_numba.cache_clear()
    monkeypatch.setattr(jit, "import_module", broken)
    monkeypatch.setattr(jit, "find_spec", lambda name: name)
    try:
        assert not has_numba()
        assert "needs an older NumPy" in caplog.text
    finally:
        has_numba.cache_clear()


LOW = "low low lower low low"
SHOWN = [
    "merge 1 of 4: b'l' + b'o' = b'lo', id 256, 5 times",
    "merge 2 of 4: b'lo' + b'w' = b'low', id 257, 5 times",
    "merge 3 of 4: b' ' + b'low' = b' low', id 258, 4 times",
    "merge 4 of 4: b' low' + b'e' = b' lowe', id 259, 1 times",
]


def test_the_literal_engine_shows_each_merge(caplog):
    caplog.set_level("INFO", "tokbench")
    done = []
    merges = train([LOW], 260, "gpt4", lambda *step: done.append(step), engine="literal")
    assert merges == train([LOW], 260, "gpt4")
    assert caplog.messages == SHOWN
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]


@settings(deadline=None, max_examples=20)
@given(pattern=st.sampled_from([None, "gpt4"]), documents=DOCUMENTS)
def test_the_literal_engine_gives_the_same_ids(pattern, documents):
    merges = train(documents, 280, pattern)
    literal, python = (BPETokenizer(merges, pattern, engine=engine) for engine in ("literal", "python"))
    assert literal.encode_batch(documents).ids.tolist() == python.encode_batch(documents).ids.tolist()
    assert [*map(literal.encode, documents)] == [*map(python.encode, documents)]


@pytest.mark.slow
def test_a_run_with_the_literal_engine_shows_its_merges(tmp_path):
    """From YAML, in the worker that trains, to the standard error of the user; and in the notes of the results."""
    (tmp_path / "low.txt").write_text(LOW, encoding="utf-8")
    names = ("python", "literal")
    lines = (f"  {e}: {{backend: regex_bpe, engine: {e}, train: {{corpus: c, vocab_size: 260}}}}" for e in names)
    (tmp_path / "run.yaml").write_text(
        "schema: tokbench/1\nname: test\ncorpora:\n  c: {source: text, path: low.txt, document: line}\ntokenizers:\n"
        + "\n".join(lines)
        + "\nmetrics: [compression]\nreport: {formats: [csv]}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "tokbench", "run", "run.yaml", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if line.startswith("merge ")] == SHOWN
    results = tokbench.Results.read(tmp_path / "out" / "results.json")
    tokens = {c.tokenizer: c.value for c in results.cells if c.metric == "tokens" and c.group == "*"}
    assert tokens == {"python": 6, "literal": 6}
    engines_of = {name: each.engine for name, each in results.tokenizers.items()}
    assert engines_of == {name: f"{name} (CPython {platform.python_version()})" for name in names}
    assert sum("textbook loop" in note for each in results.tokenizers.values() for note in each.notes) == 1
