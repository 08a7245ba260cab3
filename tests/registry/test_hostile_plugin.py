"""Faults of a plugin of another package, wherever it is called: they cost its own results, and are told."""

import pickle
import sys
from html import unescape
from itertools import product

import pytest
from hostile_plugin import FAULTS, PLACES
from hostile_runs import expect, start, wrong
from hostile_runs import install as install_hostile

from tokbench.measuring.study import StudyContext
from tokbench.registry.foreign import PackedState
from tokbench.registry.hosted_study import VALUES, HostedContext
from tokbench.registry.plugins import load_registry

SAMPLE = [
    ("zero", "import"), ("raise", "options"), ("crash", "raw"), ("untold", "study"), ("hang", "format"),
    ("interrupt", "command"),
]  # fmt: skip
"""Before a run, while it measures, and behind; all others are for the night."""


def test_a_plugin_of_another_package_is_not_imported_here(install, monkeypatch):
    install("own_plugins")
    monkeypatch.delitem(sys.modules, "own_plugins", raising=False)
    family = load_registry().metrics.get("characters")
    options = family.options(reference="fr")
    assert family.missing_members(options) == ""
    assert family.text(options).merge(PackedState(pickle.dumps(2)), PackedState(pickle.dumps(3))) == PackedState(
        pickle.dumps(5, pickle.HIGHEST_PROTOCOL)
    )
    assert family.options.model_json_schema()["properties"]["reference"]["default"] == "en"
    assert "own_plugins" not in sys.modules


def test_a_hosted_study_sees_all_of_a_run():
    members = {name for name in vars(StudyContext) if not name.startswith("_")}
    there = vars(HostedContext(distribution="", values=dict.fromkeys(VALUES), call=print)).keys() | vars(HostedContext)
    assert members <= there
    assert set(VALUES) <= members


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def installed(folder):
    environment = install_hostile(folder)
    assert not expect(folder, environment)
    return environment


@pytest.mark.slow
def test_without_a_fault_all_is_measured(folder, installed):
    code, said = start(folder, installed, "", "run", "full.yaml", "-o", str(folder / "sound"), "-w", "1")
    assert code == 0, said
    assert (folder / "sound" / "hostile.txt").read_text(encoding="utf-8").endswith(" cells")
    assert "Tokens: {'bytes': 6" in unescape((folder / "sound" / "report.html").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "place"), SAMPLE)
def test_a_fault_costs_its_own_results(folder, installed, fault, place):
    assert not wrong(folder, installed, fault, place)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(("fault", "place"), [case for case in product(FAULTS, PLACES) if case not in SAMPLE])
def test_no_fault_costs_a_neighbour(folder, installed, fault, place):
    assert not wrong(folder, installed, fault, place)
