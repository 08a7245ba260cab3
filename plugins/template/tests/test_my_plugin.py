"""The plugin as tokbench sees it, once it is installed."""

from pathlib import Path

import tokbench.testing
from my_tokbench_plugin.study import INDENTS

test_conformance = tokbench.testing.conformance("chunks", size=2)

CONFIG = """
schema: tokbench/1
name: mine
corpora: {table: {source: csv_table, path: table.csv}}
tokenizers: {chunks: {backend: chunks, size: 2}}
metrics: [compression, word_starts, roundtrip]
study: {indents: {widths: [2, 4], line: x}}
report: {formats: [tex, md]}
"""


def test_a_run(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("language,text\nen,a bc\nfi,ab c\n", encoding="utf-8")
    (tmp_path / "run.yaml").write_text(CONFIG, encoding="utf-8")
    results = tokbench.run(tmp_path / "run.yaml", tmp_path / "out")
    values = {(cell.group, cell.metric): cell.value for cell in results.cells}
    assert values["en", "word_starts"] == 0  # a_ bc
    assert values["fi", "word_starts"] == 0.5  # ab _c
    assert values["*", "roundtrip_exact"] == 1
    assert (tmp_path / "out" / "compression.tex").read_text(encoding="utf-8").splitlines()[2] == "chunks & 2.00 \\\\"
    assert results.studies.get(INDENTS).tokens == {"chunks": [2, 3]}
    assert "| chunks | 2 | 3 |" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
