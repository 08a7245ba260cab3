"""The section on measured sizes: what is said of a move of the best size, the chart, and learning rates, by hand."""

from __future__ import annotations

import re

import pytest

from tokbench.report.html_nodes import HtmlNodes
from tokbench.report.markdown_nodes import nodes_markdown
from tokbench.report.tables import CellTables
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.measured_block import (
    BestMeasuredSize,
    MeasuredSizes,
    SizeMove,
    TrainedSize,
    TriedRates,
)
from tokbench.studies.vocabulary_size.section_measured import MeasuredSizeCharts, measured_nodes, move_sentences

SIZES = [256, 512, 1024, 2048]


UNDECIDED = "it cannot be decided where the best size goes"
HOLDS = "The law's direction holds here."
LAW = "The law says 0.40 doublings."


def best(size, *, body="tiny", amount=250_000.0, **changes):
    """A setting in which this size is best; an edge if it is the first or the last."""
    edge = "smallest" if size == SIZES[0] else "largest" if size == SIZES[-1] else ""
    given = {
        "line": "cut", "body": body, "equal": "bytes", "amount": amount, "flops": 1e12, "sizes": SIZES,
        "values": [2.0 + 0.1 * (other != size) for other in SIZES], "best": size, "edge": edge, "law": 3000,
    }  # fmt: skip
    return BestMeasuredSize(**given | changes)


def study(**blocks):
    """The measured sizes of a study."""
    texts = {"training_documents": 1, "training_bytes": 1, "scored_documents": 1, "scored_bytes": 1, "duplicates": 0}
    return MeasuredSizes(corpus="c", train="c", bodies={"tiny": 98_624}, **texts | blocks)


def charts(*settings):
    return list(MeasuredSizeCharts(study(best=settings)).by_place.values())


def moved(before, after, interval, verdict, *, doublings=0.0, law=0.4):
    """The sentence about a move from 250 kB to 1 MB under one body."""
    low, high = interval or (None, None)
    move = SizeMove(
        line="cut", body="tiny", amount=250_000.0, to_body="tiny", to_amount=1e6, equal="bytes",
        doublings=doublings, low=low, high=high, verdict=verdict, law=law,
    )  # fmt: skip
    [sentence] = move_sentences(study(best=[best(before), best(after, amount=1e6)], moves=[move]))
    return sentence.removeprefix("cut, tiny, from 250 kB to 1.00 MB: ")


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((2048, 512), "with 250 kB 2,048 has the fewest bits per byte and is the largest size that was tried"),
        ((512, 256), "with 1.00 MB 256 has the fewest bits per byte and is the smallest size that was tried"),
    ],
)
@pytest.mark.parametrize(
    ("interval", "verdict"), [((-1.0, 0.7), "undecided"), ((0.9, 2.0), "grows"), (None, "unknown")]
)
def test_no_direction_is_told_if_a_best_size_lies_at_an_edge(places, expected, interval, verdict):
    beyond = "so that the best one may lie beyond"
    assert moved(*places, interval, verdict) == f"no direction can be told, because {expected}, {beyond}. {LAW}"


def trainings(tokens):
    """The training of 512, which learned from so many tokens."""
    row = TrainedSize(
        line="cut", vocab_size=512, body="tiny", seed=0, share=1.0, n_bytes=250_000, bits_per_byte=2.0, tokens=tokens,
        flops=9, learning_rate=0.008, seconds=1.0,
    )  # fmt: skip
    return [row]


@pytest.mark.parametrize(("tokens", "refused"), [(512 * 50, False), (512 * 50 - 1, True)])
def test_fifty_training_tokens_for_an_id_are_needed_for_a_best_size(tokens, refused):
    measured = study(best=[best(512)], trained=trainings(tokens))
    page, text = shown(measured)
    assert bool(measured.refusal(best(512))) == refused
    reason = "512 has the fewest bits per byte and only 50 training tokens for an id, and below 50 more text moves the"
    assert (reason in text) == refused
    assert ("★" in page) != refused
    assert ("| cut | tiny | bytes | 250 kB | none | none | none | 2.000 | 3,000 |" in text) == refused


@pytest.mark.parametrize(
    ("places", "interval", "verdict", "doublings", "expected"),
    [
        (
            *((512, 1024), (0.3, 1.4), "grows", 0.8),
            f"the best size grows by 0.80 doublings [0.30, 1.40]. {HOLDS}",
        ),
        ((512, 512), (-0.3, 0.4), "undecided", 0.1, f"{UNDECIDED}: 0.10 doublings [-0.30, 0.40]. {LAW}"),
        (
            *((512, 512), (-0.001, 0.002), "undecided", -0.0004),
            f"the best size does not move: 0.00 doublings [0.00, 0.00]. {LAW}",
        ),
        ((512, 1024), None, "unknown", 0.8, f"{UNDECIDED}, because there is no interval."),
    ],
)
def test_every_other_move_in_words(places, interval, verdict, doublings, expected):
    assert moved(*places, interval, verdict, doublings=doublings) == expected


def test_a_law_that_stays_is_said_to_stay():
    sentence = moved(512, 1024, (0.3, 1.4), "grows", doublings=0.8, law=0.001)
    assert sentence == "the best size grows by 0.80 doublings [0.30, 1.40]. By the law it stays."


def test_the_star_stands_below_the_interval_of_the_best_size():
    setting = best(512, low=[2.0, 1.9, 2.0, 2.0], high=[2.2, 2.1, 2.2, 2.2], level=[512, 1024])
    [chart] = charts(setting)
    strokes = [re.search(r"M(.*) (.*)V(.*)\"", line).groups() for line in chart.lines if "whisker" in line]
    x, low, high = map(float, strokes[1])
    [(star_x, star_y)] = [
        map(float, re.search(r'x="(.*?)" y="(.*?)"', line).groups()) for line in chart.lines if "★" in line
    ]
    assert star_x == x
    assert star_y - 16 > low > high, "a star is 16 high above its line of text"
    assert star_y < chart.size[1] - 30, "and above the names of the places"
    assert sum('class="ring"' in line for line in chart.lines) == 2
    assert any(">bits per byte<" in line for line in chart.lines)


def test_two_charts_share_a_row_and_one_has_it_alone():
    two = charts(best(512), best(512, body="small"))
    [one] = charts(best(512))
    assert [chart.size[0] for chart in two] == [620, 620]
    assert one.size[0] == 1240


def test_learning_rates_are_shown_by_size_and_those_at_an_end_are_marked():
    trained = [
        TrainedSize(
            line="cut", vocab_size=size, body="tiny", seed=seed, share=1.0, n_bytes=9, bits_per_byte=2.0, tokens=9,
            flops=9, learning_rate=rate, seconds=1.0,
        )
        for size, rate in ((256, 0.016), (512, 0.004), (1024, 0.008)) for seed in (0, 1)
    ]  # fmt: skip
    rates = {
        256: {"0.004": 2.3, "0.008": 2.2, "0.016": 2.1},
        512: {"0.002": 2.3, "0.004": 2.1, "0.008": 2.2},
    }
    tried = [TriedRates(line="cut", vocab_size=size, body="tiny", bits_per_byte=bits) for size, bits in rates.items()]
    page, text = shown(study(trained=trained, tried=tried))
    assert "| line | body | 256 | 512 | 1,024 |\n| --- | --- | ---: | ---: | ---: |\n" in text
    assert "| cut | tiny | 0.016 ↔ | 0.004 | 0.008 |" in text
    others = "bits per byte by learning rate, on a tenth of the text: 0.002: 2.300, 0.004: 2.100, 0.008: 2.200"
    assert f'<td class="n" title="{others}">0.004</td><td class="n">0.008</td>' in page, "of 0.008 one rate was given"
    note = "↔ at 1 of these: the best one lies at an end of those that were tried, so a better one may lie beyond."
    assert f'<p class="legend">{note}</p>' in page
    assert note in text
    assert "↔" not in shown(study(trained=trained))[0]


def test_where_bits_are_fewest_is_a_table_and_the_charts_are_for_a_page_alone():
    page, text = shown(study(best=[best(512, law_caution="far"), best(2048, amount=1e6)]))
    assert page.count("<svg") == 3, "a chart, and two keys"
    assert '<div class="multiples panes">' in page
    assert 'aria-label="Bits per byte by vocabulary size, cut, tiny"' in page
    assert "| cut | tiny | bytes | 250 kB | 512 | none | none | 2.000 | 3,000 (extrapolated) |" in text
    assert "| cut | tiny | bytes | 1.00 MB | none | none | none | 2.000 | 3,000 |" in text
    assert "cut, tiny, 1.00 MB: 2,048 has the fewest bits per byte and is the largest size that was tried" in text
    assert "star" not in text


def shown(measured):
    """The nodes in a page and in plain text."""
    nodes = measured_nodes(measured)
    return HtmlNodes(CellTables(Results(name="r"))).nodes(nodes), nodes_markdown(nodes)
