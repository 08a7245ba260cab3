"""The section on speed: the fastest first, with the rounds behind each number."""

from __future__ import annotations

from document_tree import nodes_of
from report_data import build

from tokbench.report.document import Table
from tokbench.report.tables import CellTables
from tokbench.studies.speed.section import speed_panes


def test_speed_is_sorted_and_rests_on_rounds():
    pud, code = speed_panes(CellTables(build(hostile=False)))
    assert (pud.name, code.name) == ("speed on pud", "speed on code")
    [table] = nodes_of(pud, Table)
    name, _, _, _, encoding_rounds, _, _, decoding_rounds, _ = table.rows[0].cells
    assert (name.value, encoding_rounds.value, decoding_rounds.value) == ("utf8-bytes", 10, 10)
    assert table.rows[-1].cells[0].value == "naive-4k"
