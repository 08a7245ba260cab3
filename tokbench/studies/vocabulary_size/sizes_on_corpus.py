"""The lines over vocabulary sizes on one corpus."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tokbench.report.cells import IN_SAMPLE, LOSSY, in_sample_legend
from tokbench.report.charts.line_profile import line_key
from tokbench.report.charts.svg import Drawing
from tokbench.report.tables import level_with
from tokbench.results.cells import WHOLE, Cell
from tokbench.studies.vocabulary_size.size_curve import LARGE, SMALL, SizeMarks, SizeSpan, size_chart
from tokbench.studies.vocabulary_size.size_lines import SizeLines


@dataclass(frozen=True)
class SizesOnCorpus:
    """What reports show of one corpus."""

    lines: SizeLines
    name: str

    @cached_property
    def columns(self) -> list[int]:
        known = {row.vocab_size for line in self.lines.lines for row in self.lines.rows(line.line, self.name, WHOLE)}
        return sorted(known.intersection(self.lines.study.sizes))

    @cached_property
    def marks(self) -> dict[str, str]:
        """By line: † if trained on the text, ‡ if lossy."""
        return {
            line.line: IN_SAMPLE * bool(self.lines.in_sample(line, self.name)) + LOSSY * (line.line in self.lost)
            for line in self.lines.lines
        }

    @cached_property
    def in_sample(self) -> str:
        shares = (self.lines.in_sample(line, self.name) for line in self.lines.lines)
        return in_sample_legend([share for share in shares if share])

    @cached_property
    def lost(self) -> dict[str, str]:
        lost = {line.line: self.lines.lost(line.line, self.name) for line in self.lines.lines}
        return {line: words for line, words in lost.items() if words}

    @cached_property
    def take(self) -> tuple[str, int] | None:
        best = self.lines.study.best
        return (best.line, best.pick.vocab_size) if best else None

    def known_at(self, size: int) -> list[str]:
        return [line.line for line in self.lines.lines if self.lines.row(line.line, self.name, WHOLE, size)]

    def best_at(self, size: int, group: str) -> frozenset[str]:
        """Return the best line at a size and its ties by unpaired intervals."""
        fair = [line for line in self.known_at(size) if not self.marks[line] and line not in self.lines.baselines]
        rows = {line: row for line in fair if (row := self.lines.row(line, self.name, group, size))}
        if not rows:
            return frozenset()
        numbers = {
            line: Cell(line, self.name, group, "", row.compression_ratio, ci_low=row.ci_low, ci_high=row.ci_high)
            for line, row in rows.items()
        }
        top = max(rows, key=lambda line: rows[line].compression_ratio)
        return frozenset(level_with(top, numbers, {}))

    @cached_property
    def chart(self) -> Drawing | None:
        title = f"Bytes per token at every size, on {self.name}"
        traces = list(self.lines.traces(self.name, WHOLE))
        marks = SizeMarks(self.take, self.marks)
        return size_chart(title, traces, LARGE, self._styles, span=SizeSpan(*self._span), marks=marks)

    @cached_property
    def charts_by_group(self) -> dict[str, Drawing]:
        charts = {group: list(self.lines.traces(self.name, group)) for group in self.lines.groups(self.name)}
        if len(charts) < 2:  # noqa: PLR2004 - one group is the corpus
            return {}
        marks = SizeMarks(lines=self.marks)
        span = SizeSpan.shared(*self._span, (trace for traces in charts.values() for trace in traces))
        made = {
            group: size_chart(group, traces, SMALL, self._styles, span=span, of=f" on {self.name}", marks=marks)
            for group, traces in charts.items()
        }
        return {group: chart for group, chart in made.items() if chart}

    @property
    def line_keys(self) -> list[tuple[str, Drawing]]:
        return [(line, line_key(style)) for line, style in self._styles.items()]

    @property
    def _styles(self) -> dict[str, int]:
        return {line.line: number for number, line in enumerate(self.lines.lines)}

    @property
    def _span(self) -> tuple[float, float]:
        return min(line.smallest for line in self.lines.lines), max(line.largest for line in self.lines.lines)
