"""The plugin as tokbench sees it, once it is installed."""

from pathlib import Path

import tokbench.testing.metrics
from click.testing import CliRunner
from my_tokbench_plugin.command import tally
from my_tokbench_plugin.metric import SPEC as WORD_STARTS
from my_tokbench_plugin.study import INDENTS

test_conformance = tokbench.testing.conformance("words", words=["egg"])

CONFIG = """
schema: tokbench/1
name: mine
corpora: {table: {source: csv_table, path: table.csv}}
tokenizers: {words: {backend: words, words: [bc]}}
metrics: [compression, word_starts, roundtrip]
study: {indents: {widths: [2, 4], line: x}}
report: {formats: [tex, md]}
"""


def test_the_metric_is_sound() -> None:
    tokbench.testing.metrics.check_metric(WORD_STARTS)


def test_a_run(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("language,text\nen,a bc\nfi,ab c\n", encoding="utf-8")
    (tmp_path / "run.yaml").write_text(CONFIG, encoding="utf-8")
    results = tokbench.run(tmp_path / "run.yaml", tmp_path / "out")
    values = {(cell.group, cell.metric): cell.value for cell in results.cells}
    assert values["en", "word_starts"] == 0.5  # a| bc
    assert values["fi", "word_starts"] == 0.25  # a|b| |c
    assert values["*", "roundtrip_exact"] == 1
    assert (tmp_path / "out" / "compression.tex").read_text(encoding="utf-8").splitlines()[2] == "words & 1.33 \\\\"
    assert results.studies.get(INDENTS).tokens == {"words": [3, 5]}
    assert "| words | 3 | 5 |" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("née\n", encoding="utf-8")
    done = CliRunner().invoke(tally, [str(tmp_path), "-t", "utf8_bytes", "--json"])
    assert done.stdout.split() == ["{", '"en":', "4", "}"]
