"""The engines: a short text never waits for numba, and training works without it."""

import pytest

import tokbench
from tokbench.foundation import jit
from tokbench.foundation.jit import has_numba
from tokbench_plugins.bpe import engines
from tokbench_plugins.bpe.engines import train


def test_wrong_arguments():
    with pytest.raises(ValueError, match="is 255; give 256"):
        train(["text"], 255, None)
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
