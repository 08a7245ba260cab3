"""The packages of plugins/: each builds alone, brings what packages.json says, and is named where it is missing."""

import ast
import doctest
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions, entry_points
from pathlib import Path

import pytest
from click.testing import CliRunner
from package_names import installed

from tokbench import command as command_door
from tokbench import plugin
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench.foundation.packages import FILE, GONE, packages
from tokbench.plugin import metrics, report, timing
from tokbench.registry.plugins import load_registry
from tokbench_plugins import bpe

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml") if path.parent.name != "template")
DOOR = {
    "tokbench.command": command_door,
    "tokbench.plugin": plugin,
    "tokbench.plugin.metrics": metrics,
    "tokbench.plugin.report": report,
    "tokbench.plugin.timing": timing,
    "tokbench_plugins.bpe": bpe,
}
WIDEST = dict(zip(DOOR, (13, 40, 40, 30, 10, 30), strict=True))
ALIASES = {"plugin": "tokbench.plugin", "tokbench.plugin": "tokbench.plugin", "timing": "tokbench.plugin.timing"}
ALIASES |= {"metrics": "tokbench.plugin.metrics", "doc": "tokbench.plugin.report"}
"""How modules of the door are called where much of them is used."""
ROOMS = [ROOT / "tokbench" / room for room in ("formats", "metrics", "sources", "studies")]
HERE = {distribution.name for distribution in distributions()} & set(packages())


@pytest.mark.packages
def test_what_packages_bring_is_up_to_date():
    """To write it again: ``python .ci/package_names.py``, with all packages installed."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))
    assert {f"tokbench-{folder.name}" for folder in FOLDERS} == set(listed)
    assert installed() == {name: listed[name] for name in sorted(HERE)}


@pytest.mark.parametrize("package", sorted(packages()))
def test_without_a_package_all_else_is_there_and_its_names_say_what_to_install(package):
    left = [entry for entry in entry_points(group="tokbench") if entry.dist.name != package]
    registry = load_registry(left)
    assert [plugin.name for plugin in registry.plugins if plugin.reason] == []
    for catalogue in registry.catalogues:
        for name in packages()[package].get(catalogue.kind, ()):
            with pytest.raises(InputError, match=f"pip install {package} "):
                catalogue.get(name)


def test_list_shows_what_is_not_installed(monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines")
    shown = CliRunner().invoke(command, ["list", "executors", "--all"]).output
    assert "pip install tokbench-executors" in shown
    assert "tokbench-executors" not in CliRunner().invoke(command, ["list", "executors"]).output
    [futures] = json.loads(CliRunner().invoke(command, ["list", "executors", "--all", "--json"]).stdout)["executors"]
    assert (futures["name"], futures["origin"]) == ("futures", "tokbench-executors")
    assert futures["reason"]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_package_is_built_alone_and_lists_what_it_brings(folder, tmp_path):
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", str(tmp_path), str(folder)], check=True, timeout=120)
    assert list(tmp_path.glob(f"tokbench_{folder.name}*"))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "tokbench", "list", "--json"]
    listed = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60).stdout)
    names = {entry["name"] for kind in listed.values() for entry in kind}
    brought = packages()[f"tokbench-{folder.name}"]
    unlisted = {"command", "section"}
    assert names.issuperset(name for kind, some in brought.items() if kind not in unlisted for name in some)
    for name in brought.get("command", ()):
        subprocess.run([*command[:3], name, "--help"], env=environment, capture_output=True, check=True, timeout=60)


def imports(folder):
    """Yield the module and the name of every import of tokbench and of its plugins in a folder."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names if alias.name.startswith("tokbench"))
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ALIASES:
                yield ALIASES[ast.unparse(node.value)], node.attr
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tokbench"):
                for alias in node.names:
                    is_module = (ROOT / node.module.replace(".", "/") / f"{alias.name}.py").exists()
                    yield (f"{node.module}.{alias.name}", "") if is_module else (node.module, alias.name)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_package_needs_the_door_and_what_it_lists(folder):
    """``beyond-the-door`` in its pyproject.toml names the modules that it needs alone, and that may change any day."""
    with (folder / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["tool"]["tokbench"]["beyond-the-door"]
    own = f"tokbench_{folder.name}"
    found = {module for module, _ in imports(folder / own) if module.split(".")[0] != own}
    assert sorted(found - {*DOOR, "tokbench"}) == listed


def test_the_examples_of_the_door_run():
    page = ROOT / "plugins" / "door.md"
    ran = doctest.testfile(str(page), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert (ran.failed, ran.attempted > 60) == (0, True)


def test_the_door_is_narrow_and_packages_use_every_name():
    strangers = [ROOT / "plugins/template", ROOT / "tests/helpers", ROOT / "tests/sample_plugin"]
    used = set()
    for folder in (*FOLDERS, *ROOMS, ROOT / "plugins/tokbench_plugins", *strangers):
        used |= {name for _, name in imports(folder)}
    for module, most in WIDEST.items():
        names = set(DOOR[module].__all__)
        assert len(names) <= most
        assert names - used - {"ask_each", "Log"} == set(), module  # the guide has the one, types the other


def test_what_went_is_known_no_more_and_in_the_table_of_what_replaces_it():
    page = (ROOT / ".github" / "COMPATIBILITY.md").read_text(encoding="utf-8").partition("## What went")[2]
    gone = json.loads(GONE.read_text(encoding="utf-8"))
    assert [name for names in gone.values() for name in names if name not in page] == []
    registry = load_registry()
    for catalogue in registry.catalogues:
        for name, replacement in gone.get(catalogue.kind, {}).items():
            with pytest.raises(InputError, match=f"{catalogue.kind} '{name}' is gone: {re.escape(replacement)}"):
                catalogue.get(name)
