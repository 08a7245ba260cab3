"""Tables that all reports share: the best value, the marks, missing values and their reasons."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from document_tree import chooser, nodes_of
from report_data import PLUGIN_METRIC, build, everything_failed, metric_info

from tokbench.engine.describe import describe_metrics
from tokbench.registry.plugins import load_registry
from tokbench.report.charts.group_dots import group_dots
from tokbench.report.charts.heat import LEVELS, heat_map, heat_maps
from tokbench.report.charts.labels import Box, place
from tokbench.report.charts.scatter import parity_chart, scatter
from tokbench.report.charts.svg import Axis, Drawing
from tokbench.report.document import Table
from tokbench.report.sections.losses import losses
from tokbench.report.sections.overview import main_columns, overview_document
from tokbench.report.sections.problems import problems
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo
from tokbench.results.cells import WHOLE, Cell, Status
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


def test_best_follows_the_direction():
    cells = [cell(name, value) for name, value in (("a", 1.0), ("b", 2.0), ("d", 3.0))]
    assert best(run(*cells)) == {"d"}
    assert best(run(*cells, direction="lower")) == {"a"}
    assert best(run(*cells, direction="none")) == set()


def test_who_does_not_compete():
    cells = [
        cell("a", 1.0),
        cell("b", 2.0),
        cell("trained", 3.0, in_sample=0.5),
        cell("lossy", 4.0),
        Cell("lossy", "c", WHOLE, "roundtrip_exact", 0.9, "share of documents"),
        Cell("failed", "c", WHOLE, "m", status=Status.FAILED, reason="why"),
    ]
    assert best(run(*cells)) == {"b"}


def test_much_lost_text_comes_last_without_a_colour():
    cells = [
        Cell(name, "c", group, "m", value, "u")
        for name, value in (("a", 1.0), ("b", 2.0), ("words", 9.0))
        for group in (WHOLE, "g")
    ]
    for metric, value in (("roundtrip_exact", 0.4), ("lost_characters", 0.5)):
        cells += [Cell("words", "c", group, metric, value, "share") for group in (WHOLE, "g")]
    tables = run(*cells)
    assert tables.series("m", "c").ranked() == ["b", "a", "words"]
    assert tables.series("m", "c").cells["words"].marks == "‡"
    heat = heat_map(tables, "c", "m")
    assert heat is not None
    assert [level for _, level in heat.rows[1].cells] == [LEVELS - 1, 0, None]
    assert len(heat.legends) == 1


def test_a_part_is_never_best_comes_behind_and_has_no_colour():
    cells = [
        cell(name, value, group, measured=measured)
        for name, value, measured in (("a", 1.0, None), ("b", 2.0, None), ("part", 9.0, 0.434))
        for group in (WHOLE, "g")
    ]
    tables = run(*cells)
    shown = tables.series("m", "c")
    assert best(tables) == {"b"}
    assert shown.ranked() == ["b", "a", "part"]
    part = shown.cells["part"]
    assert (part.marks, part.share, shown.cells["a"].share) == ("◐", "43 %", "")
    assert "on 43 % of the documents, because the run was stopped" in part.title
    heat = heat_map(tables, "c", "m")
    assert heat is not None
    assert [level for _, level in heat.rows[1].cells] == [LEVELS - 1, 0, None]


def test_what_only_tells_of_the_text_has_no_heat_map():
    cells = [Cell(name, "c", "g", "m", 7.0, "bytes") for name in ("a", "b")]
    assert heat_map(run(*cells, direction="none"), "c", "m") is None


def test_one_alone_and_units_that_differ_have_no_best():
    assert best(run(cell("a", 1.0))) == set()
    assert best(run(cell("a", 1.0), replace(cell("b", 2.0), unit="v"))) == set()
    assert best(run(cell("a", 1.0), cell("b", 2.0))) == {"b"}


def without_interval(cell: Cell) -> Cell:
    return replace(cell, ci_low=None, ci_high=None, reason="too few documents for an interval")


def test_nothing_is_bold_where_no_number_can_be_compared_with_the_best():
    """The larger of 3.638 and 3.633 is not best because it is larger: nothing shows that it is."""
    near = [cell("llama", 3.638), cell("gpt", 3.633), cell("bytes", 1.0)]
    assert best(run(*map(without_interval, near))) == set()
    assert best(run(without_interval(near[0]), *near[1:])) == set(), "nor where the best alone has no interval"
    assert best(run(*near)) == {"llama", "gpt"}, "their intervals overlap"


def test_who_cannot_be_compared_is_behind_where_a_nearer_one_is():
    behind = [cell("a", 3.0), cell("b", 2.0), without_interval(cell("unknown", 1.0))]
    assert best(run(*behind)) == {"a"}


def test_nobody_is_best_where_the_nearest_cannot_be_compared():
    near = [cell("a", 3.0), without_interval(cell("unknown", 2.5)), cell("b", 2.0)]
    assert best(run(*near)) == set()


def test_what_is_far_behind_is_not_level_for_want_of_evidence():
    """Bytes per token of a small text without intervals, and of one that has its own."""
    turkish = {"a": 3.66, "b": 1.86, "c": 1.79, "d": 1.45}
    alone = [without_interval(cell(name, value)) for name, value in turkish.items()]
    assert best(run(*alone)) == set()
    with_ends = [cell("a", 3.66), cell("b", 1.86), *alone[2:]]
    assert best(run(*with_ends)) == {"a"}


def test_speeds_that_overlap_are_equal():
    cells = [
        Cell(name, "c", WHOLE, "m", value, "MB/s", value - 1, value + 1)
        for name, value in (("a", 10.0), ("b", 9.0), ("d", 5.0), ("e", 4.0))
    ]
    assert best(run(*cells, family="speed")) == {"a", "b"}


def test_a_cell_without_a_value_says_why():
    unknown = TABLES.series("unk_rate", "pud").cells["cl100k"]
    assert (unknown.text, unknown.value, unknown.title) == ("n/a", None, "this vocabulary has no unknown token")
    assert TABLES.series("compression_ratio", "pud").cells["spm-broken"].text == "failed"
    assert run(Cell("a", "c", "g", "m", 1.0)).series("m", "c").cells["a"].text == "not run"


def test_the_title_of_a_share_is_in_percent_throughout():
    cell = Cell("a", "c", WHOLE, "m", 0.5, "share of words", 0.4, 0.6, 7, in_sample=0.25)
    title = run(cell).series("m", "c").cells["a"].title
    assert title == (
        "50 % of words; 95 % interval 40 % to 60 % of words; 7 documents; "
        "25 % of the documents were in the training text"
    )


def test_the_overview_leaves_out_what_has_no_number():
    table = next(nodes_of(overview_document(TABLES), Table))
    columns = [column.key for column in table.columns]
    assert "fertility@code" in columns
    assert "fertility@pud" not in columns
    assert len(table.rows) == len(RESULTS.tokenizers)


def test_a_metric_of_a_plugin_is_everywhere():
    _, pud, *_ = chooser(overview_document(TABLES), "overview").panes
    assert f"{PLUGIN_METRIC}@pud" in [column.key for table in nodes_of(pud, Table) for column in table.columns]
    assert PLUGIN_METRIC in [shown.metric for shown in heat_maps(TABLES, "pud")]


def test_heat_map():
    heat = heat_map(TABLES, "pud", "compression_ratio")
    assert heat is not None
    cells = [cell for cell, _ in heat.rows[0].cells]
    assert [cell.lossy for cell in cells] == [False] * 19 + [True] * 3
    for some in (cells[:19], cells[19:]):
        assert [cell.value for cell in some] == sorted((cell.value for cell in some), reverse=True)
    assert len(heat.rows) == 29
    assert [name for name, _ in heat.absent] == ["p50k", "acme-32k", "spm-broken"]
    levels = {level for row in heat.rows for _, level in row.cells}
    assert levels == {*range(LEVELS), None}
    assert all(level is None for row in heat.rows for cell, level in row.cells if cell.lossy)


def test_a_heat_map_of_several_units_names_them():
    heat = heat_map(TABLES, "pud", "fertility")
    assert heat is not None
    assert not heat.shared
    assert {row.unit for row in heat.rows} == {"tokens/word", "tokens/character", "tokens/cluster"}


def many_tokenizers(number: int) -> CellTables:
    """A run of so many tokenizers, the last of which have the best compression and the first the best speed."""
    cells = [cell for k in range(number) for cell in _of_one(f"t{k}", k)]
    corpora = {"c": CorpusInfo(groups={"en": 9, "de": 9, "fr": 9})}
    return CellTables(replace(run(*cells).results, corpora=corpora))


def _of_one(name: str, k: int) -> list[Cell]:
    """The cells of one of many tokenizers."""
    groups = ("en", "de", "fr", WHOLE)
    ratios = [Cell(name, "c", group, "compression_ratio", 2 + k / 1000, "bytes/token") for group in groups]
    exact = [Cell(name, "c", group, "roundtrip_exact", 1.0, "share of documents") for group in groups]
    return [*ratios, *exact, Cell(name, "c", WHOLE, "encode_mb_per_s", 900.0 - k, "MB/s")]


def test_of_many_tokenizers_maps_and_charts_show_the_best_and_say_where_the_others_are():
    tables = many_tokenizers(500)
    said = "The first 64 tokenizers are shown; the overview and results.csv have the other 436, too."
    heat = heat_map(tables, "c", "compression_ratio")
    assert (heat.tokenizers, heat.left_out) == ([f"t{k}" for k in range(499, 435, -1)], said)
    assert {len(row.cells) for row in heat.rows} == {64}
    dots = group_dots(tables, "c").drawing.__html__()
    assert dots.count("<circle") == 3 * 64
    chart = scatter(tables, "c")
    assert chart.more == said
    assert chart.drawing.__html__().count("<title>") == 64
    [table] = [node for node in nodes_of(overview_document(tables).nodes, Table) if node.label.endswith("all corpora")]
    assert len(table.rows) == 500


def test_up_to_64_tokenizers_all_are_shown():
    tables = many_tokenizers(64)
    heat, chart = heat_map(tables, "c", "compression_ratio"), scatter(tables, "c")
    assert (len(heat.tokenizers), heat.left_out, chart.more) == (64, "", "")


def test_points_of_the_front_are_drawn_before_all_others():
    cells = [cell for k in range(100) for cell in _of_one(f"t{k}", k)]
    cells = [replace(cell, value=5.0) if cell.metric == "encode_mb_per_s" else cell for cell in cells]
    fast = [replace(cell, value=999.0) for cell in _of_one("fast", 0) if cell.metric == "encode_mb_per_s"]
    others = [replace(cell, value=1.0) for cell in _of_one("fast", 0) if cell.metric == "compression_ratio"]
    svg = scatter(run(*cells, *others, *fast), "c").drawing.__html__()
    assert "<title>fast (" in svg
    assert "<title>t36 (" not in svg
    assert "<title>t37 (" in svg  # with the fast one and t99, the front, and the 62 that follow


def test_lower_is_better_has_the_strong_colour_at_the_low_end():
    heat = heat_map(TABLES, "code", "fertility")
    assert heat is not None
    assert float(heat.high) < float(heat.low)


def test_cells_of_one_reason_stand_together():
    section = problems(RESULTS)
    assert [missing.status for missing in section.cells] == ["failed", "timeout", "not applicable", "not applicable"]
    assert sum(missing.cells for missing in section.cells) == sum(cell.status != Status.OK for cell in RESULTS.cells)
    assert section.tokenizers[0][:2] == ("spm-broken", "failed")


def test_a_loss_is_cut_where_the_sides_part():
    loss = next(loss for loss in losses(TABLES).examples if loss.cause == "white space")
    assert (loss.context, loss.expected, loss.got) == ("Weg␣", "␣zum\\u{3000}Ziel⏎", "zum␣Ziel")
    assert loss.change == "U+0020 → U+007A"


def test_losses_are_counted_by_cause_over_all_groups():
    counts = losses(TABLES)
    assert counts.causes[:3] == ["unknown token", "white space", "casing"]
    row = next(row for row in counts.rows if (row.tokenizer, row.corpus) == ("spm-bpe-16k", "pud"))
    assert (row.documents, row.tested, list(row.counts[:3])) == (6, 66, [(2, 4), (4, 6), (0, 2)])
    for row in counts.rows:
        assert sum(first for first, _ in row.counts) == row.documents
    # One that only takes part has no text to show.
    assert {loss.cause for loss in counts.examples if loss.tokenizer == "spm-bpe-16k"} == {
        "unknown token",
        "white space",
    }


def test_no_loss_is_claimed_only_if_it_was_tested():
    assert losses(CellTables(everything_failed())).without_loss == "No round trip was made."
    for value, sentence in ((1.0, "Every text"), (0.9, "Some")):
        cells = [Cell("a", "c", WHOLE, "roundtrip_exact", value)]
        assert losses(CellTables(Results(name="r", metrics=KNOWN, cells=cells))).without_loss.startswith(sentence)


def test_scatter_stays_in_its_frame():
    chart = scatter(TABLES, "pud")
    assert chart is not None
    svg = chart.drawing.__html__()
    marks = re.findall(r'<circle class="mark" cx="(.+?)" cy="(.+?)"|translate\((\S+) (\S+)\)" d=', svg)
    points = [tuple(float(number) for number in mark if number) for mark in marks]
    assert len(points) == svg.count("<g class=") - 1 == 21  # one group is the grid
    assert all(56 <= x <= 944 and 14 <= y <= 470 for x, y in points)
    assert "<title>gpt4-4k (regex_bpe): " in svg
    assert "naive-4k" not in svg
    assert scatter(TABLES, "hostile") is None


def test_scatter_of_a_single_point():
    cells = [
        Cell("a", "c", WHOLE, "compression_ratio", 3.0, "bytes/token"),
        Cell("a", "c", WHOLE, "encode_mb_per_s", 3.0, "MB/s"),
    ]
    chart = scatter(run(*cells), "c")
    assert chart is not None
    ticks = re.findall(r'<text x="\S+" y="\S+" text-anchor="(\w+)">[\d.]+</text>', chart.drawing.__html__())
    assert {"middle", "end"} == set(ticks)


def test_labels_do_not_cover_one_another():
    points = [(100.0 + 12 * k, 100.0 + 3 * (k % 3), f"tokenizer-{k}") for k in range(12)]
    labels = place(points, Box(0, 0, 900, 400))
    boxes = []
    for label in labels:
        shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * 6 * len(label.text)
        boxes.append(Box(label.x - shift, label.y - 9, label.x - shift + 6 * len(label.text), label.y + 2))
    assert not [1 for k, box in enumerate(boxes) for other in boxes[:k] if box.overlap(other)]


def test_a_drawing_escapes_all_its_text():
    drawing = Drawing(10, 10, "<title> & \u202e")
    with drawing.group(title="<b>"):
        drawing.text(1, 2, "<i>")
        drawing.draw("path", d='"><script>')
    markup = drawing.__html__()
    assert set(re.findall(r"<(\w+)", markup)) == {"svg", "g", "title", "text", "path"}
    assert "\u202e" not in markup
    assert 'aria-label="&lt;title&gt; &amp; \\u{202e}"' in markup
    assert '<g role="img"><title>&lt;b&gt;</title>' in markup


@pytest.mark.parametrize(
    ("low", "high", "log"), [(0.2, 900.0, True), (3.0, 5.0, True), (0.0, 7.3, False), (-2.0, 0.01, False)]
)
def test_ticks_lie_on_the_axis(low, high, log):
    ticks = Axis(low, high, 10, 200, log).ticks()
    places = [tick.at for tick in ticks]
    assert len(places) >= 2
    assert places == sorted(places)
    assert 10 <= places[0] <= places[-1] <= 200


def test_headline_columns_keep_their_order():
    assert TABLES.headline == ["compression_ratio", "fertility", "lost_characters", "encode_mb_per_s"]


FAMILIES = [entry.spec for entry in load_registry().metrics.entries.values()]
COMMON = ["compression_ratio", "lost_characters"]


@pytest.mark.parametrize(
    ("families", "first"),
    [
        (
            ["code", "numbers"],
            ["indent_tokens_per_space", "identifier_tokens", "digits_consistency", "digits_triples_distance"],
        ),
        (["fairness", "pairs"], ["premium", "gini", "max_min"]),
        (["fertility", "strr", "morphology"], ["fertility", "strr", "word_boundary_f1", "morpheme_boundary_f1"]),
        (["vocabulary", "utf8", "usage"], []),
    ],
)
def test_a_report_begins_with_the_headline_metrics_of_its_subject(families, first):
    by_name = {family.name: family for family in FAMILIES}
    metrics = describe_metrics([by_name[name] for name in ["compression", *families, "roundtrip"]], {}, {})
    cells = [
        Cell(name, "c", group, metric, value)
        for metric in metrics
        for group in (WHOLE, "g")
        for name, value in (("a", 1.0), ("b", 0.5))
    ]
    tables = CellTables(Results(name="r", metrics=metrics, cells=cells, corpora={"c": CorpusInfo(groups={"g": 9})}))
    assert tables.headline == [*first, *COMMON]
    assert [column.metric for column in main_columns(tables)] == [*first, *COMMON]
    maps = heat_maps(tables, "c")
    assert [shown.metric for shown in maps][: len(first) + 1] == [*first, "compression_ratio"]
    assert {shown.family for shown in maps[: len(first)]} <= {"main"}
    reached = {shown.metric for shown in maps}
    assert reached == {name for name in metrics if name not in tables.loss_counts}


def test_a_family_has_four_headline_metrics_at_most():
    for family in FAMILIES:
        assert sum(metric.headline for metric in family.values) <= 4
        assert family.name in family.subject or not family.subject


def test_the_front_of_compression_against_inequality_runs_over_what_no_other_beats():
    def cells(name, gini, ratio):
        return [
            Cell(name, "c", WHOLE, "gini", gini, "Gini coefficient"),
            Cell(name, "c", WHOLE, "compression_ratio", ratio, "bytes/token"),
        ]

    tables = run(*cells("even", 0.1, 2.0), *cells("short", 0.3, 3.0), *cells("beaten", 0.3, 2.5))
    chart = parity_chart(tables, "c")
    [front] = re.findall(r'class="one" d="([^"]*)"', chart.drawing.__html__())
    spots = re.findall(r'cx="([0-9.]+)" cy="([0-9.]+)"', chart.drawing.__html__())
    (even, short, beaten) = [(float(x), float(y)) for x, y in spots[:3]]
    numbers = [float(number) for number in re.findall(r"[0-9.]+", front)]
    assert numbers == [even[0], 470, even[0], even[1], short[0], short[1], 944]
    assert beaten[0] == short[0]
    assert beaten[1] > short[1]  # lower in the picture
    assert parity_chart(run(*cells("alone", 0.1, 2.0)), "c") is None
