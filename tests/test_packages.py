"""The packages of plugins/: each builds alone, brings what packages.json says, and is named where it is missing."""

import json
import os
import subprocess
import sys
from importlib.metadata import distributions, entry_points
from pathlib import Path

import pytest
from click.testing import CliRunner
from package_names import installed

from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench.foundation.packages import FILE, packages
from tokbench.registry.plugins import load_registry

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml") if path.parent.name != "template")
HERE = {found.name for found in distributions()} & set(packages())


def test_what_packages_bring_is_up_to_date():
    """To write it again: ``python tests/helpers/package_names.py``, with all packages installed."""
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
    assert "pip install tokbench-cluster" in shown
    assert "tokbench-cluster" not in CliRunner().invoke(command, ["list", "executors"]).output
    [dask] = json.loads(CliRunner().invoke(command, ["list", "executors", "--all", "--json"]).stdout)["executors"]
    assert (dask["name"], dask["origin"]) == ("dask", "tokbench-cluster")
    assert dask["reason"]


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
    assert names.issuperset(name for some in packages()[f"tokbench-{folder.name}"].values() for name in some)
