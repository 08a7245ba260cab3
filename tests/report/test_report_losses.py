"""A tokenizer that loses text is marked, never best and never first: in every metric, table, chart, probe and study."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from document_tree import chooser, nodes_of
from made_up_results import results_of
from report_data import LOSSY as LOSSY_NAMES
from report_data import build
from rich.console import Console

from tokbench.formats import html, markdown
from tokbench.measuring.family import described
from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.registry.plugins import load_registry
from tokbench.report.cells import NOT_CHECKED_LEGEND
from tokbench.report.charts.heat import heat_map
from tokbench.report.charts.scatter import scatter
from tokbench.report.document import Paragraph
from tokbench.report.report import Report
from tokbench.report.sections.overview import overview_document
from tokbench.report.tables import CellTables
from tokbench.report.terminal import summary
from tokbench.results.blocks import CorpusInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell, trained_on
from tokbench.results.model import Results

OWN = {"probes", "special_tokens"}
"""Families whose texts are their own."""
FAMILIES = [entry.spec for entry in load_registry().metrics.entries.values() if entry.spec.name not in OWN]
ALONE = {spec.name for spec in load_registry().studies if spec.alone}
METRICS = described(FAMILIES, {}, ALONE)
OF_THE_ENGINE = (
    "load_s train_s train_s_slope train_memory_mb train_memory_slope memory_loaded_mb memory_peak_mb growth_exponent"
).split()
NAMED_SAFE = {
    *("bytes", "chars", "words"),  # counted on the text alone
    *("roundtrip_exact", "lost_characters", "cer", "cer_nfc", "left_out"),  # the losses themselves
    *OF_THE_ENGINE,
    *(
        name for name in METRICS if name.startswith(("loss_", "bits_per_byte", "transformer_"))
    ),  # none where text is lost
    *(name for name in METRICS if name.startswith(("kind_", "script_"))),  # of the vocabulary, not of a text
}
ROUND_TRIP = next(name for name, metric in METRICS.items() if metric.role == Role.ROUND_TRIP)
UNKNOWN = next(name for name, metric in METRICS.items() if metric.role == Role.UNKNOWN)
"""Not judged below: who has an unknown token loses text by definition, so that all who do not are equal at 0."""
JUDGED = sorted(name for name, metric in METRICS.items() if metric.direction != "none" and name != UNKNOWN)
FAIR = ("a", "b", "d", "e")
LOSSY = "lossy"


def every_metric() -> Results:
    """A run with every metric there is; the tokenizer that loses text has the best value in each."""
    results = Results(name="r", metrics=METRICS, corpora={"c": CorpusInfo(groups={"g": 9, "h": 9})})
    results.tokenizers = {name: TokenizerInfo(vocab_size=9) for name in (LOSSY, *FAIR)}
    for metric, info in METRICS.items():
        sign = -1 if info.direction == "lower" else 1
        values = {LOSSY: 50 + 9 * sign} | {name: 50 + k * sign for k, name in enumerate(FAIR)}
        if metric == ROUND_TRIP:
            values = {LOSSY: 0.98, **dict.fromkeys(FAIR, 1.0)}
        if metric == UNKNOWN:
            values = dict.fromkeys(values, 0.0)
        groups = [WHOLE] if info.timed else [WHOLE, "g", "h"]
        results.cells += [
            Cell(n, "c", g, metric, float(v), info.unit, v - 0.25, v + 0.25, n=9)
            for n, v in values.items()
            for g in groups
        ]
    return results


RESULTS = every_metric()
TABLES = CellTables(RESULTS)


@pytest.mark.packages
def test_metrics_in_which_loss_cannot_help_are_named():
    assert {name for name, metric in METRICS.items() if metric.loss_cannot_help} == NAMED_SAFE


@pytest.mark.packages
def test_the_best_value_wins_nothing_if_text_is_lost():
    assert len(JUDGED) > 100
    for metric in JUDGED:
        for group in {cell.group for cell in RESULTS.cells if cell.metric == metric}:
            series = TABLES.series(metric, "c", group)
            cell = series.cells[LOSSY]
            if metric in NAMED_SAFE:
                assert cell.best == (metric != ROUND_TRIP)
                continue
            assert (cell.best, cell.marks, series.ranked()[-1]) == (False, "‡", LOSSY), metric
            assert series.cells[series.ranked()[0]].best
        shown = heat_map(TABLES, "c", metric)
        if shown and metric not in NAMED_SAFE:
            assert shown.tokenizers[-1] == LOSSY
            assert {level for row in shown.rows for _, level in row.cells[-1:]} == {None}


def bold_in_html(page: str, name: str) -> list[str]:
    rows = re.findall(
        rf'<tr><th scope="row"[^>]*>{name}</th>.*?</tr>|<tr>\s*<th[^>]*data-v="{name}".*?</tr>', page, re.DOTALL
    )
    assert rows
    return [cell for row in rows for cell in re.findall(r'<td class="n best"[^>]*>.*?</td>', row, re.DOTALL)]


@pytest.mark.packages
def test_no_format_shows_a_lossy_tokenizer_as_best():
    safe = sorted(set(JUDGED) & NAMED_SAFE - {ROUND_TRIP})
    page, text = html.render(RESULTS), markdown.render(RESULTS)
    # A metric is in one table of its corpus, a timed one in that of speeds, too, a headline metric in that of all.
    timed, headline = (sum(getattr(METRICS[name], what) for name in safe) for what in ("timed", "headline"))
    assert len(bold_in_html(page, LOSSY)) == len(safe) + timed + headline
    assert len(bold_in_html(page, FAIR[-1])) > 100
    # In Markdown only the timed and headline ones have a table.
    assert sum(line.count("**") for line in text.splitlines() if line.startswith("| lossy |")) == 2 * (timed + headline)
    assert "‡" in next(line for line in text.splitlines() if line.startswith("| lossy |"))
    # A row of the overview can be sorted behind the others only if its cells say so.
    assert "data-aside" in re.search(r'<th scope="row" data-v="lossy".*?</tr>', page, re.DOTALL)[0]
    rows = [line.split(" ")[0] for line in printed(RESULTS).splitlines() if line.split(" ")[0] in {LOSSY, *FAIR}]
    assert rows[-5:] == ["e", "d", "b", "a", "lossy"]


def printed(results: Results) -> str:
    file = io.StringIO()
    summary(Report(results), Console(file=file, width=150))
    return file.getvalue()


def test_a_run_without_a_round_trip_declares_no_best():
    metrics = {name: metric for name, metric in METRICS.items() if metric.family != METRICS[ROUND_TRIP].family}
    cells = [cell for cell in RESULTS.cells if cell.metric in metrics]
    results = replace(RESULTS, metrics=metrics, cells=cells)
    tables = CellTables(results)
    for metric in sorted(set(JUDGED) & set(results.metrics)):
        series = tables.series(metric, "c")
        best = [name for name, cell in series.cells.items() if cell.best]
        if metric in NAMED_SAFE:
            assert best == [LOSSY]
        else:
            assert best == []
            values = [series.cells[name].value for name in series.ranked()]
            assert values == sorted(values, reverse=series.direction == "higher")
            assert {cell.marks for cell in series.cells.values()} == {""}
    assert heat_map(tables, "c", tables.with_role(Role.TEXT_PER_TOKEN)).direction == "none"
    for text in (printed(results), markdown.render(results)):
        assert NOT_CHECKED_LEGEND[1:] in " ".join(text.split())


def test_where_the_round_trip_has_no_number_nothing_is_best():
    gone = {(ROUND_TRIP, "e", "g"), (ROUND_TRIP, "e", WHOLE)}
    kept = [cell for cell in RESULTS.cells if (cell.metric, cell.tokenizer, cell.group) not in gone]
    tables = CellTables(replace(RESULTS, cells=kept))
    series = tables.series("compression_ratio", "c", "g")
    assert (series.cells["e"].marks, series.cells["e"].best, series.cells["d"].best) == ("?", False, True)
    assert series.ranked() == ["d", "b", "a", "e", LOSSY]
    assert tables.series("compression_ratio", "c", "h").cells["e"].best


def of_languages(shares, reference=""):
    """The tables of a tokenizer that gives back these shares of the texts of three languages."""
    cells = [Cell("t", "c", group, ROUND_TRIP, share) for group, share in shares.items()]
    corpora = {"c": CorpusInfo(groups=dict.fromkeys(("en", "de", "ru"), 1), reference=reference)}
    return CellTables(results_of(cells, METRICS, corpora=corpora))


@pytest.mark.parametrize(
    ("shares", "latin", "cyrillic"),
    [
        ({"en": 1.0, "de": 1.0, "ru": 0.5}, RoundTrip.EXACT, RoundTrip.LOSSY),
        ({"en": 1.0, "de": 0.9, "ru": 1.0}, RoundTrip.LOSSY, RoundTrip.EXACT),
        ({"en": 1.0}, RoundTrip.UNKNOWN, RoundTrip.UNKNOWN),
    ],
)
def test_a_slice_is_exact_if_all_its_groups_are(shares, latin, cyrillic):
    tables = of_languages(shares)
    assert tables.round_trip(Cell("t", "c", "script: Latin", "chars_split", 0.1)) == latin
    assert tables.round_trip(Cell("t", "c", "script: Cyrillic", "chars_split", 0.1)) == cyrillic


def test_a_premium_needs_the_reference_exact_too():
    tables = of_languages({"de": 1.0, "en": 0.9}, reference="en")
    assert tables.round_trip(Cell("t", "c", "de", "premium", 1.2)) == RoundTrip.LOSSY
    assert tables.round_trip(Cell("t", "c", "de", "compression_ratio", 4.0)) == RoundTrip.EXACT


def test_the_scatter_leaves_out_who_loses_much():
    chart = scatter(CellTables(build(hostile=False)), "pud")
    drawn = re.findall(r'<g class="p\d[^"]*" role="img"><title>(\S+) ', chart.drawing.__html__())
    assert set(chart.left_out) == set(LOSSY_NAMES)
    assert drawn
    assert not set(drawn) & set(LOSSY_NAMES)


@pytest.mark.parametrize(("share", "mark"), [(1 / 2500, ""), (0.0099, ""), (0.01, "†")])
def test_a_coincidence_is_not_training(share, mark):
    assert trained_on(share) == bool(mark)
    cells = [replace(c, in_sample=share) if c.tokenizer == "e" else c for c in RESULTS.cells]
    tables = CellTables(replace(RESULTS, cells=cells))
    cell = tables.series("compression_ratio", "c").cells["e"]
    assert (cell.marks, cell.best) == (mark, not mark)
    assert f"{100 * share:.6g}% of the documents" in cell.title
    assert len(_legends(tables, "†")) == bool(mark)


def _legends(tables, mark):
    """The lines below the table of all corpora that explain a mark."""
    main = chooser(overview_document(tables), "overview").panes[0]
    return [paragraph.line for paragraph in nodes_of(main, Paragraph) if paragraph.line.startswith(mark)]
