"""What a plugin hands over is kept as a plain value or refused by its member's name, and results can be read."""

from collections import defaultdict

import numpy as np
import pytest
from handed_over import VALUES

import tokbench
from tokbench.plugin import Encoded, decode_batch
from tokbench.results.cells import Status

NAMES = {
    "a note": "notes[0]", "a text": "decode", "an id": "encode",
    "a special id": "special_ids", "a special name": "a key of special_ids", "losses": "loss.documents",
    "a loss": "loss.first.origin", "free": "block['free']", "a start": "gold.words", "is punctuation": "gold.punctuation",
    "a morpheme": "gold.morphemes",
}  # fmt: skip
"""By member the name in messages, where that is another."""
OF_VALUES = {value.name for value in VALUES}


class Run:
    """A run in this process with all values of one fate."""

    def __init__(self, fate, folder):
        path = write_config([value for value in VALUES if value.fate == fate], folder)
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.problems, self.cells = (), defaultdict(list)
        try:
            written = tokbench.run(path, folder / "out", workers=0, store=False)
        except tokbench.InputError as error:
            self.problems = error.problems
            return
        self.results = tokbench.Results.read(folder / "out")
        assert self.results.cells == written.cells
        self.said = [*self.results.notes, *written.problems]
        for cell in self.results.cells:
            names = {cell.tokenizer, cell.metric, cell.corpus} & OF_VALUES
            if len(names) == 1:
                self.cells[names.pop()].append(cell)

    def reasons(self, value):
        """Return everything that is said of a value that was refused."""
        if self.problems:
            lines = [(self.lines[int(problem.where.split(":")[-2]) - 1], problem.message) for problem in self.problems]
            return [message for line, message in lines if f" {value.name}: " in line]
        reasons = [cell.reason for cell in self.cells[value.name] if cell.status == Status.FAILED]
        notes = [note for note in self.said if {name for name in OF_VALUES if name in note} == {value.name}]
        return reasons + notes


def write_config(values, folder):
    names = defaultdict(list)
    for value in values:
        names[value.sort].append(value.name)
    corpora = "".join(f"  {name}: {{source: {name}}}\n" for name in names["source"])
    tokenizers = "".join(f"  {name}: {{backend: {name}, corpora: [c]}}\n" for name in names["backend"])
    studies = "".join(f"  {name}: {{}}\n" for name in names["study"])
    bound = [f"{{{name}: {{corpora: [c]}}}}" for name in names["metric"] + names["timed"]]
    metrics = ", ".join([*bound, "compression", "roundtrip", "continued_words", "vocabulary"])
    (folder / "x.txt").write_text("aaa\naca\naa\n", encoding="utf-8")
    path = folder / "run.yaml"
    path.write_text(
        f"schema: tokbench/1\nname: test\ncorpora:\n  c: {{source: text, path: x.txt, document: line}}\n{corpora}"
        f"tokenizers:\n  one: {{backend: letters}}\n  two: {{backend: letters}}\n{tokenizers}metrics: [{metrics}]\n"
        f"report: {{formats: [csv]}}\n{'study:' if studies else ''}\n{studies}",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return by fate the run with all values that have it."""
    folder = tmp_path_factory.mktemp("plain")
    info = folder / "site" / "own-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[tokbench]\nhanded_over = handed_over\n", encoding="utf-8")
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "site")
        for fate in ("kept", "late", "early"):
            (folder / fate).mkdir()
            made[fate] = Run(fate, folder / fate)
    return made


@pytest.mark.parametrize(
    "value", [value for value in VALUES if value.fate != "kept"], ids=lambda value: f"{value.sort}-{value.member}"
)
def test_what_is_not_plain_is_refused_by_name(runs, value):
    made = runs[value.fate]
    assert bool(made.problems) == (value.fate == "early")
    reasons = made.reasons(value)
    assert reasons
    assert all(NAMES.get(value.member, value.member) in reason for reason in reasons)


def test_what_can_be_made_plain_is_kept(runs):
    assert not runs["kept"].problems
    assert {cell.status for cell in runs["kept"].results.cells} <= {Status.OK, Status.NOT_APPLICABLE}


def test_neighbours_of_refused_values_are_measured(runs):
    of_one = [cell for cell in runs["late"].results.cells if (cell.tokenizer, cell.metric) == ("one", "tokens")]
    assert {cell.value for cell in of_one} == {8}


def test_ids_to_be_decoded_cannot_be_written_to():
    class Writes:
        def decode_batch(self, encoded, /):
            encoded.ids[:] = 0

    encoded = Encoded(np.array([1, 2], np.uint32), np.array([0, 2]))
    with pytest.raises(ValueError, match="read-only"):
        decode_batch(Writes(), encoded)
    assert encoded.ids.tolist() == [1, 2]
    assert encoded.ids.flags.writeable
