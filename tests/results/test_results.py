"""The file ``results.json``: read back as it was written, whatever its age, and described by its schema."""

import dataclasses
import gzip
import json
import pickle

import numpy as np
import pytest
from results_schema import FILE, json_schema, schema_text

import tokbench
from tokbench.foundation.errors import ResultsError
from tokbench.notebook.results import NotebookResults
from tokbench.registry.plugins import load_registry
from tokbench.results.blocks import RawState
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
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
