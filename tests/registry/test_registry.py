"""A stranger's package, really installed: the good plugin is usable, each broken one is a line with its reason."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tokbench.foundation.errors import InputError
from tokbench.plugin import BackendSpec, hookimpl
from tokbench.registry.parts import parts_of
from tokbench.registry.plugins import load_registry

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The sample package, built and installed into a folder of its own that stands on the path."""
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(site), str(HERE / "sample_plugin")], check=True, timeout=120)
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "250"}


def tokbench(env, *args, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "tokbench", *map(str, args)],
        env=env, cwd=cwd, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_list_tells_five_reasons_and_exits_0(installed):
    done = tokbench(installed, "list")
    assert done.returncode == 0, done.stderr
    lines = {
        line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("acme")
    }
    assert lines["acme"] == "acme-tokenizers 3.1 usable"
    assert "ModuleNotFoundError: No module named 'library_that_nobody_has'" in lines["acme-missing-library"]
    assert "RuntimeError: configured for the moon not for the earth" in lines["acme-import-error"]
    assert "hook 'register_backends'" in lines["acme-wrong-signature"]
    assert "colour" in lines["acme-wrong-signature"]
    assert "unknown hook 'register_tokenisers'" in lines["acme-unknown-hook"]
    assert "the backend 'tiktoken' is already there, from tokbench" in lines["acme-duplicate"]
    assert "acme_fresh" not in done.stdout, "of a plugin that clashes nothing is taken over"
    assert lines["acme_chunks"] == "acme-tokenizers chunks of characters"


@pytest.mark.slow
def test_the_good_plugin_works_and_reports_tell_of_the_others(installed, tmp_path):
    (tmp_path / "run.yaml").write_text(
        """schema: tokbench/1
name: acme
corpora: {h: {source: acme_haiku}}
tokenizers: {chunks: {backend: acme_chunks, size: 5}}
metrics: [compression, acme_longest]
report: {formats: [acme_txt, html, md]}
""",
        encoding="utf-8",
    )
    done = tokbench(installed, "run", "run.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "reports" / "acme"
    assert (folder / "acme.txt").read_text(encoding="utf-8") == "12 cells\n"
    for name in ("report.html", "report.md"):
        text = (folder / name).read_text(encoding="utf-8")
        for reason in ("library_that_nobody_has", "for the moon", "colour", "register_tokenisers", "is already there"):
            assert reason in text, (name, reason)
        assert "longest_document" in text


@pytest.mark.slow
def test_a_broken_plugin_s_backend_is_unknown(installed, tmp_path):
    (tmp_path / "run.yaml").write_text(
        "schema: tokbench/1\nname: x\ncorpora: {h: {source: acme_haiku}}\n"
        "tokenizers: {c: {backend: acme_fresh}}\nmetrics: [compression]\n",
        encoding="utf-8",
    )
    done = tokbench(installed, "check", "run.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "run.yaml:4:27: unknown backend 'acme_fresh'" in done.stderr


def check(env, folder, tokenizer):
    (folder / "run.yaml").write_text(
        "schema: tokbench/1\nname: x\ncorpora: {h: {source: sample}}\n"
        f"tokenizers: {{c: {{backend: {tokenizer}}}}}\nmetrics: [compression]\n",
        encoding="utf-8",
    )
    done = tokbench(env, "check", "run.yaml", cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["acme-missing-library", pytest.param("missing_library", marks=pytest.mark.slow)])
def test_a_backend_whose_plugin_did_not_load_is_told_with_the_reason(installed, tmp_path, name):
    code, said = check(installed, tmp_path, name)
    assert code == 2
    expected = (
        f"run.yaml:4:27: backend {name!r} may come from the plugin 'acme-missing-library' "
        "(acme_tokenizers.missing_library), which did not load: "
        "ModuleNotFoundError: No module named 'library_that_nobody_has'"
    )
    assert expected in said


def test_an_unknown_name_is_told_with_every_plugin_that_did_not_load(installed, tmp_path):
    code, said = check(installed, tmp_path, "acme_chunk")
    assert code == 2
    assert "unknown backend 'acme_chunk'; did you mean 'acme_chunks'? (plugins that did not load: " in said
    assert "'acme-import-error' (acme_tokenizers.import_error): RuntimeError: configured for the moon" in said


class FakeDistribution:
    def __init__(self, name):
        self.name, self.version = name, "1"


class Module:
    """An entry point whose module is this object."""

    def __init__(self, name, distribution, backend):
        self.name, self.value, self.dist, self.backend = name, f"{name}.module", FakeDistribution(distribution), backend

    def load(self):
        return self

    @hookimpl
    def register_backends(self, register):
        register(BackendSpec(name=self.backend, summary="of a test"))


def modules():
    return [Module("own", "tokbench", "ours"), Module("acme", "acme", "theirs"), Module("other", "acme", "more")]


def test_the_allow_list_loads_the_plugins_that_it_names(monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "acme, own")
    registry = load_registry(modules())
    assert sorted(registry.backends.entries) == ["ours", "theirs"]
    assert [(each.name, each.reason) for each in registry.plugins if each.reason] == [
        ("other", "not in TOKBENCH_PLUGINS")
    ]
    with pytest.raises(
        InputError, match=r"known: ours, theirs \(plugins left out by TOKBENCH_PLUGINS or TOKBENCH_NO_THIRD_PARTY: 1\)"
    ):
        registry.backends.get("zzz")


def test_an_unknown_name_in_the_allow_list_is_refused(monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "acmee")
    with pytest.raises(InputError, match=r"'acmee', which is not installed; did you mean 'acme'\?"):
        load_registry(modules())


def test_without_third_parties_only_tokbench_is_left(monkeypatch):
    monkeypatch.setenv("TOKBENCH_NO_THIRD_PARTY", "1")
    registry = load_registry(modules())
    assert list(registry.backends.entries) == ["ours"]
    assert {each.reason for each in registry.plugins if each.name != "own"} == {
        "not part of tokbench, and TOKBENCH_NO_THIRD_PARTY is set"
    }


def test_a_backend_of_a_plugin_that_is_left_out_says_so(monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "own")
    with pytest.raises(InputError, match=r"backend 'acme' may come from the plugin 'acme' \(acme.module\), which did"):
        load_registry(modules()).backends.get("acme")


class Folder(Module):
    """An entry point that brings what the modules of a package bring."""

    def __init__(self, package):
        super().__init__("folder", "acme", "")
        self.parts = parts_of(package)

    @hookimpl
    def register_backends(self, register):
        for spec in self.parts.specs():
            register(spec)

    @hookimpl
    def register_broken(self, register):
        for part in self.parts.broken:
            register(part)


def test_a_broken_module_of_a_folder_costs_itself_alone(tmp_path, monkeypatch):
    package = tmp_path / "many_parts"
    package.mkdir()
    spec = "from tokbench.plugin import BackendSpec\nSPEC = BackendSpec(name={!r}, summary='of a test')\n"
    several = (
        "from tokbench.plugin import BackendSpec\nSPECS = [BackendSpec(name=n, summary='x') for n in ('c', 'd')]\n"
    )
    files = {"__init__": "", "a": spec.format("a"), "b": "import many_parts.gone", "cd": several, "helper": ""}
    for name, text in files.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    loaded = load_registry([Folder(importlib.import_module("many_parts"))])
    assert list(loaded.backends.entries) == ["a", "c", "d"]
    reason = "ModuleNotFoundError: No module named 'many_parts.gone'"
    assert [(plugin.name, plugin.module, plugin.reason) for plugin in loaded.plugins] == [
        ("folder", "folder.module", ""),
        ("many_parts.b", "many_parts.b", reason),
    ]
    with pytest.raises(
        InputError, match=r"backend 'b' may come from the plugin 'many_parts.b' \(many_parts.b\), which"
    ):
        loaded.backends.get("b")
    for name in [name for name in sys.modules if name.partition(".")[0] == "many_parts"]:
        monkeypatch.delitem(sys.modules, name)
