"""The index of plugins: it is kept until something changes that it rests on."""

import importlib
import sys

import pytest

from tokbench.foundation.store import open_store
from tokbench.registry import index as module_of_index
from tokbench.registry.index import plugin_index
from tokbench.registry.plugins import load_registry


@pytest.fixture
def own_store(tmp_path, monkeypatch):
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path))
    return open_store()


def test_the_index_of_plugins_is_kept_until_a_file_of_theirs_changes(own_store, tmp_path, monkeypatch):
    module = tmp_path / "plugin_part.py"
    module.write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("plugin_part")
    loaded = []
    monkeypatch.setattr(module_of_index, "load_registry", lambda entries: loaded.append(1) or load_registry(entries))
    first = plugin_index()
    assert "utf8_bytes" in [plugin.name for plugin in first.listed["backends"]]
    assert plugin_index() == first
    assert len(loaded) == 1
    module.write_text("changed = True", encoding="utf-8")
    assert plugin_index() == first
    assert len(loaded) == 2
    monkeypatch.setenv("TOKBENCH_PLUGINS", "reports")
    assert not plugin_index().listed["backends"]
    assert len(loaded) == 3
    monkeypatch.delitem(sys.modules, "plugin_part")


def test_the_index_is_not_kept_beside_plugins_of_others(own_store, tmp_path, monkeypatch):
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[tokbench]\nstranger = no_such_module\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    [status] = [plugin for plugin in plugin_index().plugins if plugin.name == "stranger"]
    assert "no_such_module" in status.reason
    assert not list(own_store.entries())
