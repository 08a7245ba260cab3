"""The rule of loss in five made-up runs, and copies of a tokenizer, which count once in every comparison."""

import numpy as np
import pytest
from made_up_results import results_of

import tokbench
from tokbench.measuring.align import lost_text
from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import Loss, RoundTrip
from tokbench.measuring.sums import Sums
from tokbench.report.answer.answer import answer_of
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo, RunConfig
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench.statistics.standings import standings

TEXTS = [f"{k}: the cafe\u0301 by the sea ▁ is open{' ' * (k % 5)}" + " and waits" * 1200 for k in range(12)]
"""Twelve documents of about 12,000 characters, each with one U+2581 and one decomposed letter."""


SPACE = {"old": "▁", "new": " "}
TOKENIZERS = {
    "exact": {},
    "buys": {"old": "and ", "new": ""},  # a third of the text is gone
    "space": SPACE | {"single": 40},  # three bytes of a document become one
    "adds": {"old": " the", "new": "  the", "single": 60},  # two spaces of each document are new
    "nfc": {"old": "e\u0301", "new": "é", "single": 80},
    "behind": {"single": 120},
}


@pytest.fixture
def ran(install, tmp_path):
    """Return a function that measures tokenizers on the texts, or on others."""
    install("faulty_backends")

    def measured(tokenizers, texts=TEXTS, metrics="compression, roundtrip, pairs", **keys):
        (tmp_path / "t.txt").write_text("\n".join(texts), encoding="utf-8")
        corpus = {"source": "text", "path": str(tmp_path / "t.txt"), "document": "line"}
        named = {name: {"backend": "rewritten", **options} for name, options in tokenizers.items()}
        run = {"schema": "tokbench/1", "name": "made-up", "corpora": {"c": corpus}, "tokenizers": named, **keys}
        return CellTables(tokbench.run(run | {"metrics": metrics.split(", ")}, workers=0))

    return measured


def round_trips(tables, metric="compression_ratio"):
    return {name: tables.round_trip(tables.cell(metric, "c", WHOLE, name)) for name in tables.tokenizers}


def test_a_little_loss_is_ranked(ran):
    tables = ran(TOKENIZERS)
    expected = {
        "exact": RoundTrip.EXACT,
        "buys": RoundTrip.LOSSY,
        "space": RoundTrip.LOSSY_RANKED,
        "adds": RoundTrip.INSERTS,
        "nfc": RoundTrip.CANONICAL,
        "behind": RoundTrip.EXACT,
    }
    for metric in ("compression_ratio", "tokens"):
        assert round_trips(tables, metric) == expected
        series = tables.series(metric, "c")
        assert series.ranked() == ["exact", "space", "adds", "nfc", "behind", "buys"]
        assert [series.cells[name].marks for name in series.ranked()] == ["", "§", "⊕", "≡", "", "‡"]
    ranks = {name: tables.cell("rank", "c", WHOLE, name) for name in tables.tokenizers}
    assert {name for name, cell in ranks.items() if cell.value is None} == {"buys"}
    assert ranks["buys"].reason.startswith("buys is lossy: ")

    characters = sum(map(len, TEXTS))
    found = {
        cell.metric: cell.value for cell in tables.results.cells if (cell.tokenizer, cell.group) == ("space", WHOLE)
    }
    assert found["lost_characters"] == found["cer_nfc"] == len(TEXTS) / characters
    assert found["roundtrip_exact"] == 0
    assert tables.cell("lost_characters", "c", WHOLE, "adds").value == 0
    assert tables.cell("cer_nfc", "c", WHOLE, "adds").value == len(TEXTS) * 2 / characters
    assert tables.cell("cer_nfc", "c", WHOLE, "nfc").value == 0
    assert tables.cell("cer", "c", WHOLE, "nfc").value == 2 * len(TEXTS) / characters


@pytest.mark.parametrize(("most", "ranked"), [(0.0001, True), (0.00005, False)])
def test_the_configuration_says_how_much_may_be_lost(ran, most, ranked):
    """One of about 12,000 characters of each document is lost: .000083."""
    tables = ran({"space": SPACE, "exact": {}}, most_lost=most)
    assert round_trips(tables)["space"] == (RoundTrip.LOSSY_RANKED if ranked else RoundTrip.LOSSY)
    found = answer_of(tables).ranking.standings
    assert ("space" in {each.tokenizer for each in found}) == ranked


@pytest.mark.parametrize(
    ("loss", "kept"),
    [
        (Loss(exact=True), RoundTrip.EXACT),
        (Loss(exact=True, lost=0.5, edits=0.5), RoundTrip.EXACT),
        (Loss(exact=False), RoundTrip.CANONICAL),
        (Loss(exact=False, edits=1e-9), RoundTrip.INSERTS),
        (Loss(exact=False, edits=3.0), RoundTrip.INSERTS),
        (Loss(exact=False, lost=0.001, edits=3.0), RoundTrip.LOSSY_RANKED),
        (Loss(exact=False, lost=0.0010001, edits=0.0010001), RoundTrip.LOSSY),
    ],
)
def test_the_rule_of_loss(loss, kept):
    assert loss.round_trip() == kept
    assert kept.ranked == (kept != RoundTrip.LOSSY)


@pytest.mark.parametrize(
    ("text", "back", "lost"),
    [
        ("a b", "a  b", 0),  # inserted
        ("ab", " ab ", 0),
        ("a b", "ab", 1),  # deleted
        ("naïve", "na\ufffdve", 1),  # replaced: one lost and one inserted
        ("naïve", "na\ufffd\ufffdve", 1),
        ("ABc", "abc", 2),
        ("x² ½", "x2 1\u20442", 2),
        ("ﬁ", "fi", 1),
        ("cafe\u0301", "caf\u00e9", 0),  # the same text
        ("a\u2581b", "a b", 1),
        ("a\tb", "a b", 1),
        ("", "x", 0),
        ("x", "", 1),
    ],
)
def test_replaced_characters_are_lost_and_inserted_ones_are_not(text, back, lost):
    assert lost_text(text, back).characters == lost


def test_premiums_leave_out_documents_that_lose_and_keep_those_that_gain(install, tmp_path):
    """Three of twelve German lines, and an English one, have the word that one doubles and the other drops."""
    install("faulty_backends")
    for name, words in {"en": [*["a line"] * 11, "a wort"], "de": ["das wort"] * 3 + ["das"] * 9}.items():
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"{word} {k}\n" for k, word in enumerate(words)), encoding="utf-8"
        )
    corpus = {
        "source": "text",
        "path": str(tmp_path / "??.txt"),
        "document": "line",
        "parallel": True,
        "reference": "en",
    }
    named = {
        name: {"backend": "rewritten", "old": "wort", "new": new}
        for name, new in {"gains": "wortwort", "drops": ""}.items()
    }
    run = {"schema": "tokbench/1", "name": "made-up", "corpora": {"c": corpus}, "tokenizers": named}
    tables = CellTables(tokbench.run(run | {"metrics": ["fairness", "roundtrip"]}, workers=0))
    assert {name: tables.cell("left_out", "c", "de", name).value for name in named} == {"gains": 0, "drops": 4}


ROLES = {"exact": Role.ROUND_TRIP, "lost": Role.LOST_CHARACTERS, "errors": Role.ERRORS}


@pytest.mark.parametrize(
    ("whole", "group", "kept"),
    [
        ((1, 0, 0), (1, 0, 0), "exact"),
        ((0.5, 0.5, 0.5), (1, 0, 0), "exact"),
        ((0.5, 0.5, 0.5), (0, 0, 0), "equal up to NFC"),
        ((0.5, 0.5, 0.5), (0, 0, 0.1), "inserts characters"),
        ((0.5, 0.001, 0.001), (0, 0.5, 0.5), "lossy, ranked"),
        ((0.5, 0.0011, 0.0011), (0, 0.0001, 0.0001), "lossy"),
        ((0.5, 0.5, 0.5), None, "unknown"),
        ((0.5, 0, 0), None, "unknown"),
        ((1, 0, 0), None, "exact"),
        ((0.5, None, 0), (0.5, None, 0), "lossy"),  # everything may be lost
        ((0.5, 0, None), (0.5, 0, None), "inserts characters"),
        (None, (0.5, 0.0005, 0.1), "lossy, ranked"),
    ],
)
def test_the_round_trip_of_a_group(whole, group, kept):
    """Shares of exact documents, of characters lost, and of edits, on the corpus and on the group."""
    cells = [
        Cell("t", "c", place, metric, value)
        for place, shares in ((WHOLE, whole), ("g", group))
        for metric, value in zip(ROLES, shares or (), strict=bool(shares))
        if value is not None
    ]
    metrics = {name: MetricInfo(role=role) for name, role in ROLES.items()} | {"m": MetricInfo()}
    tables = CellTables(Results(name="r", metrics=metrics, cells=[*cells, Cell("t", "c", "g", "m", 1.0)]))
    assert tables.round_trip(tables.cell("m", "c", "g", "t")).value == kept


def run_of(tokens):
    """A run of tokenizers with so many tokens in each of 32 documents of 4,000 bytes."""
    info = MetricInfo(family="f", direction="higher", unit="bytes/token", ratio_of=["bytes", "tokens"])
    keys = np.arange(32, dtype=np.int64)
    cells, states = [], {}
    for name, column in tokens.items():
        sums = Sums.by_key(keys, bytes=np.full(32, 4000), tokens=np.array(column))
        ratio = sums.ratio("bytes", "tokens")
        cells.append(Cell(name, "c", WHOLE, "m", ratio.value, "bytes/token", ratio.ci_low, ratio.ci_high, 32))
        cells.append(Cell(name, "c", WHOLE, "back", 1.0))
        states[name, "c", "g", "f"] = sums.raw()
    metrics = {"m": info, "back": MetricInfo(role="share of exact documents")}
    facts = {"corpora": {"c": CorpusInfo(groups={"g": 32}, sha256="ab")}, "config": RunConfig(practical_margin=0.0)}
    return results_of(cells, metrics, states, **facts)


def best_of(results):
    """The best by the report."""
    return CellTables(results).level_with_best("m", "c")


def test_copies_of_a_tokenizer_count_once():
    """Four hypotheses would multiply a p-value of .03 by four; of copies there is one."""
    base = np.full(32, 1000)
    near = base + 4 + np.array([10, -10] * 16)
    far = base * 2
    alone = run_of({"first": base, "near": near, "far": far})
    copied = run_of(
        {"first": base, "its copy": base, **dict.fromkeys(("near", "two", "three", "four"), near), "far": far}
    )
    tables = CellTables(alone)
    both = {name: [tables.number(tables.cell("m", "c", WHOLE, name))] for name in ("first", "near")}
    assert 0.05 / 4 < standings(both)[1].gap.p < 0.05
    assert best_of(alone) == {"first"}
    assert best_of(copied) == {"first", "its copy"}
    other = base + 4 + np.array([10, 10, -10, -10] * 8)
    assert best_of(run_of({"first": base, "near": near, "no copy": other, "far": far})) == {
        "first",
        "near",
        "no copy",
    }
