"""Cells in columns: written short, read back as they were, in their order, and refused if they are damaged."""

import json
import random
from dataclasses import replace

import pytest
import report_data

from tokbench.foundation.errors import ResultsError
from tokbench.results.cell_table import cell_table, cells_of
from tokbench.results.cells import WHOLE, Cell, Status
from tokbench.results.model import SCHEMA, Results


def back(cells):
    """Return cells that were written and read again."""
    return cells_of(json.loads(json.dumps(cell_table(cells), allow_nan=False)))


def grid(tokenizers, groups, metrics):
    """Return the cells of a run, in its order, with numbers of 16 digits."""
    rng = random.Random(7)
    return [
        Cell(name, "c", group, metric, value := rng.uniform(1, 9), "bytes/token", value * 0.99, value * 1.01, 30 + k)
        for name in tokenizers
        for k, group in enumerate(groups)
        for metric in metrics
    ]


def test_hostile_names_come_back():
    cells = report_data.build().cells
    floats = [cell if cell.value is None else replace(cell, value=float(cell.value)) for cell in cells]
    assert list(map(repr, back(cells))) == list(map(repr, floats))


@pytest.mark.parametrize("seed", range(20))
def test_any_list_of_cells_comes_back_exactly(seed):
    rng = random.Random(seed)
    numbers = (0.0, -0.0, 1.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, None, 2 / 3)
    cells = [
        Cell(
            *(rng.choice(names) for names in ("ab", "cd", ["x", "y", WHOLE, "script: Latin"], "lmn")),
            value=rng.choice(numbers), unit=rng.choice(["", "bytes"]), ci_low=rng.choice(numbers),
            ci_high=rng.choice(numbers), n=rng.choice([0, 1, 2**60]), status=rng.choice(list(Status)),
            reason=rng.choice(["", "why"]), in_sample=rng.choice(numbers), measured=rng.choice(numbers),
        )
        for _ in range(rng.choice([0, 1, 2, 60]))
    ]  # fmt: skip
    if seed % 2:
        cells.sort(key=lambda cell: (cell.tokenizer, cell.corpus, cell.group, cell.metric))
    assert list(map(repr, back(cells))) == list(map(repr, cells))


def test_rows_are_interleaved_group_by_group():
    cells = grid(["one", "two"], ["en", "de", WHOLE], ["m", "l"])
    cells += [Cell("two", "c", group, "late", 1.0) for group in ("en", WHOLE)]
    rows = cell_table(cells)["rows"]
    assert [(row["tokenizer"], row["metric"], row.get("apart", False)) for row in rows] == [
        ("one", "m", False), ("one", "l", False), ("two", "m", False), ("two", "l", False), ("two", "late", True)
    ]  # fmt: skip
    assert back(cells) == cells


def test_what_rows_share_is_written_once():
    names, groups = [f"t{k}" for k in range(40)], [f"g{k}" for k in range(50)]
    cells = grid(names, groups, ["one", "two", "three"])
    cells += [Cell("z", "c", group, f"zero{k}", 0.0, "documents", n=k) for k in range(20) for group in groups]
    table = cell_table(cells)
    assert len(table["columns"]) == 2  # the groups, and the numbers of documents
    assert table["rows"][-1] == {
        "tokenizer": "z", "corpus": "c", "metric": "zero19", "apart": True, "group": {"column": 0}, "value": 0.0,
        "unit": "documents", "n": 19,
    }  # fmt: skip
    digits = sum(len(json.dumps(getattr(cell, end))) for cell in cells[:6000] for end in ("value", "ci_low", "ci_high"))
    assert len(Results(name="r", cells=cells).to_json()) < 1.25 * digits


def test_a_row_stands_on_a_line_of_its_own():
    lines = Results(name="r", cells=grid(["one", "two"], ["en", WHOLE], ["m"])).to_json().splitlines()
    rows = [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"tokenizer": ')]
    assert [row["tokenizer"] for row in rows] == ["one", "two"]


ROW = {"tokenizer": "t", "corpus": "c", "metric": "m", "group": ["en", "*"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": [1.0]}, "cells.rows.0.value: has 1 entries for 2 groups"),
        ({"value": "1"}, "cells.rows.0.value: is of type str, but must be NoneType or float or int"),
        ({"value": [True, 1.0]}, "cells.rows.0.value: is of type bool, but must be NoneType or float or int"),
        ({"value": 10**400}, "cells.int too large to convert to float"),
        ({"n": 1.5}, "cells.rows.0.n: is of type float, but must be int"),
        ({"n": {"column": 9}}, "cells.rows.0.n: is not the number of one of the 1 columns"),
        ({"n": {"column": 0}}, "cells.rows.0.n: is of type str, but must be int"),
        ({"n": {"column": -1}}, "cells.rows.0.n: is not the number of one of the 1 columns"),
        ({"unit": {"column": 0, "more": 1}}, "cells.rows.0.unit: is not the number of one of the 1 columns"),
        ({"status": "fine"}, "cells.rows.0.status: 'fine' is none of ok, unavailable, failed, timeout, not_applicable"),
        ({"group": "zz"}, "cells.rows.0.group: 'zz' is not among the groups of the table"),
        ({"apart": "yes"}, "cells.rows.0.apart: is of type str, but must be bool"),
        ({"colour": "red"}, "cells.rows.0.colour: is not part of the schema"),
        ({"tokenizer": 3}, "cells.rows.0: is of type int, but must be str"),
    ],
)
def test_a_damaged_row_is_refused_with_its_place(tmp_path, changes, message):
    table = {"groups": ["en", "*"], "columns": [["a", "b"]], "rows": [ROW | changes]}
    assert refused(tmp_path, table) == message


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"rows": []}, "cells.must have 'groups', 'columns' and 'rows', and nothing else"),
        ({"groups": [], "columns": {}, "rows": []}, "cells.columns: must be a list"),
        ({"groups": [1], "columns": [], "rows": []}, "cells.groups: is of type int, but must be str"),
        ({"groups": [], "columns": [], "rows": [[]]}, "cells.rows.0: must be an object"),
        ({"groups": [], "columns": [], "rows": [{}]}, "cells.rows.0.tokenizer: is missing"),
        (
            {"groups": ["*"], "columns": [3], "rows": [ROW | {"group": {"column": 0}}]},
            "cells.columns.0: must be a list",
        ),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, table, message):
    assert refused(tmp_path, table) == message


def refused(folder, table):
    """Return what is said of a file with a table, behind the name of the file and of the schema."""
    path = folder / "results.json"
    path.write_text(json.dumps({"schema": SCHEMA, "name": "n", "cells": table}), encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        Results.read(path)
    head = f"{path}: not a results file of schema {SCHEMA!r}: "
    assert str(caught.value).startswith(head)
    return str(caught.value).removeprefix(head)
