"""Everything that a plugin hands over is kept as a plain value or refused by name, and results are always read back."""

import os
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from handed_over import JSON, VALUES

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import ContractError
from tokbench.plugin import Encoded, decode_batch
from tokbench.results.cells import Status

CODES = {"kept": 0, "late": 1, "early": 2}
NAMES = {
    "a note": "notes[0]", "a text": "decode", "an id": "encode", "a number": "values[0][0]", "a row": "values[0]", "matrix": "values",
    "a special id": "special_ids", "a special name": "a key of special_ids", "losses": "loss.documents",
    "a loss": "loss.first.origin", "free": "block['free']", "a start": "gold.words", "is punctuation": "gold.punctuation",
    "a morpheme": "gold.morphemes",
}  # fmt: skip
"""By member the name in messages, where that is another."""


def write_config(values, folder, formats="csv"):
    """Write the configuration of a run with some values."""
    names = defaultdict(list)
    for value in values:
        names[value.sort].append(value.name)
    corpora = "".join(f"  {name}: {{source: {name}}}\n" for name in names["source"])
    tokenizers = "".join(f"  {name}: {{backend: {name}}}\n" for name in names["backend"])
    studies = "".join(f"  {name}: {{}}\n" for name in names["study"])
    metrics = ", ".join(
        [*names["metric"], *names["timed"], "compression", "roundtrip", "continued_words", "vocabulary"]
    )
    (folder / "x.txt").write_text("aaa\naca\naa\n", encoding="utf-8")
    path = folder / "run.yaml"
    path.write_text(
        f"schema: tokbench/1\nname: test\ncorpora:\n  c: {{source: text, path: x.txt, document: line}}\n{corpora}"
        f"tokenizers:\n  one: {{backend: letters}}\n  two: {{backend: letters}}\n{tokenizers}metrics: [{metrics}]\n"
        f"report: {{formats: [{formats}]}}\n{'study:' * bool(studies)}\n{studies}",
        encoding="utf-8",
    )
    return path


class Run:
    """A run in this process with all values of a sort that have one fate."""

    def __init__(self, values, folder):
        path = write_config(values, folder)
        self.lines = path.read_text(encoding="utf-8").splitlines()
        done = CliRunner().invoke(command, ["run", str(path), "-o", str(folder / "out"), "-w", "0", "--no-store"])
        self.refused = done.exception if isinstance(done.exception, tokbench.InputError) else None
        self.code = 2 if self.refused else done.exit_code
        self.cells, self.states = defaultdict(list), {}
        if not self.refused:
            self.results = tokbench.Results.read(folder / "out")
            self.states = {state.family: state.state for state in self.results.states}
            for cell in self.results.cells:
                for name in {cell.tokenizer, cell.metric, cell.corpus}:
                    self.cells[name].append(cell)

    def line(self, where):
        """Return the line of the configuration at a place, with a colon after the name in it."""
        return self.lines[int(where.split(":")[-2]) - 1]

    def reasons(self, value):
        """Return everything that the results say of a value that was refused."""
        if self.refused:
            return [
                problem.message for problem in self.refused.problems if f" {value.name}: " in self.line(problem.where)
            ]
        reasons = [cell.reason for cell in self.cells[value.name] if cell.status == Status.FAILED]
        return [*reasons, *(note for note in self.results.notes if value.name in note)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the run with a value, which is made once for all with the same sort and fate."""
    folder = tmp_path_factory.mktemp("plain")
    info = folder / "site" / "own-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[tokbench]\nhanded_over = handed_over\n", encoding="utf-8")

    @cache
    def made(sort, fate):
        (folder / sort / fate).mkdir(parents=True)
        return Run([value for value in VALUES if (value.sort, value.fate) == (sort, fate)], folder / sort / fate)

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "site")
        helpers = str(Path(__file__).parents[1] / "helpers")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder / "site"), helpers, os.environ.get("PYTHONPATH", "")]))
        yield made


def name_of(value):
    return f"{value.sort}-{value.member}-{value.kind}".replace(" ", "_")


@pytest.mark.parametrize("value", [value for value in VALUES if value.fate != "kept"], ids=name_of)
def test_what_is_not_plain_is_refused_by_name(run, value):
    made = run(value.sort, value.fate)
    assert made.code == CODES[value.fate]
    reasons = made.reasons(value)
    assert reasons
    assert all(NAMES.get(value.member, value.member) in reason for reason in reasons)
    assert not [cell for cell in made.cells["one"] if cell.metric == "tokens" and cell.value != 8]


@pytest.mark.parametrize("value", [value for value in VALUES if value.fate == "kept"], ids=name_of)
def test_what_can_be_made_plain_is_kept(run, value):
    made = run(value.sort, "kept")
    assert made.code == 0
    assert not made.results.problems
    assert not [cell for cell in made.cells[value.name] if cell.status == Status.FAILED]
    CHECKS[value.sort](made, value)


def check_backend(made, value):
    info = made.results.tokenizers[value.name]
    assert (info.vocab_size, info.returns) == (3, "lists")
    assert [
        cell.value for cell in made.cells[value.name] if cell.metric == "roundtrip_exact" and cell.group == "*"
    ] == [1]
    if value.member in {"notes", "a note"}:
        assert info.notes == ["one", "two"]
    if value.member == "encoded_by":
        assert info.engine == "lists"


def check_metric(made, value):
    cell = made.cells[value.name][-1]
    if value.member == "reason":
        assert (cell.status, cell.reason) == (Status.NOT_APPLICABLE, "why")
        return
    low, high = (None, None) if cell.ci_low is None else (2.0, 3.0)
    assert (cell.value, cell.n, cell.ci_low, cell.ci_high, cell.unit, cell.reason) == (2.5, 3, low, high, "u", "")
    assert made.results.metrics[value.name].ratio_of == ([] if low is None else ["one", "two"])
    expected = JSON[value.kind] if value.member == "raw" else [3]
    assert made.states.get(value.name, expected) == expected
    for matrix in made.results.matrices:
        assert (matrix.values, matrix.within, matrix.likeness) in (
            ([[0.5], [0.5]], "*", True),
            ([[0.5], [0.5, None]], "*", True),
        )
    assert {(pair.tokens, pair.p) for pair in made.results.pairs} == {((1, 2), 0.5)}


def check_timed(made, value):
    assert {(cell.value, cell.n, cell.unit, cell.in_sample) for cell in made.cells[value.name]} == {(2.5, 3, "u", 0.5)}
    assert made.results.notes.count("slow") == len({name for name in made.cells if name.startswith("timed")})


def check_study(made, value):
    [cell] = made.cells[value.name]
    assert (cell.value, cell.n, cell.unit) == (2.5, 3, "u")
    assert made.results.studies.plain()[value.name]["body"]["free"] == (
        JSON[value.kind] if value.member == "free" else 1
    )
    assert {type(own.round_trip) for own in made.results.own_texts} == {str}


def check_source(made, value):
    info = made.results.corpora[value.name]
    assert (info.groups, info.licence, info.bytes) == ({"g": 2}, "free", 6)
    assert f"corpus {value.name}: old" in made.results.notes or value.member not in {"notes", "a note"}


CHECKS = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}


def test_so_many_values_are_handed_over():
    assert len(VALUES) > 1400
    assert len({(value.sort, value.member) for value in VALUES}) > 60


@pytest.mark.parametrize("fate", CODES)
def test_workers_keep_and_refuse_the_same(run, tmp_path, fate):
    """Every fifteenth value, of all sorts of plugins together, with worker processes."""
    values = [value for value in VALUES if value.fate == fate][::15]
    arguments = [
        "run",
        write_config(values, tmp_path, "csv, html, md"),
        "-o",
        tmp_path / "out",
        "-w",
        "2",
        "--no-store",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tokbench", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == CODES[fate], done.stderr
    if fate == "early":
        assert done.stderr.count("error: ") == len(values)
        return
    results = tokbench.Results.read(tmp_path / "out")
    assert len(results.states) > 0
    failed = {name for cell in results.cells if cell.status == Status.FAILED for name in (cell.tokenizer, cell.metric)}
    assert bool(failed - {"one", "two"}) == (fate == "late")


def test_ids_to_be_decoded_cannot_be_written_to():
    class Writes:
        def decode_batch(self, encoded, /):
            encoded.ids[:] = 0

    encoded = Encoded(np.array([1, 2], np.uint32), np.array([0, 2]))
    with pytest.raises(ContractError, match="Writes"):
        decode_batch(Writes(), encoded)
    assert encoded.ids.tolist() == [1, 2]
    assert encoded.ids.flags.writeable
