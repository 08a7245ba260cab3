"""Suites that ship: they are found by name, a path that exists wins, and each works from anywhere."""

import os
from pathlib import Path

import pytest

import tokbench
from tokbench.config import suites
from tokbench.config.read import read_config
from tokbench.config.suites import find_config, find_configs, shipped_suites
from tokbench.foundation.errors import InputError

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.packages
def test_every_configuration_ships_with_a_summary():
    suites = shipped_suites()
    assert {path.stem for path in (REPOSITORY / "configs").glob("*.yaml")} <= set(suites)
    assert {"quickstart", "code", "multilingual", "vocab_size"} <= set(suites)
    for suite in suites.values():
        assert suite.summary, suite.name
    assert {name for name, suite in suites.items() if suite.needs_data} >= {"words", "pud", "engines-pud"}
    assert not suites["quickstart"].needs_data
    assert not suites["multilingual"].needs_data, "a comment that names the folder is no need"


@pytest.mark.parametrize("name", shipped_suites())
def test_a_suite_is_right_and_its_copy_says_the_same_anywhere(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKBENCH_TEST_DATA", os.environ.get("TOKBENCH_TEST_DATA", "/nowhere"))
    monkeypatch.chdir(tmp_path)
    suite = read_config(Path(name))
    assert suite.problems == []
    assert suite.name == name
    copy = tmp_path / "copy.yaml"
    copy.write_text(suite.text, encoding="utf-8")
    copied = read_config(copy)
    assert copied.problems == []
    assert copied.located.data == suite.located.data
    local = [entry.options.get("path", "") for entry in [*suite.corpora.values(), *suite.tokenizers.values()]]
    assert all(not path or path.startswith("${TOKBENCH_TEST_DATA}/") for path in local), "a path needs no folder"


@pytest.mark.packages
def test_a_path_that_exists_wins_over_a_name(tmp_path, monkeypatch, write_config):
    monkeypatch.chdir(tmp_path)
    assert find_config(Path("probes")) == shipped_suites()["probes"].path
    Path("probes").write_bytes(write_config().read_bytes())
    assert find_config(Path("probes")) == Path("probes")
    assert read_config(Path("probes")).name == "test"


@pytest.mark.packages
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("quikstart", "no such file, and no shipped suite is called 'quikstart'; did you mean 'quickstart'? Known: adapt, "),
        ("quickstart.yaml", "quickstart.yaml: no such file; the shipped suite is called 'quickstart'"),
        ("nothing.yaml", "nothing.yaml: cannot be read: No such file or directory"),
        ("code", "code: is a folder, not a configuration; 'tokbench new code' writes the shipped suite of this name"),
    ],
)  # fmt: skip
def test_what_is_not_found_is_told(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("code").mkdir()
    with pytest.raises(InputError) as caught:
        tokbench.run(given)
    assert str(caught.value).startswith(message), str(caught.value)


def test_a_folder_stands_for_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.yml", "a.yaml", "_base.yaml", ".hidden.yaml", "notes.txt", "inner/c.yaml"):
        Path("code", name).parent.mkdir(parents=True, exist_ok=True)
        Path("code", name).write_text("", encoding="utf-8")
    assert find_configs([Path("x.yaml"), Path("code"), Path("probes")]) == [
        *(Path("x.yaml"), Path("code/a.yaml"), Path("code/b.yml"), Path("probes")),
    ]
    Path("words").mkdir()
    with pytest.raises(InputError) as caught:
        find_configs([Path("words")])
    assert str(caught.value).startswith("words: a folder without a configuration: no file ends with .yaml or .yml")
    assert str(caught.value).endswith("; 'tokbench new words' writes the shipped suite of this name to a file")


def test_a_bad_suite_of_a_package_costs_that_suite_alone(tmp_path, monkeypatch, caplog):
    configs = tmp_path / "configs"
    (configs / "folder.yaml").mkdir(parents=True)
    (configs / "latin.yaml").write_bytes(b"# caf\xe9\n")
    (configs / "good.yaml").write_text("# Good.\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(configs / "pipe.yaml")
    monkeypatch.setattr(suites, "_folders_of_packages", lambda: [configs])
    shipped_suites.cache_clear()
    try:
        found = shipped_suites()
    finally:
        shipped_suites.cache_clear()
    assert {"good", "quickstart"} <= found.keys()
    assert not found.keys() & {"folder", "latin", "pipe"}
    assert len(caplog.messages) == 2 + hasattr(os, "mkfifo")
