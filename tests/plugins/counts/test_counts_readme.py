"""The README of counts: its commands and its configuration run."""

import shlex

import pytest
from click.testing import CliRunner
from readme_tables import ROOT
from test_readme import blocks

from tokbench.cli.main import tokbench as command

README = ROOT / "plugins" / "tokbench_plugins" / "counts" / "README.md"

pytest.importorskip("duckdb")
pytest.importorskip("numba")
pytest.importorskip("sentencepiece")


@pytest.mark.slow
def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    pytest.importorskip("splintr")
    monkeypatch.chdir(tmp_path)
    for folder in ("monday", "tuesday", "test"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(f"{folder}: low lower newer wide\n" * 20)
    (tmp_path / "counted.yaml").write_text(blocks(README, "yaml")[0])
    lines = [line for block in blocks(README, "sh") for line in block.splitlines() if "parts/" not in line]
    assert len(lines) == 6
    for line in lines:
        done = CliRunner().invoke(command, shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.output)
    assert {path.name for path in tmp_path.glob("*.counts")} == {
        *("monday.counts", "tuesday.counts", "all.counts", "words.counts")
    }
