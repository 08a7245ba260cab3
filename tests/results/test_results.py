"""The file results.json and its table of cells: read back as written, and refused if damaged."""

import dataclasses
import gzip
import json
import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
import report_data
from results_schema import FILE, json_schema, schema_text

import tokbench
from tokbench.foundation.errors import ContractError, ResultsError
from tokbench.measuring.study import plain_cells
from tokbench.notebook.results import NotebookResults
from tokbench.registry.plugins import load_registry
from tokbench.results.blocks import RawState
from tokbench.results.cells import WHOLE, Cell, Status, cell_table, cells_of
from tokbench.results.model import SCHEMA, Results
from tokbench.results.states import RawStates

BLOCKS = [spec.block for spec in load_registry().studies if spec.block]


def plain(text):
    return json.loads(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (None, "results.json: "),
        ("", "results.json:1:1: "),
        ('{"name":\n"\udcff"}', "results.json:2:2: "),
        ("[" * 300_000, "results.json:1:1: "),
        ("[]", "results.json: "),
        ('{"schema": "tokbench-results/9"}', "'tokbench-results/9'"),
        ("{}", "schema None"),
        ('{"schema": "tokbench-results/8", "name": "n", "cells": [{"tokenizer": "t"}]}', "cells.0.corpus: "),
        (
            '{"schema": "tokbench-results/8", "name": "n", "tokenizers": {"t": {"state": "gone"}}}',
            "tokenizers.t.state: ",
        ),
    ],
)
def test_what_is_not_a_results_file_is_refused(tmp_path, text, place):
    path = tmp_path / "results.json"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ResultsError) as caught:
        Results.read(path)
    assert place in str(caught.value)


@pytest.mark.packages
def test_the_shipped_schema_is_up_to_date():
    written = FILE.read_text(encoding="utf-8")
    assert written == schema_text(), "write it again with: python .ci/results_schema.py"


def test_every_key_has_a_description():
    schema = json_schema(BLOCKS)
    for name, definition in {"Results": schema, **schema["$defs"]}.items():
        assert definition["description"]
        for key, each in definition.get("properties", {}).items():
            assert each.get("description"), f"{name}.{key} has no docstring"


@pytest.mark.slow
def test_a_run_follows_the_schema(write_config, tmp_path):
    tokenizers = (
        "  bytes: {backend: utf8_bytes}\n"
        "  other: {backend: utf16_units, same_as: bytes}\n"
        "  words: {backend: whitespace_words, train: {corpus: sample, vocab_size: 300}}"
    )
    extra = "study: {vocabulary: {sizes: [300], model: {width: 8, layers: 1, context: 8, training_bytes: 1e6}}}\n"
    corpora = "  sample: {source: sample, part: hostile, holdout: 0.5}\n"
    corpora += "  talk: {source: sample, part: languages, groups: [en]}"  # enough sentences for comparisons
    path = write_config(corpora, tokenizers, "[compression, probes, pairs]", extra=extra)
    results = tokbench.run(path, tmp_path / "out")
    body = plain((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert all(body[name] for name in ("losses", "pairs", "states_file"))
    assert set(body["studies"]) == {"same_ids", "vocabulary_size", "tokens"}
    schema = json_schema(BLOCKS)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(body, schema)
    kinds = [body["cells"]["kinds"][0] | {"status": "fine"}]
    for damaged in (body | {"schema": "tokbench-results/2"}, body | {"cells": body["cells"] | {"kinds": kinds}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(damaged, schema)
    assert NotebookResults.read(tmp_path / "out" / "results.json") == results


def test_the_frame_has_a_row_for_each_cell():
    cell = Cell("t", "c", WHOLE, "m", 1.5, "bytes")
    frame = Results(name="n", cells=[cell]).frame
    assert frame.iloc[0].to_dict() | {"in_sample": None} == {
        **dataclasses.asdict(cell),
        "ci_low": None,
        "ci_high": None,
    }


def state(data, family="f"):
    return RawState(tokenizer="t", corpus="c", group="g", family=family, state=data)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"sums": {"tokens": [7] * 32, "big": [2**53 + 1] * 9, "huge": [2**70] * 9, "negative": list(range(-9, 9))}},
        {"floats": [0.1 * k for k in range(20)], "mixed": [1, 2.0] * 8, "flags": [True, False] * 8},
        {"rising": [0, 0, 5, 300, 70_000, 2**33, 2**61, 2**61], "text": "half \ud83d", "empty": {}},
    ],
)
def test_states_are_read_exactly(data, tmp_path):
    (tmp_path / "states").write_bytes(RawStates([state(data), state(data, "again")]).to_bytes())
    found = RawStates(tmp_path / "states")
    assert found == [state(data), state(data, "again")]
    assert repr(found[0].state) == repr(data)  # True is not 1, and 2.0 is not 2


@pytest.mark.parametrize(
    "array",
    [
        np.array([7, 2**40, -5] * 3),
        np.arange(18).reshape(9, 2),
        np.zeros(0),
    ],
)
def test_an_array_is_written_as_its_list(array):
    assert RawStates([state({"a": array})]).to_bytes() == RawStates([state({"a": array.tolist()})]).to_bytes()


def test_a_state_that_is_not_json_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        RawStates([state({"value": float("nan")})])


def test_states_are_read_when_they_are_asked_for(write_config, tmp_path):
    tokbench.run(write_config(), tmp_path / "out", workers=0)
    path = tmp_path / "out" / "results.json"
    assert plain(path.read_text(encoding="utf-8"))["states"] == []
    results = Results.read(path)
    assert len(results.states) == results.states_file.states > 0
    inside = tmp_path / "inside.json"  # as schema 2 was written before
    results.states_file = None
    inside.write_text(results.to_json(), encoding="utf-8")
    assert Results.read(inside).states == results.states
    file = tmp_path / "out" / "states.jsonl.gz"
    packed = file.read_bytes()
    file.write_bytes(packed[:-3])
    with pytest.raises(ResultsError, match=r"is not the file that results.json was written with"):
        len(Results.read(path).states)
    file.unlink()
    lonely = Results.read(path)
    assert lonely.cells
    with pytest.raises(ResultsError, match=r"states.jsonl.gz: the raw states cannot be read: No such file"):
        len(lonely.states)


@pytest.mark.parametrize("at", [0, 40, -2])
def test_a_damaged_file_of_states_is_refused(at, tmp_path):
    data = bytearray(RawStates([state({"sums": list(range(500))})]).to_bytes())
    data[at] ^= 0x55
    (tmp_path / "states").write_bytes(data)
    with pytest.raises(ResultsError, match="damaged"):
        len(RawStates(tmp_path / "states"))


@pytest.mark.parametrize(
    "content",
    [
        *(pickle.dumps([1]), gzip.compress(b'["a", "b", "c", {}]\n', mtime=0), gzip.compress(b"[1", mtime=0)),
        *(gzip.compress(data, mtime=0) for data in (b"{}", b"3\n", b"[" * 100_000)),
        b"\x1f\x8b",
    ],
)
def test_what_is_no_file_of_states_is_refused(content, tmp_path):
    (tmp_path / "states").write_bytes(content)
    with pytest.raises(ResultsError, match="not a file of raw states"):
        len(RawStates(tmp_path / "states"))


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
