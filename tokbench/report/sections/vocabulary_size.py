"""The study as the page shows it: pictures and tables by corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokbench.report.charts.size_curve import LARGE, SMALL, Chart, draw
from tokbench.report.sections.size_data import Sizes, Trace
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

__all__ = ["BySize", "Corpus", "SizeTable", "Study", "by_size", "columns_of", "marks_of", "study_view"]

_MOST_LINES = 16
"""So many vocabularies have a picture of their groups each; with more the page would be pictures alone."""


class BySize(NamedTuple):
    """One line at some sizes.

    Attributes:
        line: its name.
        knee: where it bends.
        values: bytes per token at each size, ``None`` if unknown.
        titles: all else that is known at each size, in words.
        own: bytes per token at its own size.
    """

    line: str
    knee: dict[str, Any] | None
    values: Sequence[float | None]
    titles: Sequence[str]
    own: float | None


class SizeTable(NamedTuple):
    """Bytes per token, lines across, groups down, at one size.

    Attributes:
        size: the size.
        lines: names of the lines.
        rows: group and a number (or ``None``) for each line.
        best: by group, the place of the largest number.
    """

    size: int
    lines: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float | None]]]
    best: Mapping[str, int]


@dataclass(frozen=True)
class Corpus:
    """What is shown of one corpus.

    Attributes:
        name: of the corpus.
        whole: the picture of the whole corpus.
        by_group: a small picture of each group, with all lines.
        by_line: a small picture of each line, with all groups.
        groups: names and styles of the groups in ``by_line``.
        sizes: the table of each size at which two lines or more are known; equal sizes, that is.
        table: lines down and sizes across, on the whole corpus.
        columns: the sizes of ``table``.
        costs: the rows of costs.
        lost: by line that loses text, how much.
        marks: by line, the marks behind its name.
        advice: the sentence that recommends a size; ``""`` without a model.
    """

    name: str
    whole: Chart | None
    by_group: Sequence[Chart]
    by_line: Sequence[Chart]
    groups: Sequence[tuple[str, int, int]]
    sizes: Sequence[SizeTable]
    table: Sequence[BySize]
    columns: Sequence[int]
    costs: Sequence[Mapping[str, Any]]
    lost: Mapping[str, str]
    marks: Mapping[str, str]
    advice: str


@dataclass(frozen=True)
class Study:
    """All of the study; ``lines`` with names, kinds, colours and why a line is no curve."""

    lines: Sequence[Mapping[str, Any]]
    corpora: Sequence[Corpus]
    model: Mapping[str, Any] | None
    law: Mapping[str, Any] | None
    extensions: Mapping[str, Any] | None


def study_view(results: Results) -> Study | None:
    """What the page shows of the study; ``None`` if the run had none."""
    sizes = Sizes(results)
    if not sizes.lines:
        return None
    styles = {line["line"]: number for number, line in enumerate(sizes.lines)}
    return Study(
        lines=[line | {"style": styles[line["line"]] % 8, "dash": styles[line["line"]] // 8} for line in sizes.lines],
        corpora=[_corpus(sizes, corpus, styles) for corpus in sizes.corpora],
        model=sizes.found.get("model"),
        law=sizes.found.get("law"),
        extensions=sizes.found.get("extensions"),
    )


def _corpus(sizes: Sizes, corpus: str, styles: Mapping[str, int]) -> Corpus:
    groups = sizes.groups(corpus)
    span = (min(each["smallest"] for each in sizes.lines), max(each["largest"] for each in sizes.lines))
    advice = sizes.found.get("advice", {}).get(corpus, {})
    knees = {line["line"]: knee["size"] for line in sizes.lines if (knee := sizes.knee(line["line"], corpus, WHOLE))}
    whole = draw(
        f"Bytes per token at every size, on {corpus}",
        list(sizes.traces(corpus, WHOLE)),
        LARGE,
        styles,
        span=span,
        knees=knees,
        front=[(line, size) for line, size in advice.get("front", [])],
        take=tuple(advice["take"]) if advice else None,
    )
    each_group = (draw(g, list(sizes.traces(corpus, g)), SMALL, styles, span=span) for g in groups)
    places = {group: number for number, group in enumerate(groups)}
    drawn = [line for line in sizes.lines if sizes.draws(line["line"], corpus)]
    each_line = (_of_line(sizes, line, corpus, places, span) for line in drawn[:_MOST_LINES])
    columns = columns_of(sizes, corpus)
    return Corpus(
        name=corpus,
        whole=whole,
        by_group=[chart for chart in each_group if chart] if len(groups) > 1 else [],
        by_line=[chart for chart in each_line if chart] if len(groups) > 1 else [],
        groups=[(group, number % 8, number // 8) for group, number in places.items()],
        sizes=[table for size in columns if (table := _at_size(sizes, corpus, [*groups, WHOLE], size))],
        table=by_size(sizes, corpus, columns),
        columns=columns,
        costs=[row for row in sizes.found.get("costs", []) if row["corpus"] == corpus],
        lost={line["line"]: lost for line in sizes.lines if (lost := sizes.lost(line["line"], corpus))},
        marks={line["line"]: marks_of(sizes, line["line"], corpus) for line in sizes.lines},
        advice=advice.get("sentence", ""),
    )


def _of_line(
    sizes: Sizes, line: Mapping[str, Any], corpus: str, places: Mapping[str, int], span: tuple[float, float]
) -> Chart | None:
    """One vocabulary with a line for each group."""
    traces = []
    for group in places:
        trace = sizes.trace(dict(line), corpus, group)
        if trace is not None:
            traces.append(Trace(group, trace.kind, trace.sizes, trace.tokens, trace.n_bytes))
    return draw(line["line"], traces, SMALL, places, span=span)


def marks_of(sizes: Sizes, line: str, corpus: str) -> str:
    """† for one that was trained on the text, ‡ for one that loses some of it."""
    return "†" * sizes.in_sample(line, corpus) + "‡" * bool(sizes.lost(line, corpus))


def columns_of(sizes: Sizes, corpus: str) -> list[int]:
    """The sizes of the study that are known of a line at least."""
    known = {row["vocab_size"] for line in sizes.lines for row in sizes.rows(line["line"], corpus, WHOLE)}
    return sorted(known.intersection(sizes.found["sizes"]))


def by_size(sizes: Sizes, corpus: str, columns: Sequence[int]) -> list[BySize]:
    """The table of lines and sizes, on the whole corpus."""
    return [
        BySize(
            line["line"],
            sizes.knee(line["line"], corpus, WHOLE),
            _ratios(sizes, line["line"], corpus, columns),
            _titles(sizes, line["line"], corpus, columns),
            _ratios(sizes, line["line"], corpus, [line["largest"]])[0],
        )
        for line in sizes.lines
    ]


def _ratios(sizes: Sizes, line: str, corpus: str, columns: Sequence[int], group: str = WHOLE) -> list[float | None]:
    known = {row["vocab_size"]: row["compression_ratio"] for row in sizes.rows(line, corpus, group)}
    return [known.get(size) for size in columns]


def _titles(sizes: Sizes, line: str, corpus: str, columns: Sequence[int]) -> list[str]:
    known = {row["vocab_size"]: _title(row) for row in sizes.rows(line, corpus, WHOLE)}
    return [known.get(size, "") for size in columns]


def _title(row: Mapping[str, Any]) -> str:
    """What a row has beside its bytes per token."""
    parts = [f"{row['tokens']:,} tokens", f"entropy {row['entropy']:.2f} bits", f"{row['used']:,} ids in use"]
    if row["ci_low"] is not None:
        parts.insert(0, f"{row['ci_low']:.3f} to {row['ci_high']:.3f} with 95 % confidence")
    if row["gain"] is not None:
        parts.append(f"{row['gain']:+.4f} bytes per token for each 1,000 tokens since the size before")
    if row["fertility"] is not None:
        parts.append(f"{row['fertility']:.3f} tokens per {row['unit']}")
    return "; ".join(parts)


def _at_size(sizes: Sizes, corpus: str, groups: Sequence[str], size: int) -> SizeTable | None:
    lines = [line["line"] for line in sizes.lines if _ratios(sizes, line["line"], corpus, [size])[0] is not None]
    if len(lines) < 2:  # noqa: PLR2004 - one alone is no comparison
        return None
    rows = [(group, [_ratios(sizes, line, corpus, [size], group)[0] for line in lines]) for group in groups]
    fair = [k for k, line in enumerate(lines) if not marks_of(sizes, line, corpus)]
    best = {
        group: max(known, key=lambda k, values=values: values[k] or 0.0)  # type: ignore[misc]
        for group, values in rows
        if (known := [k for k in fair if values[k] is not None])
    }
    return SizeTable(size, lines, rows, best)
