"""The rule of loss in five made-up runs, and copies of a tokenizer, which count once in every comparison."""

import numpy as np
import pytest

import tokbench
from tokbench.measuring.round_trip import RoundTrip
from tokbench.measuring.sums import Sums
from tokbench.report.answer.answer import answer_of
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo, RawState, RunConfig
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench.results.states import RawStates
from tokbench.statistics.standings import standings

TEXTS = [f"{k}: the cafe\u0301 by the sea ▁ is open{' ' * (k % 5)}" + " and waits" * 1200 for k in range(12)]
"""Twelve documents of about 12,000 characters, each with one U+2581 and one decomposed letter."""


SPACE = {"old": "▁", "new": " "}
TOKENIZERS = {
    "exact": {},
    "buys": {"old": "and ", "new": ""},  # a third of the text is gone
    "space": SPACE | {"single": 40},  # three bytes of a document become one
    "nfc": {"old": "e\u0301", "new": "é", "single": 80},
    "behind": {"single": 120},
}


@pytest.fixture
def ran(install, tmp_path):
    """Return a function that measures tokenizers on the texts, or on others."""
    install("lossy_backends")

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
        "nfc": RoundTrip.CANONICAL,
        "behind": RoundTrip.EXACT,
    }
    for metric in ("compression_ratio", "tokens"):
        assert round_trips(tables, metric) == expected
        series = tables.series(metric, "c")
        assert series.ranked() == ["exact", "space", "nfc", "behind", "buys"]
        assert [series.cells[name].marks for name in series.ranked()] == ["", "§", "≡", "", "‡"]
    ranks = {name: tables.cell("rank", "c", WHOLE, name) for name in tables.tokenizers}
    assert {name for name, cell in ranks.items() if cell.value is None} == {"buys"}
    assert ranks["buys"].reason.startswith("buys is lossy: ")

    characters = sum(map(len, TEXTS))
    found = {
        cell.metric: cell.value for cell in tables.results.cells if (cell.tokenizer, cell.group) == ("space", WHOLE)
    }
    assert found["lost_characters"] == found["cer_nfc"] == len(TEXTS) / characters
    assert found["roundtrip_exact"] == 0
    assert tables.cell("cer_nfc", "c", WHOLE, "nfc").value == 0
    assert tables.cell("cer", "c", WHOLE, "nfc").value == 2 * len(TEXTS) / characters


@pytest.mark.parametrize(("most", "ranked"), [(0.0001, True), (0.00005, False)])
def test_the_configuration_says_how_much_may_be_lost(ran, most, ranked):
    """One of about 12,000 characters of each document is lost: .000083."""
    tables = ran({"space": SPACE, "exact": {}}, most_lost=most)
    assert round_trips(tables)["space"] == (RoundTrip.LOSSY_RANKED if ranked else RoundTrip.LOSSY)
    found = answer_of(tables).ranking.standings
    assert ("space" in {each.tokenizer for each in found}) == ranked


def run_of(tokens):
    """A run of tokenizers with so many tokens in each of 32 documents of 4,000 bytes."""
    info = MetricInfo(family="f", direction="higher", unit="bytes/token", ratio_of=["bytes", "tokens"])
    keys = np.arange(32, dtype=np.int64)
    cells, states = [], []
    for name, column in tokens.items():
        sums = Sums.by_key(keys, bytes=np.full(32, 4000), tokens=np.array(column))
        ratio = sums.ratio("bytes", "tokens")
        cells.append(Cell(name, "c", WHOLE, "m", ratio.value, "bytes/token", ratio.ci_low, ratio.ci_high, 32))
        cells.append(Cell(name, "c", WHOLE, "back", 1.0))
        states.append(RawState(tokenizer=name, corpus="c", group="g", family="f", state=sums.raw()))
    return Results(
        name="r",
        corpora={"c": CorpusInfo(groups={"g": 32}, sha256="ab")},
        metrics={"m": info, "back": MetricInfo(role="share of exact documents")},
        cells=cells,
        states=RawStates(states),
        config=RunConfig(practical_margin=0.0),
    )


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
