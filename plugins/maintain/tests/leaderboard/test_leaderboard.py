"""The leaderboard: the best of many runs, only where numbers measure the same, and never a loss."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import tokbench_maintain
from tokbench.cli.main import tokbench as command
from tokbench.corpus.shards import BUCKETS
from tokbench.foundation.errors import InputError
from tokbench.measuring.metric import Role
from tokbench.results.blocks import (
    CorpusInfo,
    Environment,
    FamilyInfo,
    MetricInfo,
    RawState,
    RunConfig,
    TokenizerInfo,
)
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import NamedRun, Results
from tokbench.results.states import RawStates
from tokbench_maintain.leaderboards.place_page import as_json, html, markdown
from tokbench_maintain.leaderboards.places import leaderboard

METRICS = {
    "density": MetricInfo(ratio_of=["bytes", "tokens"], family="f", direction="higher", formula="b / t", headline=True, role=Role.TEXT_PER_TOKEN, label="compression"),
    "pace": MetricInfo(family="s", direction="higher", formula="b / s", timed=True, headline=True, loss_cannot_help="no"),
    "back": MetricInfo(family="r", direction="higher", role=Role.ROUND_TRIP, loss_cannot_help="it is the loss"),
    "place": MetricInfo(family="p", direction="lower", role=Role.RANK),
    "size": MetricInfo(family="f", direction="none"),
}  # fmt: skip


RNG = np.random.default_rng(7)
BYTES = RNG.uniform(900, 1100, BUCKETS)
NOISE = {name: RNG.uniform(0.9, 1.1, BUCKETS) for name in ("a", "b", "c", "d")}


def state(name, value):
    """The sums of a tokenizer whose tokens vary on their own from document to document, in the ratio that is given."""
    tokens = BYTES * NOISE.get(name, 1.0)
    tokens *= BYTES.sum() / tokens.sum() / value
    return {"documents": 400, "sums": {"bytes": BYTES.tolist(), "tokens": tokens.tolist()}, "largest": {"tokens": 3}}


def run(path, numbers, *, speeds=(), lossy=(), in_sample=(), day=1, sha="ab", **changes):
    """A run, from value, low and high by tokenizer."""
    cells = []
    for name, (value, low, high) in numbers.items():
        share = 0.5 if name in in_sample else None
        cells += [
            Cell(name, "c", WHOLE, "density", value, "bytes/token", low, high, 9, in_sample=share),
            Cell(name, "c", WHOLE, "back", 0.9 if name in lossy else 1.0, "share"),
            Cell(name, "c", WHOLE, "place", 1.0, "rank"),
            Cell(name, "c", WHOLE, "size", 7.0, "bytes"),
        ]
    cells += [
        Cell(name, "c", WHOLE, "pace", *(value, "MB/s", low, high)) for name, (value, low, high) in dict(speeds).items()
    ]
    results = Results(
        name=path,
        created=f"2026-01-{day:02}T00:00:00+00:00",
        corpora={"c": CorpusInfo(sha256=sha * 32, groups={"g": 9})},
        tokenizers={name: TokenizerInfo(backend="b", vocab_size=9) for name in numbers},
        metrics=METRICS,
        families={name: FamilyInfo() for name in "fsrp"},
        environment=Environment(tokbench="1", cpu="one", system="Linux", cores=2),
        cells=cells,
        states=RawStates(
            RawState(tokenizer=name, corpus="c", group="g", family="f", state=state(name, value))
            for name, (value, *_) in numbers.items()
        ),
    )
    return NamedRun(f"runs/{path}", replace(results, **changes))


def standing(board, metric="density", number=0):
    return [each for each in board.standings if each.metric == metric][number]


def ranked(board, metric="density", number=0):
    return [(each.tokenizer, each.run, each.shown.best) for each in standing(board, metric, number).entries]


def test_the_best_of_all_runs_and_its_ties():
    board = leaderboard([
        run("one", {"a": (3.0, 2.9, 3.1), "b": (2.0, 1.9, 2.1)}),
        run("two", {"c": (3.003, 2.95, 3.15), "d": (1.0, 0.9, 1.1)}),
    ])  # fmt: skip
    assert ranked(board) == [("c", 2, True), ("a", 1, True), ("b", 1, False), ("d", 2, False)]
    assert {each.metric for each in board.standings} == {"density", "back"}  # no rank, nothing without a direction
    assert standing(board, "back").without_best == "all 4 tie"
    assert board.notes == []
    [source, _] = board.runs
    assert (source.path, source.name, source.created) == ("runs/one", "one", "2026-01-01T00:00:00+00:00")


def test_two_whose_intervals_do_not_touch_never_share_a_place():
    numbers = {"wide": (3.0, 2.0, 4.0), "near": (2.9, 2.8, 3.0), "far": (2.2, 2.1, 2.3), "last": (1.0, 0.9, 1.1)}
    board = leaderboard([run("one", numbers, states=RawStates())])
    # Neither is told apart from the best one, but one of them is ahead of the other.
    assert ranked(board) == [("wide", 1, True), ("near", 1, True), ("far", 1, True), ("last", 1, False)]
    assert standing(board).places == [1, 1, 3, 4]
    rows = [line for line in markdown(board).splitlines() if line.startswith(("| 1 |", "| 3 |"))]
    assert [row.split(" | ")[1] for row in rows] == ["wide", "near", "far"]


def test_equal_numbers_share_a_place():
    """Such as those of two engines with one vocabulary."""
    numbers = {"a": (3.0, 2.9, 3.1), "b": (2.0, 1.9, 2.1), "c": (2.0, 1.9, 2.1), "d": (1.0, 0.9, 1.1)}
    assert standing(leaderboard([run("one", numbers)], ["density"])).places == [1, 2, 2, 4]


def test_without_any_evidence_nobody_is_level_and_nobody_is_best():
    numbers = {"a": (3.0, None, None), "b": (2.9, None, None), "c": (1.0, None, None)}
    board = leaderboard([run("one", numbers, states=RawStates())])
    assert ranked(board) == [("a", 1, False), ("b", 1, False), ("c", 1, False)]
    assert standing(board).places == [1, 2, 3]
    assert standing(board).without_best == "no number can be compared with the best"
    assert "**" not in markdown(board)


def test_without_raw_sums_intervals_are_compared_which_is_said(tmp_path):
    one = run("one", {"a": (3.0, 2.9, 3.1), "b": (3.0, 2.9, 3.1), "c": (1.0, 0.9, 1.1)})
    two = run("two", {"c": (3.01, 2.95, 3.15)}, states=RawStates(tmp_path / "states.jsonl.gz"))
    board = leaderboard([one, two])
    assert ranked(board) == [("c", 2, True), ("a", 1, True), ("b", 1, True), ("c", 1, False)]
    [note] = board.notes
    assert note.startswith("of run 2 numbers are compared by their intervals alone: ")
    assert "states.jsonl.gz" in note
    assert ranked(leaderboard([one])) == [("a", 1, True), ("b", 1, True), ("c", 1, False)]


def test_what_loses_text_or_was_trained_on_is_never_best():
    numbers = {"lossy": (9.0, 8.9, 9.1), "seen": (8.0, 7.9, 8.1), "b": (2.0, 1.9, 2.1)}
    first = run("one", numbers, lossy=["lossy"], in_sample=["seen"])
    board = leaderboard([first, run("two", {"a": (1.0, 0.9, 1.1)})])
    assert ranked(board)[:2] == [("b", 1, True), ("a", 2, False)]
    aside = {entry.tokenizer: entry.shown.marks for entry in standing(board).entries if not entry.competes}
    assert aside == {"lossy": "‡", "seen": "†"}


def test_another_text_of_the_same_name_is_kept_apart_and_said():
    board = leaderboard([
        run("one", {"a": (1.0, 0.9, 1.1)}),
        run("two", {"b": (2.0, 1.9, 2.1)}, sha="cd"),
        run("three", {"c": (3.0, 2.9, 3.1)}),
    ])  # fmt: skip
    assert [each.corpus for each in board.standings if each.metric == "density"] == [
        "c (abababababab, text 1)",
        "c (cdcdcdcdcdcd, text 2)",
    ]
    assert ranked(board) == [("c", 3, True), ("a", 1, False)]
    assert standing(board, number=1).without_best == "one number alone"
    [note] = board.notes
    assert note.endswith("text 1 (sha256 abababababab): runs 1, 3; text 2 (sha256 cdcdcdcdcdcd): run 2")


def test_other_options_or_formulas_of_a_metric_are_kept_apart():
    other = run("two", {"b": (2.0, 1.9, 2.1)}, families={"f": FamilyInfo(options={"unit": "icu"})})
    board = leaderboard([run("one", {"a": (1.0, 0.9, 1.1)}), other])
    assert [ranked(board, number=k) for k in (0, 1)] == [[("a", 1, False)], [("b", 2, False)]]
    assert any(note.startswith("density ") for note in board.notes)


def test_speeds_are_compared_within_one_machine_and_the_last_run_counts():
    numbers = {"a": (1.0, 0.9, 1.1), "b": (1.5, 1.4, 1.6)}
    lucky, later = {"a": (99.0, 98, 100), "b": (50.0, 49, 51)}, {"a": (40.0, 39, 41)}
    other = Environment(tokbench="1", cpu="another", system="Linux", cores=2)
    board = leaderboard([
        run("lucky", numbers, speeds=lucky, day=1),
        run("later", numbers, speeds=later, day=2),
        run("other", numbers, speeds={"a": (500.0, 499, 501)}, environment=other),
    ])  # fmt: skip
    assert ranked(board, "pace") == [("b", 1, True), ("a", 2, False)]
    assert ranked(board, "pace", 1) == [("a", 3, False)]
    assert standing(board, "pace").machine == "Linux, one, 2 cores, tokbench 1"
    assert "speeds are compared within one machine and version only: there are 2" in board.notes
    # The same number of the same tokenizer stands once, from the first run, and names the others.
    assert [(each.tokenizer, each.run, each.again) for each in standing(board).entries] == [("b", 1, (3, 2)), ("a", 1, (3, 2))]  # fmt: skip


def test_pages_name_the_run_of_every_number():
    runs = [
        run("<one>", {"a|b": (3.0, 2.9, 3.1), "<b>": (2.0, 1.9, 2.1)}, lossy=["<b>"], config=RunConfig(limit=5)),
        run("two", {"c": (1.0, 0.9, 1.1)}, interrupted=True),
    ]
    board = leaderboard(runs)
    text = markdown(board).replace("\\.", ".")
    assert "| c | compression ↑ (bytes/token) | 3.000 | a\\|b \\[1\\] |  |" in text
    assert "| 1 | a\\|b | **3.000** | 2.900–3.100 | \\[1\\] |" in text
    assert "| – | &lt;b&gt; | 2.000‡ | 1.900–2.100 | \\[1\\] |" in text
    assert "at most 5 documents a group" in text
    assert "stopped before the end" in text
    assert "ab" * 32 in text
    shown = html(board)
    assert "<strong>3.000</strong>" in shown
    assert "&lt;one&gt;" in shown
    assert "<one>" not in shown
    body = json.loads(as_json(board))
    assert body["schema"] == "tokbench-leaderboard/1"
    [first] = [each for each in body["standings"] if each["metric"] == "density"]
    assert first["entries"][0] | {"n": 9} == {
        "place": 1,
        "tokenizer": "a|b",
        "value": 3.0,
        "ci_low": 2.9,
        "ci_high": 3.1,
        "n": 9,
        "best": True,
        "competes": True,
        "marks": "",
        "run": 1,
        "also_in_runs": [],
    }
    assert {each["number"]: each["path"] for each in body["runs"]} == {1: "runs/<one>", 2: "runs/two"}


@pytest.fixture
def paths(tmp_path):
    """The folders of two runs, one and two, of one tokenizer each."""
    for number, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        results = run(name, {name: (1.0 + number, 0.9 + number, 1.1 + number)}).results
        (tmp_path / name / "results.json").write_text(results.to_json(), encoding="utf-8")
    return [str(tmp_path / name) for name in ("one", "two")]


def test_the_command_and_the_frame(paths, tmp_path):
    files = [str(tmp_path / f"board.{suffix}") for suffix in ("md", "html", "json")]
    done = CliRunner().invoke(command, ["leaderboard", *paths, *(part for file in files for part in ("-o", file))])
    assert done.exit_code == 0, done.output
    assert "two \\[2\\]" in (tmp_path / "board.md").read_text(encoding="utf-8")
    printed = CliRunner().invoke(command, ["leaderboard", *paths, "--metric", "density"]).output
    assert "## Leaderboard of 2 runs" in printed
    assert "back" not in printed
    refused = CliRunner().invoke(command, ["leaderboard", *paths, "-o", "board.txt"])
    assert refused.exit_code == 2
    assert "end the name in .md, .html or .json" in refused.output
    frame = tokbench_maintain.leaderboard(paths, ["density"]).frame
    assert frame[["tokenizer", "value", "best", "run"]].to_numpy().tolist() == [["two", 2.0, True, "two"], ["one", 1.0, False, "one"]]  # fmt: skip
    with pytest.raises(InputError, match="no run has the metric 'densty'; did you mean 'density'"):
        tokbench_maintain.leaderboard(paths, ["densty"])
