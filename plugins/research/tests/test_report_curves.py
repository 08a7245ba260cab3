"""Charts of metrics that lie on a curve: who has a line, where it begins, and what stands beside the charts."""

from __future__ import annotations

from tokbench.measuring.metric import Role
from tokbench.report.tables import CellTables
from tokbench.results.blocks import MetricInfo
from tokbench.results.cells import WHOLE, Cell, Status
from tokbench.results.metric_curves import CurvePoint
from tokbench.results.model import Results
from tokbench_research.sections.curves import metric_curves, metric_curves_documents


def results(start):
    """Make a run of three tokenizers with one curve of two metrics, named in the wrong order."""
    found = Results(name="r")
    for at in (20, 5):
        point = CurvePoint(name="noise", at=at, axis="dB", quantity="tokens", start=start)
        found.metrics[f"noise_{at}"] = MetricInfo(family="my_noise", direction="lower", formula="a / b", curve=point)
        found.cells += [
            Cell("whole", "c", WHOLE, f"noise_{at}", 1 + at / 10, ci_low=1.0, ci_high=1 + at / 5),
            Cell("lossy", "c", WHOLE, f"noise_{at}", 1 + at / 20),
            Cell("half", "c", WHOLE, f"noise_{at}", 7.0)
            if at == 5
            else Cell("half", "c", WHOLE, f"noise_{at}", status=Status.FAILED, reason="it died"),
        ]
    found.metrics["exact"] = MetricInfo(family="f", role=Role.ROUND_TRIP)
    found.metrics["errors"] = MetricInfo(family="f", role=Role.ERRORS, loss_cannot_help="it is the loss")
    found.cells += [Cell(name, "c", WHOLE, "exact", value) for name, value in (("whole", 1.0), ("lossy", 0.5))]
    found.cells += [Cell("lossy", "c", WHOLE, "errors", 0.0005)]
    return found


def chart(start):
    [section] = metric_curves(CellTables(results(start)))
    [view] = section.corpora
    [group] = view.groups
    assert (section.heading, section.axis, view.corpus) == ("My noise", "dB", "c")
    assert (group.quantity, group.explanation) == ("tokens", "a / b; lower is better")
    assert [name for name, _ in view.keys] == ["whole", "lossy"]
    assert any(legend.startswith("§") for legend in view.legends)
    return group.charts["noise"].lines


def test_a_tokenizer_that_lacks_a_value_has_no_line_and_the_others_go_from_left_to_right():
    lines = chart(None)
    assert [line for line in lines if "<title>" in line] == [
        '<g class="line p0 d0" role="img"><title>whole: 5: 1.500 (1.000\u20132.000), 20: 3.000 (1.000\u20135.000)</title>',
        '<g class="line p1 d0" role="img"><title>lossy: 5: 1.250§, 20: 2.000§</title>',
    ]
    assert sum("whisker" in line for line in lines) == 2


def test_a_curve_begins_with_what_follows_from_the_definition():
    said = [line for line in chart(1.0) if "<title>" in line]
    assert all(": 0: 1, 5: " in line for line in said)
    assert [line.count("L") for line in chart(1.0) if "trace" in line] == [2, 2]


def test_curves_without_any_line_have_a_reason():
    found = results(None)
    found.cells = [cell for cell in found.cells if cell.tokenizer == "half"]
    assert metric_curves(CellTables(found)) == []
    other = CurvePoint(name="hum", at=1, axis="dB", quantity="tokens", start=0)
    whole = results(None)
    whole.metrics["hum"] = MetricInfo(family="my_noise", curve=other)
    whole.cells.append(Cell("whole", "c", WHOLE, "hum", status=Status.NOT_APPLICABLE, reason="it is silent"))
    [section] = metric_curves(CellTables(whole))
    assert section.corpora[0].absent == ["hum: it is silent"]
    [shown] = metric_curves_documents(CellTables(results(None)))
    [pane] = shown.nodes[1].panes
    assert (shown.id, pane.name) == ("curves-0", "c")
    kinds = [type(node).__name__ for node in pane.nodes]
    assert kinds[:6] == ["Heading", "Paragraph", "Heading", "Paragraph", "Multiples", "Paragraph"]
