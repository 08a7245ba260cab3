"""The section on vocabulary sizes: charts and tables by corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from tokbench.report.cells import IN_SAMPLE, LOSSY, in_sample_legend
from tokbench.report.charts.size_curve import LARGE, SMALL, SizeMarks, SizeTrace, size_chart, size_key
from tokbench.report.charts.svg import Drawing
from tokbench.report.sections.measured_size import MeasuredSizeSection
from tokbench.report.sections.size_lines import SizeLines
from tokbench.report.tables import level_with
from tokbench.results.cells import WHOLE
from tokbench.results.vocabulary_size import ByteCost, SizeAdvice, SizeCost, SizeLine, SizeRow

_MOST_LINES = 16
"""The number of vocabularies that have a chart of their groups; more would fill the page with charts."""

_PATCHES = (
    "The same model without a tokenizer. Over patches it takes one step a patch, as MEGABYTE does (Yu et al. 2023). A "
    "local model writes their bytes; that it has half the width and as many layers is an assumption of tokbench."
)
_ENTROPY_PATCHES = (
    "Patches by entropy begin where the next byte has more than {:.3f} bits, as in BLT (Pagnoni et al. 2024), under an "
    "n-gram model of bytes trained on other documents. The threshold is chosen so that patches "
    "have 4.5 bytes on average, as far as the text allows it. They are taken to cost what fixed patches of their mean "
    "length cost; the n-gram model is not counted."
)


class LineAtSizes(NamedTuple):
    """One line at some sizes, on a whole corpus.

    Attributes:
        line: its name.
        values: bytes per token at each size, ``None`` if unknown.
        titles: at each size all other numbers, in words.
        own: bytes per token at its own size.
    """

    line: str
    values: Sequence[float | None]
    titles: Sequence[str]
    own: float | None


class EqualSizeTable(NamedTuple):
    """Bytes per token at one size, lines across, groups down.

    Attributes:
        size: the size.
        lines: names of the lines.
        rows: group, and for each line a number or ``None``.
        best: by group, the columns of the largest number and of those that their intervals do not tell apart from it; a
            paired comparison is not known at a size to which a vocabulary was cut.
    """

    size: int
    lines: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float | None]]]
    best: Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class SizesOnCorpus:
    """All that reports show of one corpus.

    Attributes:
        found: all lines.
        name: the name of the corpus.
    """

    found: SizeLines
    name: str

    @cached_property
    def columns(self) -> list[int]:
        """The sizes that the configuration asks for and at which at least one line is known."""
        known = {row.vocab_size for line in self.found.lines for row in self.found.rows(line.line, self.name, WHOLE)}
        return sorted(known.intersection(self.found.found.sizes))

    @cached_property
    def table(self) -> list[LineAtSizes]:
        """The table with lines down and sizes across, on the whole corpus."""
        return by_size(self.found, self.name, self.columns)

    @cached_property
    def marks(self) -> dict[str, str]:
        """By line: † if it was trained on the text, ‡ if it loses some of it."""
        names = [line.line for line in self.found.lines]
        trained = {name: IN_SAMPLE * bool(self.found.in_sample(name, self.name)) for name in names}
        return {name: trained[name] + LOSSY * (name in self.lost) for name in names}

    @cached_property
    def in_sample(self) -> str:
        """The meaning of †, with the shares of the text that lines were trained on; empty if none was."""
        shares = (self.found.in_sample(line.line, self.name) for line in self.found.lines)
        return in_sample_legend([share for share in shares if share])

    @cached_property
    def lost(self) -> dict[str, str]:
        """By line that loses text, how much, in words."""
        lost = {line.line: self.found.lost(line.line, self.name) for line in self.found.lines}
        return {line: words for line, words in lost.items() if words}

    @cached_property
    def costs(self) -> list[SizeCost]:
        """The costs of each size of each line for the model; empty without a model."""
        return [row for row in self.found.found.costs if row.corpus == self.name]

    @cached_property
    def advice(self) -> SizeAdvice | None:
        """The recommended size of a run of an earlier version, which has one for each corpus."""
        return self.found.found.advice.get(self.name)

    @cached_property
    def take(self) -> tuple[str, int] | None:
        """The line and size that are recommended; ``None`` if none is."""
        found = self.found.found.recommendation
        return found.take if found else self.advice.take if self.advice else None

    @cached_property
    def front(self) -> Sequence[tuple[str, int]]:
        """Lines and sizes that no other beats in everything, of all corpora together."""
        found = self.found.found.recommendation
        return found.front if found else self.advice.front if self.advice else ()

    @cached_property
    def recommendation(self) -> str:
        """The recommended size and its reasons in a run of an earlier version; empty in others."""
        return self.advice.sentence if self.advice else ""

    @cached_property
    def equal_sizes(self) -> list[EqualSizeTable]:
        """A table for each size at which two lines or more are known."""
        return [table for size in self.columns if (table := self._at_size(size))]

    def _at_size(self, size: int) -> EqualSizeTable | None:
        rows = {group: self._ratios(group, size) for group in [*self.found.groups(self.name), WHOLE]}
        lines = [line for line, ratio in rows[WHOLE].items() if ratio is not None]
        if len(lines) < 2:  # noqa: PLR2004 - one alone cannot be compared
            return None
        values = {group: [ratios[line] for line in lines] for group, ratios in rows.items()}
        fair = [k for k, line in enumerate(lines) if not self.marks[line] and line not in self.found.baselines]
        best = {group: self._best(group, size, {k: lines[k] for k in fair}) for group in rows}
        return EqualSizeTable(size, lines, list(values.items()), best)

    def _best(self, group: str, size: int, lines: Mapping[int, str]) -> frozenset[int]:
        """Return the columns of a group that are best at a size."""
        found = {k: _row_at(self.found.rows(line, self.name, group), size) for k, line in lines.items()}
        known = {k: row for k, row in found.items() if row}
        if not known:
            return frozenset()
        top = max(known, key=lambda k: known[k].compression_ratio)
        equal = {k for k, row in known.items() if row.compression_ratio == known[top].compression_ratio}
        return frozenset(level_with(top, equal, known, {}))

    def _ratios(self, group: str, size: int) -> dict[str, float | None]:
        names = [line.line for line in self.found.lines]
        return {name: _ratio(self.found.rows(name, self.name, group), size) for name in names}

    @cached_property
    def chart(self) -> Drawing | None:
        """The large chart of the whole corpus."""
        marks = SizeMarks(
            self.front,
            self.take,
            self.marks,
        )
        title = f"Bytes per token at every size, on {self.name}"
        traces = list(self.found.traces(self.name, WHOLE))
        return size_chart(title, traces, LARGE, self._styles, span=self._span, marks=marks)

    @cached_property
    def charts_by_group(self) -> dict[str, Drawing]:
        """By group, a small chart with all lines; none if there is only one group."""
        charts = {group: list(self.found.traces(self.name, group)) for group in self.found.groups(self.name)}
        return self._small(charts, self._styles, f" on {self.name}") if len(charts) > 1 else {}

    @cached_property
    def charts_by_line(self) -> dict[str, Drawing]:
        """By line with its mark, a small chart with all groups; none if there is only one group."""
        groups = {group: k for k, group in enumerate(self.found.groups(self.name))}
        lines = self.found.drawn(self.name)[:_MOST_LINES] if len(groups) > 1 else []
        charts = {line.line + self.marks[line.line]: self._by_group(line, groups) for line in lines}
        return self._small(charts, groups, f" by group of {self.name}")

    def _small(
        self, charts: Mapping[str, Sequence[SizeTrace]], styles: Mapping[str, int], of: str
    ) -> dict[str, Drawing]:
        marks = SizeMarks(lines=self.marks)
        made = {
            title: size_chart(title, traces, SMALL, styles, span=self._span, of=of, marks=marks)
            for title, traces in charts.items()
        }
        return {title: chart for title, chart in made.items() if chart}

    def _by_group(self, line: SizeLine, groups: Iterable[str]) -> list[SizeTrace]:
        found = {group: self.found.trace(line, self.name, group) for group in groups}
        return [replace(trace, line=group) for group, trace in found.items() if trace]

    @property
    def group_keys(self) -> list[tuple[str, Drawing]]:
        """The key of the charts by line."""
        return [(group, size_key(k)) for k, group in enumerate(self.found.groups(self.name))]

    @property
    def _styles(self) -> dict[str, int]:
        return {line.line: number for number, line in enumerate(self.found.lines)}

    @property
    def _span(self) -> tuple[float, float]:
        return min(line.smallest for line in self.found.lines), max(line.largest for line in self.found.lines)


@dataclass(frozen=True)
class VocabularySizeSection:
    """The whole section.

    Attributes:
        lines: the lines, by name, corpus and group.
    """

    lines: SizeLines

    @cached_property
    def corpora(self) -> list[SizesOnCorpus]:
        """The corpora, each with its tables and charts."""
        return [SizesOnCorpus(self.lines, corpus) for corpus in self.lines.corpora]

    @property
    def keys(self) -> list[tuple[SizeLine, Drawing]]:
        """The lines with the keys of their charts."""
        return [(line, size_key(number)) for number, line in enumerate(self.lines.lines)]

    @cached_property
    def measured(self) -> MeasuredSizeSection | None:
        """Bits per byte that were measured at several sizes; ``None`` if none were."""
        found = self.lines.found.measured
        return MeasuredSizeSection(found) if found else None

    @property
    def without_tokenizer(self) -> list[tuple[str, ByteCost]]:
        """The costs without a tokenizer, each with the name of what the model then reads; empty without a model."""
        return [(_reads(row), row) for row in self.lines.found.without_tokenizer]

    @property
    def without_tokenizer_caption(self) -> str:
        """The caption of these costs: how patches are cut, and what is assumed."""
        parts = [_PATCHES]
        for row in self.lines.found.without_tokenizer:
            if row.threshold is not None:
                by_corpus = (f"{corpus} {mean:.2f}" for corpus, mean in row.by_corpus.items())
                some = f" Bytes of such a patch: {', '.join(by_corpus)}." if len(row.by_corpus) > 1 else ""
                parts.append(_ENTROPY_PATCHES.format(row.threshold) + some)
        if self.lines.found.no_entropy_patches:
            parts.append(f"No {self.lines.found.no_entropy_patches}.")
        return " ".join(parts)


def by_size(found: SizeLines, corpus: str, sizes: Sequence[int]) -> list[LineAtSizes]:
    """Return the table with lines down and these sizes across, on a whole corpus."""
    table = []
    for line in found.lines:
        rows = found.rows(line.line, corpus, WHOLE)
        titles = {row.vocab_size: _title(row) for row in rows}
        values = [_ratio(rows, size) for size in sizes]
        shown = [titles.get(size, "") for size in sizes]
        table.append(LineAtSizes(line.line, values, shown, _ratio(rows, line.largest)))
    return table


def _ratio(rows: Sequence[SizeRow], size: int) -> float | None:
    row = _row_at(rows, size)
    return row.compression_ratio if row else None


def _row_at(rows: Sequence[SizeRow], size: int) -> SizeRow | None:
    return next((row for row in rows if row.vocab_size == size), None)


def _title(row: SizeRow) -> str:
    """Return all that is known of a row beside its bytes per token."""
    parts = [f"{row.tokens:,} tokens", f"entropy {row.entropy:.2f} bits", f"{row.used:,} ids in use"]
    if row.ci_low is not None:
        parts.insert(0, f"{row.ci_low:.3f} to {row.ci_high:.3f} with 95 % confidence")
    if row.gain is not None:
        parts.append(f"{row.gain:+.4f} bytes per token for each 1,000 tokens since the size before")
    if row.fertility is not None:
        parts.append(f"{row.fertility:.3f} tokens per {row.unit}")
    return "; ".join(parts)


def _reads(row: ByteCost) -> str:
    """Return the name of what a model reads without a tokenizer."""
    if row.threshold is not None:
        return "patches by entropy"
    return "bytes" if row.patch == 1 else f"patches of {row.patch:.0f} bytes"
