"""The entry: every engine gives the same merges, and a short text never waits for numba."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe import engines
from tokbench_plugins.bpe.compiled import jit
from tokbench_plugins.bpe.compiled.jit import has_numba
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.bpe.literal import train_literally
from tokbench_plugins.bpe.patterns import Splitter

ENGINES = ["python", pytest.param("numba", marks=pytest.mark.skipif(not has_numba(), reason="no numba"))]
DOCUMENTS = st.lists(st.one_of(st.text(alphabet="ab", max_size=60), st.text(max_size=30)), max_size=6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tie", ["first", "smallest"])
@pytest.mark.parametrize("pattern", [None, "gpt4", r"[^b]+"])
@settings(deadline=None)
@given(documents=DOCUMENTS)
def test_engines_equal_the_literal_loop(engine, tie, pattern, documents):
    split = Splitter(pattern)
    chunks = [chunk.encode() for document in documents for chunk in split(document)]
    assert train(iter(documents), 290, pattern, tie=tie, engine=engine) == train_literally(chunks, 290, tie)


@pytest.mark.parametrize("engine", ENGINES)
def test_wrong_arguments(engine):
    with pytest.raises(ValueError, match="256 bytes alone"):
        train(["text"], 255, None, engine=engine)
    with pytest.raises(ValueError, match="did you mean 'gpt4'"):
        train(["text"], 300, "gpt-4", engine=engine)


def test_a_short_text_is_trained_in_python(monkeypatch):
    monkeypatch.setattr(engines, "has_numba", lambda: pytest.fail("asked for numba"))
    assert train(["abab"] * 100, 257, None) == [(97, 98)]


@pytest.mark.skipif(not has_numba(), reason="no numba")
def test_a_long_text_is_trained_by_numba(monkeypatch):
    monkeypatch.setattr(engines, "_LONG_SPLIT", 10)
    monkeypatch.setattr(engines, "train_merges", lambda *_: pytest.fail("trained in Python"))
    taken = []
    assert train((taken.append(n) or "ab ab" for n in range(5)), 258, "gpt4") == [(97, 98), (32, 256)]
    assert taken == [0, 1, 2, 3, 4]


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
        assert "speed is lost" in caplog.text
    finally:
        has_numba.cache_clear()
