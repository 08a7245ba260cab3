"""The chart of the cost of a byte over sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tokbench.report.charts.labels import Box
from tokbench.report.charts.svg import Drawing
from tokbench.studies.vocabulary_size.block import SizeAdvice, VocabularySizes
from tokbench.studies.vocabulary_size.size_curve import ChartSize, SizeSpan, SizeTrace, size_axis, size_chart

COST_TITLE: Final = "Cost of a byte of text by vocabulary size"
_UPRIGHT: Final = "FLOPs beyond the least, %"
BROAD: Final = ChartSize(620, 310, Box(52.0, 14.0, 500.0, 262.0), labelled=True, upright=_UPRIGHT)
NARROW: Final = ChartSize(368, 280, Box(46.0, 14.0, 268.0, 232.0), labelled=True, upright=_UPRIGHT)
_MOST: Final = 50
_SHADE: Final = 0.14


def cost_chart(study: VocabularySizes, styles: Mapping[str, int], size: ChartSize = BROAD) -> Drawing | None:
    """Return the chart for the model in the middle; ``None`` without an advice."""
    taken = study.best
    if not taken:
        return None
    traces = [_trace(advice, min(taken.costs)) for advice in study.advice if advice.model == taken.model]
    traces = [trace for trace in traces if len(trace.sizes)]
    span = SizeSpan(min(trace.sizes[0] for trace in traces), max(trace.sizes[-1] for trace in traces))
    drawing = size_chart(COST_TITLE, traces, size, styles, span=span)
    if drawing:
        axis, frame = size_axis(span, size), size.frame
        left, right = axis.at(taken.low), axis.at(taken.high)
        drawing.draw(
            "rect", css="mark", x=left, y=frame.top, width=round(max(right - left, 1.0), 1),
            height=frame.bottom - frame.top, fill="currentColor", fill_opacity=_SHADE,
        )  # fmt: skip
    return drawing


def _trace(sizes: SizeAdvice, least: float) -> SizeTrace:
    beyond = 100 * (np.array(sizes.costs) / least - 1)
    near = beyond <= _MOST
    return SizeTrace(sizes.line, "curve" if near.sum() > 1 else "point", np.array(sizes.sizes)[near], beyond[near])
