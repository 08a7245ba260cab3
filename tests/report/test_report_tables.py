"""Tables that all reports share: the best value, the marks, missing values and their reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest
from document_tree import nodes_of
from report_data import LANGUAGES, build, metric_info

from tokbench.report.charts.heat import LEVELS, heat_drawing, heat_map
from tokbench.report.charts.labels import Box, place
from tokbench.report.charts.scatter import scatter
from tokbench.report.document import Table
from tokbench.report.sections.losses import losses
from tokbench.report.sections.overview import overview_document
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results

RESULTS = build(hostile=False)
TABLES = CellTables(RESULTS)


KNOWN = {
    name: metric_info(name, family, unit, "higher")
    for name, family, unit in (
        ("compression_ratio", "compression", "bytes/token"),
        ("roundtrip_exact", "roundtrip", "share of documents"),
        ("lost_characters", "roundtrip", "share of characters"),
        ("encode_mb_per_s", "speed", "MB/s"),
    )
} | {"gini": metric_info("gini", "fairness", "Gini coefficient", "lower")}


def run(*cells: Cell, direction="higher", family="compression", metric="m") -> CellTables:
    """A run in which everything comes back, unless a cell says otherwise."""
    metrics = KNOWN | {metric: metric_info(metric, family, "u", direction)}
    exact = {("roundtrip_exact", c.corpus, c.group, c.tokenizer): _round_trip(c, 1.0) for c in cells}
    given = {(c.metric, c.corpus, c.group, c.tokenizer): c for c in cells}
    return CellTables(Results(name="r", metrics=metrics, cells=list((exact | given).values())))


def _round_trip(cell: Cell, share: float | None, **other) -> Cell:
    return Cell(cell.tokenizer, cell.corpus, cell.group, "roundtrip_exact", share, "share of documents", **other)


def best(tables: CellTables) -> set[str]:
    return {name for name, cell in tables.series("m", "c").cells.items() if cell.best}


def cell(name: str, value: float, group: str = WHOLE, **other) -> Cell:
    """A number whose interval reaches a quarter to both sides."""
    return Cell(name, "c", group, "m", value, "u", value - 0.25, value + 0.25, **other)


RETURNS = {"a": "lists", "b": "lists", "d": "arrays", "e": "arrays"}


@pytest.mark.parametrize(("by_output", "expected"), [(True, {"b", "e"}), (False, {"e"})])
def test_engines_that_return_arrays_are_compared_with_their_own(by_output, expected):
    results = run(*(cell(name, value) for name, value in zip("abde", (1.0, 2.0, 3.0, 4.0), strict=True))).results
    results.metrics["m"] = replace(results.metrics["m"], by_output=by_output)
    results.tokenizers |= {name: TokenizerInfo(backend="b", returns=returns) for name, returns in RETURNS.items()}
    assert best(CellTables(results)) == expected


def test_labels_do_not_cover_one_another():
    points = [(100.0 + 12 * k, 100.0 + 3 * (k % 3), f"tokenizer-{k}") for k in range(12)]
    labels = place(points, Box(0, 0, 900, 400))
    boxes = []
    for label in labels:
        shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * 6 * len(label.text)
        boxes.append(Box(label.x - shift, label.y - 9, label.x - shift + 6 * len(label.text), label.y + 2))
    assert not [1 for k, box in enumerate(boxes) for other in boxes[:k] if box.overlap(other)]


def without_interval(cell: Cell) -> Cell:
    return replace(cell, ci_low=None, ci_high=None, reason="too few documents for an interval")


A, B, C = cell("a", 3.638), cell("b", 3.59), cell("c", 1.0)
BARE = {each.tokenizer: without_interval(each) for each in (A, B, C)}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([A, B, C], {"a", "b"}),  # their intervals overlap
        ([*BARE.values()], set()),  # the larger of two is not best because it is larger
        ([BARE["a"], B, C], set()),
        ([A, BARE["b"], C], set()),  # the nearest cannot be compared
        ([A, replace(BARE["b"], value=3.61), C], {"a", "b"}),  # and ties below the margin
        ([A, replace(B, value=2.0, ci_low=1.75, ci_high=2.25), BARE["c"]], {"a"}),  # a nearer one is behind
        ([A], set()),
        ([A, replace(C, unit="v")], set()),
        ([A, C], {"a"}),
    ],
)
def test_best_needs_evidence_and_a_rival(cells, expected):
    assert best(run(*cells)) == expected


def test_heat_maps_rank_lossy_tokenizers_last():
    heat = heat_map(TABLES, "pud", "compression_ratio")
    cells = [cell for cell, _ in heat.rows[0].cells]
    assert [cell.lossy for cell in cells] == [False] * 10 + [True] * 2
    for some in (cells[:10], cells[10:]):
        assert [cell.value for cell in some] == sorted((cell.value for cell in some), reverse=True)
    assert len(heat.rows) == 1 + len(LANGUAGES)
    assert [name for name, _ in heat.absent] == ["p50k", "spm-broken"]
    assert {level for row in heat.rows for _, level in row.cells} == {*range(LEVELS), None}
    assert all((level is None) == cell.lossy for row in heat.rows for cell, level in row.cells)


def many_tokenizers(number: int) -> CellTables:
    """A run of so many tokenizers, the last of which have the best compression and the first the best speed."""
    cells = [cell for k in range(number) for cell in _of_one(f"t{k}", k)]
    return CellTables(replace(run(*cells).results, corpora={"c": CorpusInfo(groups={"en": 9, "de": 9, "fr": 9})}))


def _of_one(name: str, k: int) -> list[Cell]:
    """The cells of one of many tokenizers."""
    groups = ("en", "de", "fr", WHOLE)
    ratios = [Cell(name, "c", group, "compression_ratio", 2 + k / 1000, "bytes/token") for group in groups]
    return [*ratios, Cell(name, "c", WHOLE, "encode_mb_per_s", 900.0 - k, "MB/s")]


def test_maps_and_charts_show_the_best_64_tokenizers():
    tables = many_tokenizers(100)
    heat, chart = heat_map(tables, "c", "compression_ratio"), scatter(tables, "c")
    assert (heat.tokenizers, heat.left_out) == ([f"t{k}" for k in range(99, 35, -1)], chart.more)
    assert " 36, too." in chart.more
    assert {len(row.cells) for row in heat.rows} == {64}
    assert chart.drawing.__html__().count("<title>") == 64
    [table] = [node for node in nodes_of(overview_document(tables).nodes, Table) if node.label.endswith("all corpora")]
    assert len(table.rows) == 100
    few = many_tokenizers(64)
    assert (heat_map(few, "c", "compression_ratio").left_out, scatter(few, "c").more) == ("", "")


def test_losses_are_counted_by_cause_over_all_groups():
    found = [loss for loss in losses(TABLES) if (loss.tokenizer, loss.corpus) == ("spm-bpe-16k", "pud")]
    counts = {loss.cause: (loss.documents, loss.taking_part) for loss in found}
    assert counts == {"white space": (4, 6), "unknown token": (2, 4), "casing": (0, 2)}
    loss = next(loss for loss in found if loss.cause == "white space")
    assert (loss.context, loss.expected, loss.got) == ("Weg␣", "␣zum\\u{3000}Ziel⏎", "zum␣Ziel")
    assert loss.change == "U+0020 → U+007A"


def test_compression_is_tokens_beyond_the_best():
    """6 bytes per token are the best of one script, 3 of another; the lossy one does not count."""
    rates = {"latin": {"a": 3.0, "b": 2.5, "last": 4.0}, "thai": {"a": 4.0, "b": 6.0, "last": 9.0}}
    cells = [
        cell(name, value, group)
        for group, by_name in {WHOLE: rates["latin"], **rates}.items()
        for name, value in by_name.items()
    ]
    for metric, value in (("roundtrip_exact", 0.4), ("lost_characters", 0.5)):
        cells += [Cell("last", "c", group, metric, value, "share") for group in (WHOLE, *rates)]
    heat = heat_map(run(*cells), "c", "m", beyond=True)
    assert heat.tokenizers == ["a", "b", "last"]
    shown = {row.group: [(each.text, each.raw, level) for each, level in row.cells] for row in heat.rows}
    assert shown["latin"] == [("best", "3.00", 8), ("+20%", "2.50", 4), ("-25%", "4.00", None)]
    assert shown["thai"] == [("+50%", "4.00", 0), ("best", "6.00", 8), ("-33%", "9.00", None)]
    drawn = heat_drawing(heat, "c").__html__()
    assert ("+50%" in drawn, ">4.00<" in drawn) == (True, False)
