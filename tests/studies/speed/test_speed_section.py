"""The section on speed: the fastest first, with the rounds behind each number."""

from __future__ import annotations

from dataclasses import replace

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


def test_engines_that_return_other_things_are_ranked_apart():
    """Of the two that return lists the faster is best, although all that return arrays are faster."""
    results = build(hostile=False)
    lists = ["gpt4-4k", "gpt4-8k"]
    for name, info in list(results.tokenizers.items()):
        results.tokenizers[name] = replace(info, returns="lists" if name in lists else "arrays")
    results.metrics["encode_mb_per_s"] = replace(results.metrics["encode_mb_per_s"], by_output=True)
    tables = CellTables(results)
    best = tables.level_with_best("encode_mb_per_s", "pud")
    assert {results.tokenizers[name].returns for name in best} == {"arrays", "lists"}
    assert "gpt4-4k" in best
    [table] = nodes_of(next(iter(speed_panes(tables))), Table)
    shapes = [row.cells[1] for row in table.rows]
    assert shapes == sorted(shapes)
    assert [row.cells[0].value for row in table.rows if row.cells[1] == "lists"] == lists
