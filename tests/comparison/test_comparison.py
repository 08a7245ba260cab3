"""Two runs side by side: differences with intervals, what cannot be compared, and the rules of a gate."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from made_up_results import results_of

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.comparison.compare import CellChange, compare
from tokbench.comparison.gate import GateRule, check_rules
from tokbench.comparison.render import ComparisonPage, markdown
from tokbench.corpus.shards import BUCKETS
from tokbench.foundation.errors import InputError
from tokbench.measuring.metric import Role
from tokbench.measuring.plan import DESIGNED
from tokbench.measuring.round_trip import RoundTrip
from tokbench.results.blocks import (
    CorpusInfo,
    Environment,
    FamilyInfo,
    MetricInfo,
    RunConfig,
    TokenizerInfo,
    TrainingInfo,
)
from tokbench.results.cells import WHOLE, Cell, Status, TokenizerState
from tokbench.results.model import NamedRun
from tokbench.statistics.jackknife import student_t
from tokbench.statistics.standings import LEVEL

METRICS = {
    "density": MetricInfo(family="f", direction="higher", formula="bytes / tokens", ratio_of=["bytes", "tokens"]),
    "reach": MetricInfo(family="f", direction="higher", formula="some"),
    "speed": MetricInfo(family="s", direction="higher", formula="bytes / s", timed=True),
}
TRAIN = TrainingInfo(corpora=["c"], documents=1, bytes=7, vocab_size=9, seconds=1.0)
RNG = np.random.default_rng(5)
BYTES = RNG.integers(900, 1100, BUCKETS)
TOKENS = RNG.integers(190, 210, BUCKETS)


def run(*, n_bytes=BYTES, tokens=TOKENS, speed=(9.0, 10.0, 11.0), **changes):
    """A run of one tokenizer on one corpus with the groups g and h, of which h has the same sums as g."""
    raw = {"documents": 400, "sums": {"bytes": n_bytes.tolist(), "tokens": tokens.tolist()}, "largest": {"tokens": 3}}
    value = float(n_bytes.sum() / tokens.sum())
    cells = [Cell("t", "c", group, "density", value, "bytes/token", n=400) for group in ("g", "h", WHOLE)]
    cells.append(Cell("t", "c", WHOLE, "reach", 0.5, "share", n=800))
    cells.append(Cell("t", "c", WHOLE, "speed", speed[1], "MB/s", speed[0], speed[2], 9))
    corpora = {"c": CorpusInfo(sha256="ab" * 32, groups={"g": 400, "h": 400})}
    states = {("t", "c", group, "f"): raw for group in "gh"}
    facts = {"corpora": corpora, "environment": Environment(tokbench="1", cpu="one")}
    return replace(results_of(cells, METRICS, states, **facts), **changes)


def compared(one, two, **options):
    return compare(NamedRun("before", one), NamedRun("after", two), **options)


def change(comparison, metric="density", group="g"):
    [found] = [each for each in comparison.changes if (each.metric, each.group) == (metric, group)]
    return found


def test_a_run_beside_itself_has_the_same_numbers():
    comparison = compared(run(), run())
    assert {each.verdict for each in comparison.changes} == {"same"}
    assert len(comparison.changes) == 5
    assert not comparison.refused + comparison.appeared + comparison.vanished


def test_the_interval_is_that_of_the_differences_with_each_group_left_out():
    other = np.where(np.arange(BUCKETS) % 3 == 0, TOKENS - 8, TOKENS)
    changes = change(compared(run(), run(tokens=other)))
    differences = []
    for k in range(BUCKETS):
        rest = [j for j in range(BUCKETS) if j != k]
        before, after = (BYTES[rest].sum() / tokens[rest].sum() for tokens in (TOKENS, other))
        differences.append(after - before)
    error = np.sqrt((BUCKETS - 1) / BUCKETS * np.var(differences) * BUCKETS)
    assert changes.difference == pytest.approx(BYTES.sum() / other.sum() - BYTES.sum() / TOKENS.sum())
    # Hall's interval reaches further where the differences are skewed, and never less far than Student's.
    assert changes.low <= changes.difference - error * student_t(31) * 0.999
    assert changes.high >= changes.difference + error * student_t(31) * 0.999
    assert changes.high - changes.low < 3 * error * student_t(31)
    assert changes.verdict == "better"
    # Unpaired, the same difference would drown: the groups of one run vary more than the runs differ.
    alone = [BYTES[k] / TOKENS[k] for k in range(BUCKETS)]
    assert np.std(alone) / np.sqrt(BUCKETS) > error


@pytest.mark.parametrize(("margin", "verdict"), [(0.01, "tie"), (0.001, "better")])
def test_a_sure_change_below_the_margin_ties(margin, verdict):
    fewer = np.where(np.arange(BUCKETS) % 3 == 0, TOKENS - 4, TOKENS)
    comparison = compared(run(), run(tokens=fewer, config=RunConfig(practical_margin=margin)))
    changes = change(comparison)
    assert (round(changes.ratio, 4), changes.p_holm <= LEVEL, changes.verdict) == (0.0069, True, verdict)
    text = markdown(ComparisonPage(comparison, [], 0))
    assert ("significantly better" in text, "Groups, significant changes" in text) == (margin < 0.0069,) * 2
    assert check_rules([GateRule.parse("density > 0.1% significantly")], comparison), "a rule has a limit of its own"


@pytest.mark.parametrize(("role", "verdict"), [(None, "tie"), (Role.ROUND_TRIP, "worse")])
def test_a_loss_has_no_practical_margin(role, verdict):
    metrics = METRICS | {"density": replace(METRICS["density"], role=role)}
    fewer = np.where(np.arange(BUCKETS) % 3 == 0, TOKENS - 4, TOKENS)
    one, two = (run(tokens=tokens, metrics=metrics) for tokens in (fewer, TOKENS))
    assert change(compared(one, two)).verdict == verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ({"difference": None}, "open"),
        ({"difference": 0.0, "ratio": 0.0}, "same"),
        ({"difference": 0.0, "ratio": None}, "same"),  # 0 before and after
        ({"difference": 0.1, "ratio": 0.0099, "low": 0.05, "high": 0.2, "p": 0.001, "p_holm": 0.001}, "tie"),
        ({"difference": 0.1, "ratio": 0.0101, "low": 0.05, "high": 0.2, "p": 0.001, "p_holm": LEVEL}, "better"),
        ({"difference": 0.1, "ratio": 0.0101, "low": 0.05, "high": 0.2, "p": 0.04, "p_holm": 0.051}, "open"),
        ({"difference": 0.1, "ratio": 0.0101}, "open"),
        ({"difference": 0.1, "ratio": None, "low": 0.01, "high": 0.2, "p": 0.01, "p_holm": 0.01}, "better"),
        ({"difference": -0.1, "ratio": -0.3, "low": -0.2, "high": -0.01}, "worse"),  # a speed
        ({"difference": -0.1, "ratio": -0.3, "low": -0.2, "high": 0.01}, "open"),
        ({"difference": 0.1, "ratio": 0.3, "low": 0.05, "high": 0.2, "round_trip": RoundTrip.LOSSY}, "other"),
        ({"difference": -0.1, "ratio": -0.3, "low": -0.2, "high": -0.1, "round_trip": RoundTrip.LOSSY}, "worse"),
        ({"difference": -0.1, "ratio": -0.3, "low": -0.2, "high": -0.1, "direction": "none"}, "other"),
        ({"difference": -0.1, "ratio": -0.3, "low": -0.2, "high": -0.1, "direction": "lower"}, "better"),
        ({"difference": 0.1, "after": None}, "gone"),
        ({"difference": 0.1, "before": None}, "new"),
    ],
)
def test_each_side_of_a_verdict(found, verdict):
    known = {"direction": "higher", "before": 1.0, "after": 1.1, "margin": 0.01} | found
    assert CellChange(tokenizer="t", corpus="c", group="g", metric="m", **known).verdict == verdict


def test_metrics_of_one_count_are_one_fact():
    words = 500.0
    metrics = METRICS | {
        "per_word": MetricInfo(family="f", direction="lower", ratio_of=["tokens", "words"]),
        "density": replace(METRICS["density"], headline=True),
        "tokens": MetricInfo(family="f", direction="lower"),
    }

    def one(tokens):
        made = run(tokens=tokens, metrics=metrics)
        total = float(tokens.sum())
        more = [Cell("t", "c", "g", "tokens", total), Cell("t", "c", "g", "per_word", total / words)]
        lost = [replace(cell, value=cell.value * 200 / total) for cell in made.cells if cell.metric == "reach"]
        return replace(made, cells=[*more, *(cell for cell in made.cells if cell.metric != "reach"), *lost])

    comparison = compared(one(TOKENS), one(TOKENS - 8))
    assert {c.metric: c.follows for c in comparison.changes if c.follows} == {
        "tokens": "density",
        "per_word": "density",
    }
    assert [(c.metric, c.group) for c in comparison.facts] == [
        ("density", "g"), ("density", "h"), ("density", WHOLE), ("speed", WHOLE), ("reach", WHOLE),
    ]  # fmt: skip
    assert ComparisonPage(comparison, [], 0).summary.startswith("Of 5 numbers")
    assert [rule.change.metric for rule in check_rules([GateRule.parse("tokens[g] < 0")], comparison)] == ["tokens"]
    assert not [c for c in compared(one(TOKENS), one(TOKENS)).changes if c.follows]


def test_what_is_not_a_ratio_has_no_interval():
    cells = [replace(cell, value=0.6) if cell.metric == "reach" else cell for cell in run().cells]
    changes = change(compared(run(), run(cells=cells)), "reach", WHOLE)
    assert (changes.difference, changes.low, changes.verdict) == (pytest.approx(0.1), None, "open")
    assert changes.reason == "not a ratio of sums, so it has no interval"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"corpora": {"c": CorpusInfo(sha256="cd" * 32, groups={"g": 400, "h": 400})}},
            "corpus c: its text is not the",
        ),
        (
            {"corpora": {"c": CorpusInfo(sha256="ab" * 32, groups={"g": 400, "h": 400}, holdout=0.2)}},
            "corpus c: holdout is None and 0.2",
        ),
        (
            {"corpora": {"c": CorpusInfo(sha256="ab" * 32, groups={"g": 800})}},
            "corpus c: its documents fall into other",
        ),
        ({"metrics": METRICS | {"density": replace(METRICS["density"], formula="?")}}, "density: its definition is"),
        (
            {"families": {"f": FamilyInfo(options={"n": 2})}},
            "f: its options are {'n': 1} and {'n': 2}",
        ),
        ({"environment": Environment(tokbench="1", cpu="two")}, "speed: another machine or version (cpu one and two)"),
        ({"environment": Environment(tokbench="2", cpu="one")}, "speed: another machine or version (tokbench 1 and 2)"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(changes, reason):
    comparison = compared(run(families={"f": FamilyInfo(options={"n": 1})}), run(**changes))
    assert [sentence for sentence in comparison.refused if sentence.startswith(reason)] == comparison.refused[:1]
    assert len(comparison.changes) < 5


def test_speeds_of_two_machines_are_compared_if_one_asks_for_it():
    other = run(environment=Environment(tokbench="1", cpu="two"), speed=(12.0, 13.0, 14.0))
    comparison = compared(run(), other, other_machine=True)
    changes = change(comparison, "speed", WHOLE)
    assert (changes.ratio_low, changes.ratio_high) == (pytest.approx(12 / 11 - 1), pytest.approx(14 / 9 - 1))
    assert changes.verdict == "better"
    assert any("two machines" in note for note in comparison.notes)


def test_what_one_run_alone_has_is_named():
    two = run(tokenizers={"u": TokenizerInfo()}, metrics={name: METRICS[name] for name in ("density", "reach")})
    comparison = compared(run(), two)
    assert comparison.vanished == ["tokenizer t", "metric speed"]
    assert comparison.appeared == ["tokenizer u"]
    one, two = (run(corpora={"c": CorpusInfo(groups=dict.fromkeys(groups, 400))}) for groups in ("gh", "gx"))
    comparison = compared(one, two)
    assert (comparison.vanished, comparison.appeared) == (["group h of corpus c"], ["group x of corpus c"])


@pytest.mark.parametrize(
    ("changes", "metric", "reason"),
    [
        ({"speed": (None, 10.0, None)}, "speed", "one of both has no interval"),
        ({"tokens": TOKENS - 8, "designed": True}, "density", DESIGNED),
    ],
)
def test_a_change_without_an_interval_has_the_reason(changes, metric, reason):
    designed = changes.pop("designed", False)
    corpora = {"c": CorpusInfo(sha256="ab" * 32, groups={"g": 400, "h": 400}, designed=designed)}
    seen = change(compared(run(), run(corpora=corpora, **changes)), metric, WHOLE)
    assert (seen.low, seen.ratio_low, seen.p, seen.reason) == (None, None, None, reason)
    assert seen.before is not None
    assert seen.after is not None


@pytest.mark.parametrize(
    ("before", "after", "sentences"),
    [
        (
            {"vocab_size": 9, "libraries": {"lib": "1.0"}, "options": {"a": 9, "b": 1}},
            {"vocab_size": 10, "libraries": {"lib": "1.1"}, "options": {"a": 10, "b": 1}},
            ["options: a 9 → 10", "vocab_size: 9 → 10", "lib 1.0 → 1.1"],
        ),
        ({}, {"state": TokenizerState.FAILED, "reason": "no file"}, ["ready → failed: no file"]),
        ({"state": TokenizerState.FAILED, "reason": "no file"}, {}, ["failed → ready"]),
        ({"vocab_size": 9}, {"libraries": {"lib": "1.0"}}, ["vocab_size: 9 → none", "lib absent → 1.0"]),
        ({"train": TRAIN}, {"train": replace(TRAIN, seconds=2.0, memory_mb=9.0, from_store=True)}, []),
        ({"train": TRAIN}, {"train": replace(TRAIN, bytes=8)}, ["train: bytes 7 → 8"]),
        (
            {"engine": "a", "train": TRAIN},
            {},
            [
                "engine: a → none",
                "train: corpora ['c'] → none, documents 1 → none, bytes 7 → none, vocab_size 9 → none",
            ],
        ),
    ],
)
def test_what_changed_in_a_tokenizer_is_named(before, after, sentences):
    one, two = (run(tokenizers={"t": TokenizerInfo(**facts)}) for facts in (before, after))
    assert compared(one, two).tokenizers.get("t", []) == sentences


def failed(rule, one, two):
    return [each.change.group for each in check_rules([GateRule.parse(rule)], compared(one, two))]


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("density < 0", [WHOLE]),
        ("density[each] < 0", ["g", "h", WHOLE]),
        ("density[h] < 0", ["h"]),
        ("density[c/h] < 0", ["h"]),
        ("t: density < 0", [WHOLE]),
        ("density < -1%", [WHOLE]),
        ("density < -3%", []),
        ("density > 0", []),
        ("density < 0 significantly", [WHOLE]),
        ("density < -1.9% significantly", []),
    ],
)
def test_a_rule_fails_on_its_own_place_and_limit(rule, groups):
    """Two percent more tokens, with some noise from one jackknife group to the next."""
    tokens = np.rint(TOKENS * 1.02).astype(int) + np.tile([-3, 3], BUCKETS // 2)
    assert failed(rule, run(), run(tokens=tokens)) == groups


def test_a_number_that_is_gone_breaks_its_rule():
    cells = [replace(cell, value=None, status=Status.FAILED, reason="died") for cell in run().cells]
    assert failed("density > +50%", run(), run(cells=cells)) == [WHOLE]


def test_a_tokenizer_or_a_metric_that_is_gone_breaks_its_rules():
    without = run(cells=[cell for cell in run().cells if cell.metric != "density"], metrics={"reach": METRICS["reach"]})
    assert failed("density[each] < 0", run(), without) == ["g", "h", WHOLE]
    assert not [each for each in compared(run(), without).refused if "density" in each]
    assert {each.reason for each in compared(run(), without).changes if each.verdict == "gone"} == {"not in after"}


def test_a_change_from_nothing_is_beyond_a_share_on_its_own_side():
    none, some = (
        run(cells=[replace(cell, value=value) if cell.metric == "reach" else cell for cell in run().cells])
        for value in (0.0, 0.1)
    )
    assert failed("reach > +500%", none, some) == [WHOLE]
    assert failed("reach < -1%", none, some) == []


def test_a_better_number_is_no_merit_where_text_is_lost():
    metrics = METRICS | {"exact": MetricInfo(family="r", direction="higher", formula="e", role=Role.ROUND_TRIP)}
    fewer = np.where(np.arange(BUCKETS) % 3 == 0, TOKENS - 8, TOKENS)
    one, two = (
        run(tokens=tokens, metrics=metrics, cells=[*run(tokens=tokens).cells, Cell("t", "c", "g", "exact", share, n=9)])
        for tokens, share in ((TOKENS, 1.0), (fewer, 0.9))
    )
    comparison = compared(one, two)
    assert change(comparison).verdict == "other"
    assert change(comparison, group="h").verdict == "better"
    assert "lossy, so that a better number is not counted" in markdown(ComparisonPage(comparison, [], 0))
    assert change(compared(two, one)).verdict == "worse"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("density", "this is not a rule; write it as"),
        ("densty < 0", "no run has a metric 'densty'; did you mean 'density'?"),
        ("density[gg] < 0", "density was compared in no group 'gg'; did you mean 'g'?"),
        ("x: density < 0", "density was compared in no tokenizer 'x'; did you mean 't'?"),
        ("reach[g] < 0", "reach was compared in no group 'g'; did you mean '*'?"),
    ],
)
def test_a_rule_that_looks_at_nothing_is_refused(rule, message):
    with pytest.raises(InputError, match="--fail-on") as error:
        failed(rule, run(), run())
    assert message.split(";")[0] in str(error.value)


def test_a_rule_about_text_that_changed_is_refused():
    other = {"c": CorpusInfo(sha256="cd" * 32, groups={"g": 400, "h": 400})}
    with pytest.raises(InputError, match=r"it compares nothing: corpus c: its text is not the same: sha256 abab"):
        failed("density < 0", run(), run(corpora=other))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A real run, the same again, and one with a vocabulary of other size."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "text.txt").write_text("".join(f"number {k} and then {k * k} of them\n" for k in range(900)), "utf-8")
    for name, size in (("one", 300), ("same", 300), ("other", 290)):
        text = f"""
schema: tokbench/1
name: {name}
corpora:
  text: {{source: text, path: text.txt, document: line, holdout: 0.5}}
tokenizers:
  mine: {{backend: regex_bpe, pattern: gpt2, train: {{corpus: text, vocab_size: {size}}}}}
metrics: [compression, fertility, roundtrip]
"""
        (folder / f"{name}.yaml").write_text(text, "utf-8")
        tokbench.run(folder / f"{name}.yaml", folder / name, workers=0)
    return folder


def compare_command(*arguments):
    return CliRunner().invoke(command, ["compare", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.slow
def test_the_command_prints_markdown_and_tells_by_its_exit_code(runs):
    same = compare_command(runs / "one", runs / "same", "--fail-on", "compression_ratio < 0")
    assert same.exit_code == 0
    assert "All 1 rules hold." in same.output
    worse = compare_command(runs / "one", runs / "other", "--fail-on", "compression_ratio < 0 significantly")
    assert worse.exit_code == 1
    assert "1 of 1 rules are broken." in worse.output
    assert "vocab\\_size: 300 → 290" in worse.output or "vocab_size: 300 → 290" in worse.output
    assert compare_command(runs / "one").exit_code == 2


def test_json_has_every_comparison_under_one_name(runs):
    body = json.loads(compare_command("--baseline", runs / "one", runs / "same", runs / "other", "--json").stdout)
    assert [*body] == ["comparisons"]
    first, second = body["comparisons"]
    assert {change["verdict"] for change in first["changes"]} == {"same"}
    assert "worse" in {change["verdict"] for change in second["changes"]}
    assert first["schema"] == "tokbench-comparison/1"
