"""The lines over vocabulary sizes of a run, and of each corpus."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from tokbench.measuring.metric import Role
from tokbench.report.cells import IN_SAMPLE, LOSSY, in_sample_legend
from tokbench.report.charts.svg import Drawing
from tokbench.results.cells import WHOLE, trained_on
from tokbench.results.model import Results
from tokbench.statistics.standings import GroupNumber, leaders, standings
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, SizeRow, VocabularySizes
from tokbench.studies.vocabulary_size.size_curve import LARGE, SMALL, SizeSpan, SizeTrace, line_key, size_chart


class SizeLines:
    """The block on vocabulary sizes, by key; empty without one."""

    def __init__(self, results: Results) -> None:
        self.study = results.studies.get(VOCABULARY_SIZES) or VocabularySizes()
        self.lines = self.study.lines
        low = {name for name, info in results.tokenizers.items() if info.baseline}
        self._most_lost = results.config.most_lost
        self.baselines = frozenset(line.line for line in self.lines if low.issuperset(line.tokenizers))
        self._rows: dict[tuple[str, str, str], list[SizeRow]] = {}
        for row in self.study.rows:
            self._rows.setdefault((row.line, row.corpus, row.group), []).append(row)
        self._curves = {(curve.line, curve.corpus, curve.group): curve for curve in self.study.curves}
        self._losses = {(loss.line, loss.corpus): loss for loss in self.study.losses}
        ratios = {name for name, info in results.metrics.items() if info.role == Role.TEXT_PER_TOKEN}
        self._seen = {
            (cell.tokenizer, cell.corpus, cell.group): cell.in_sample for cell in results.cells if cell.metric in ratios
        }
        self._traces: dict[tuple[str, str, str], SizeTrace | None] = {}
        self.styles = {line.line: number for number, line in enumerate(self.lines)}
        self.corpora = list(dict.fromkeys(key[1] for key in self._rows))

    def groups(self, corpus: str) -> list[str]:
        return [g for g in dict.fromkeys(key[2] for key in self._rows if key[1] == corpus) if g != WHOLE]

    def rows(self, line: str, corpus: str, group: str) -> list[SizeRow]:
        return self._rows.get((line, corpus, group), [])

    def row(self, line: str, corpus: str, group: str, size: int) -> SizeRow | None:
        return next((row for row in self.rows(line, corpus, group) if row.vocab_size == size), None)

    def ratio(self, line: str, corpus: str, group: str, size: int) -> float | None:
        row = self.row(line, corpus, group, size)
        return row.compression_ratio if row else None

    def trace(self, line: SizeLine, corpus: str, group: str) -> SizeTrace | None:
        key = (line.line, corpus, group)
        if key not in self._traces:
            self._traces[key] = self._trace(line, key)
        return self._traces[key]

    def _trace(self, line: SizeLine, key: tuple[str, str, str]) -> SizeTrace | None:
        curve = self._curves.get(key)
        if curve is not None:
            saved = np.frombuffer(zlib.decompress(base64.b64decode(curve.saved)), dtype="<i8")
            tokens = curve.units - np.concatenate([[0], np.cumsum(saved)])
            sizes = curve.base + np.arange(len(tokens))
            return SizeTrace(line.line, "curve", sizes, curve.bytes / np.maximum(tokens, 1), tokens)
        rows = self.rows(*key)
        if not rows:
            return None
        sizes, tokens = np.array([row.vocab_size for row in rows]), np.array([row.tokens for row in rows])
        return SizeTrace(line.line, line.kind, sizes, np.array([row.compression_ratio for row in rows]), tokens)

    def lost(self, line: str, corpus: str) -> str:
        lost = self._losses.get((line, corpus))
        if lost is None:
            return ""
        return "its round trip was not measured" if lost.lost is None else f"{lost.lost:.2%} of the characters lost"

    def seen(self, line: SizeLine, corpus: str, group: str) -> float | None:
        """Return the share of the documents that training has seen."""
        return self._seen.get((line.tokenizers[0], corpus, group))

    def in_sample(self, line: SizeLine, corpus: str) -> float | None:
        """Return the share if it is large enough to matter."""
        share = max((self._seen.get((name, corpus, WHOLE)) or 0.0 for name in line.tokenizers), default=0.0)
        return share if trained_on(share) else None

    def traces(self, corpus: str, group: str) -> Iterator[SizeTrace]:
        """Yield what is drawn of a group: the lines that lose nothing, or a little."""
        lost = {line: loss.lost or 0.0 for (line, place), loss in self._losses.items() if place == corpus}
        for line in (line for line in self.lines if lost.get(line.line, 0.0) <= self._most_lost):
            trace = self.trace(line, corpus, group)
            if trace is not None:
                yield trace


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

    def known_at(self, size: int) -> list[str]:
        return [line.line for line in self.lines.lines if self.lines.row(line.line, self.name, WHOLE, size)]

    def best_at(self, size: int, group: str) -> frozenset[str]:
        """Return the best line at a size and its ties by unpaired intervals."""
        fair = [line for line in self.known_at(size) if not self.marks[line] and line not in self.lines.baselines]
        rows = {line: row for line in fair if (row := self.lines.row(line, self.name, group, size))}
        numbers = {line: [GroupNumber(row.compression_ratio, row.ci_low, row.ci_high)] for line, row in rows.items()}
        return frozenset(leaders(standings(numbers)))

    @cached_property
    def chart(self) -> Drawing | None:
        title = f"Bytes per token at every size, on {self.name}"
        traces = list(self.lines.traces(self.name, WHOLE))
        return size_chart(title, traces, LARGE, self.lines.styles, span=SizeSpan(*self._span), marks=self.marks)

    @cached_property
    def charts_by_group(self) -> dict[str, Drawing]:
        charts = {group: list(self.lines.traces(self.name, group)) for group in self.lines.groups(self.name)}
        if len(charts) < 2:  # noqa: PLR2004 - one group is the corpus
            return {}
        span = SizeSpan.shared(*self._span, (trace for traces in charts.values() for trace in traces))
        draw = partial(size_chart, chart=SMALL, styles=self.lines.styles, span=span, marks=self.marks)
        made = {group: draw(group, traces, of=f" on {self.name}") for group, traces in charts.items()}
        return {group: chart for group, chart in made.items() if chart}

    @property
    def line_keys(self) -> list[tuple[str, Drawing]]:
        return [(line, line_key(style)) for line, style in self.lines.styles.items()]

    @property
    def _span(self) -> tuple[float, float]:
        return min(line.smallest for line in self.lines.lines), max(line.largest for line in self.lines.lines)
