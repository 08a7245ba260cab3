"""``curve.csv``: a row a line, corpus, group and size; the sizes of the study, or every size there is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from tokbench.contracts.reporter import ReporterSpec
from tokbench.report.formats.csv import field
from tokbench.report.sections.size_data import Sizes, Trace
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

__all__ = ["COLUMNS", "SPEC", "render"]

COLUMNS = (
    "tokenizer", "corpus", "group", "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility",
    "fertility_low", "fertility_high", "word", "entropy", "used", "gain_per_1000", "in_sample",
)  # fmt: skip


def render(results: Results) -> str:
    """The rows of the study; with ``points: all`` those between have tokens and ratios alone."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    sizes = Sizes(results)
    seen = {(c.tokenizer, c.corpus, c.group): c.in_sample for c in results.cells if c.metric == "compression_ratio"}
    for line in sizes.lines:
        for corpus in sizes.corpora:
            for group in [*sizes.groups(corpus), WHOLE]:
                share = seen.get((line["tokenizers"][0], corpus, group))
                for row in _rows(sizes, line, corpus, group):
                    values = [line["line"], corpus, group, *(row.get(name) for name in _FROM_ROW), share]
                    writer.writerow([field(value) for value in values])
    return file.getvalue()


_FROM_ROW = (
    "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility", "fertility_low", "fertility_high",
    "unit", "entropy", "used", "gain",
)  # fmt: skip


def _rows(sizes: Sizes, line: dict[str, Any], corpus: str, group: str) -> Iterator[dict[str, Any]]:
    chosen = sizes.rows(line["line"], corpus, group)
    trace = sizes.trace(line, corpus, group)
    if sizes.found["points"] != "all" or trace is None:
        yield from chosen
        return
    known = {row["vocab_size"]: row for row in chosen}
    for k, (size, tokens, ratio) in enumerate(zip(*(_list(trace, name) for name in _OF_TRACE), strict=True)):
        yield known.get(size) or {
            "vocab_size": size,
            "tokens": tokens,
            "compression_ratio": ratio,
            "fertility": tokens / trace.words if trace.words else None,
            "unit": chosen[0]["unit"],
            "entropy": None if trace.entropy is None else float(trace.entropy[k]),
        }


_OF_TRACE = ("sizes", "tokens", "ratio")


def _list(trace: Trace, name: str) -> list[Any]:
    values: list[Any] = getattr(trace, name).tolist()
    return values


SPEC = ReporterSpec(
    name="curve",
    summary="the study of vocabulary sizes, one row a size",
    filename="curve.csv",
    render=render,
)
