"""Cells in columns: written short, read back as they were, in their order, and refused if they are damaged."""

import json
import random
from dataclasses import replace

import pytest
import report_data

from tokbench.foundation.errors import ContractError, ResultsError
from tokbench.measuring.study import plain_cells
from tokbench.results.cells import WHOLE, Cell, Status, cell_table, cells_of
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


def test_harmful_names_are_read_exactly():
    cells = report_data.build().cells
    floats = [cell if cell.value is None else replace(cell, value=float(cell.value)) for cell in cells]
    assert list(map(repr, back(cells))) == list(map(repr, floats))


@pytest.mark.parametrize("seed", range(8))
def test_any_list_of_cells_is_read_exactly(seed):
    rng = random.Random(seed)
    numbers = (0.0, -0.0, 1.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, None, 2 / 3)
    cells = [
        Cell(
            *(rng.choice(names) for names in ("ab", "cd", ["x", "y", WHOLE, "script: Latin"], "lmn")),
            value=rng.choice(numbers), unit=rng.choice(["", "bytes"]), ci_low=rng.choice(numbers),
            ci_high=rng.choice(numbers), n=rng.choice([0, 1, 2**60]), status=(status := rng.choice(list(Status))),
            reason="" if status == Status.OK else rng.choice(["", "why"]), in_sample=rng.choice(numbers),
            caution=rng.choice(["", "rough"]),
        )
        for _ in range(rng.choice([0, 1, 2, 60]))
    ]  # fmt: skip
    if seed % 2:
        cells.sort(key=lambda cell: (cell.tokenizer, cell.corpus, cell.group, cell.metric))
    assert list(map(repr, back(cells))) == list(map(repr, cells))


@pytest.mark.parametrize("status", list(Status))
def test_a_result_that_is_ok_has_no_reason(status):
    cells = [Cell("a", "c", WHOLE, "m", None if status != Status.OK else 1.0, status=status, reason="why")]
    if status == Status.OK:
        with pytest.raises(ValueError, match="kinds: a result that is ok has a reason"):
            back(cells)
        with pytest.raises(ContractError, match="time: m is ok and has a reason, 'why'; give it as caution"):
            plain_cells(cells, "time")
    else:
        assert back(cells) == cells == plain_cells(cells, "time")


def test_what_cells_share_is_written_once():
    names, groups = [f"t{k}" for k in range(40)], [f"g{k}" for k in range(50)]
    cells = grid(names, groups, ["one", "two", "three"])
    table = cell_table(cells)
    assert table["places"][1] == {"tokenizer": "t0", "corpus": "c", "group": "g1", "cells": 3}
    assert len(table["kinds"]) == 50 * 3  # the numbers of documents of each group, and the metrics


PLACE = {"tokenizer": "t", "corpus": "c", "group": "en", "cells": 1}
TABLE = {"places": [PLACE], "kinds": [{"metric": "m"}], "kind": [0], "value": [1.0], "ci_low": [None], "ci_high": [2]}


def test_a_table_by_hand():
    assert cells_of(TABLE) == [Cell("t", "c", "en", "m", 1.0, ci_high=2.0)]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"value": [1.0, 2.0]}, "value"),
        ({"value": ["1"]}, "value.0"),
        ({"kind": [1]}, "kind"),
        ({"kind": [0.0]}, "kind.0"),
        ({"kinds": [{"metric": "m", "n": 1.5}]}, "kinds.0.n"),
        ({"kinds": [{"metric": "m", "colour": "red"}]}, "kinds.0.colour"),
        ({"kinds": [{}]}, "kinds.0.metric"),
        ({"places": [PLACE | {"tokenizer": 3}]}, "places.0.tokenizer"),
        ({"places": [PLACE | {"cells": 2}, PLACE | {"cells": -1}]}, "places"),
        ({"places": []}, "kind"),
        ({"rows": []}, "rows"),
    ],
)
def test_a_damaged_table_is_refused_with_its_place(tmp_path, changes, place):
    assert refused(tmp_path, TABLE | changes).startswith(f"cells.{place}: ")


def refused(folder, table):
    """Return what is said of a file with a table, behind the name of the file and of the schema."""
    path = folder / "results.json"
    path.write_text(json.dumps({"schema": SCHEMA, "name": "n", "cells": table}), encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        Results.read(path)
    head = f"{path}: not a results file of schema {SCHEMA!r}: "
    assert str(caught.value).startswith(head)
    return str(caught.value).removeprefix(head)
