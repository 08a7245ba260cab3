"""A stranger's package, really installed: the good plugin is usable, each broken one is a line with its reason."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from shared_fixtures import problems

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench.plugin import BackendSpec, CorpusSpec, hookimpl
from tokbench.registry.plugins import load_registry

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The sample package, built and installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(HERE / "sample_plugin")], check=True, timeout=120)
    return folder


@pytest.fixture
def installed(site, monkeypatch):
    monkeypatch.syspath_prepend(site)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_list_tells_five_reasons_and_exits_0():
    done = CliRunner(env={"COLUMNS": "250"}).invoke(command, ["list"])
    assert done.exit_code == 0
    lines = {
        line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("acme")
    }
    assert lines["acme"] == "acme-tokenizers 3.1 usable"
    assert "No module named 'library_that_nobody_has'" in lines["acme-missing-library"]
    assert "RuntimeError: configured for the moon not for the earth" in lines["acme-import-error"]
    assert "hook 'register_backends'" in lines["acme-wrong-signature"]
    assert "unknown hook 'register_tokenisers'" in lines["acme-unknown-hook"]
    assert "the backend 'tiktoken' is already there, from tokbench" in lines["acme-duplicate"]
    assert "acme_fresh" not in done.stdout, "of a plugin that clashes nothing is taken over"
    assert lines["acme_chunks"] == "acme-tokenizers chunks of characters"


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_the_good_plugin_works_and_reports_name_the_others(write_config, tmp_path):
    config = write_config(
        "  h: {source: acme_haiku}", "  c: {backend: acme_chunks, size: 5}", "[acme_longest]", "[acme_txt, md]"
    )
    tokbench.run(config, tmp_path / "out", workers=0)
    assert (tmp_path / "out" / "acme.txt").read_text(encoding="utf-8").endswith(" cells\n")
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    for reason in ("library_that_nobody_has", "for the moon", "register_tokenisers", "is already there"):
        assert reason in text
    assert "longest_document" in text


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing_library", "may come from the plugin 'acme-missing-library' (acme_tokenizers.missing_library), which"),
        ("acme_fresh", "'acme-import-error' (acme_tokenizers.import_error): RuntimeError"),
        ("acme_chunk", "did you mean 'acme_chunks'? (plugins that did not load: "),
    ],
)
def test_an_unknown_backend_says_what_did_not_load(write_config, name, said):
    [line] = problems(write_config(tokenizers=f"  c: {{backend: {name}}}"))
    assert line.startswith("run.yaml:6:16: ")
    assert said in line


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
    assert [(plugin.name, plugin.reason) for plugin in registry.plugins if plugin.reason] == [
        ("other", "not in TOKBENCH_PLUGINS")
    ]
    with pytest.raises(
        InputError, match=r"known: ours, theirs \(plugins left out by TOKBENCH_PLUGINS or TOKBENCH_NO_THIRD_PARTY: 1\)"
    ):
        registry.backends.get("zzz")


def test_without_third_parties_only_tokbench_is_left(monkeypatch):
    monkeypatch.setenv("TOKBENCH_NO_THIRD_PARTY", "1")
    registry = load_registry(modules())
    assert list(registry.backends.entries) == ["ours"]
    assert {plugin.reason for plugin in registry.plugins if plugin.name != "own"} == {
        "not part of tokbench, and TOKBENCH_NO_THIRD_PARTY is set"
    }


class Given(Module):
    """An entry point that names a module or a package."""

    def __init__(self, module):
        super().__init__("folder", "acme", "")
        self.module_of_it = module

    def load(self):
        return self.module_of_it


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            BackendSpec(name="b", summary="", train=lambda documents, size: None),
            "train(documents, size) must take (documents, vocab_size, options, progress)",
        ),
        (BackendSpec(name="b", summary="", load=lambda: None), "load() must take (options)"),
        (CorpusSpec(name="c", summary="", open="file"), "open is not a function: 'file'"),
        ("text", "SPEC or SPECS has a str"),
    ],
)
def test_a_wrong_signature_is_told_at_registration(spec, message):
    registry = load_registry([Given(SimpleNamespace(SPEC=spec))])
    [plugin] = registry.plugins
    assert message in plugin.reason
    assert [*registry.backends] == []


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
    loaded = load_registry([Given(importlib.import_module("many_parts"))])
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
