"""The lines over vocabulary sizes of a run."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator

import numpy as np

from tokbench.measuring.metric import Role
from tokbench.results.cells import WHOLE, trained_on
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, SizeRow, VocabularySizes
from tokbench.studies.vocabulary_size.size_curve import SizeTrace


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

    def drawn(self, corpus: str) -> list[SizeLine]:
        lost = {line: loss.lost or 0.0 for (line, place), loss in self._losses.items() if place == corpus}
        return [line for line in self.lines if lost.get(line.line, 0.0) <= self._most_lost]

    def traces(self, corpus: str, group: str) -> Iterator[SizeTrace]:
        for line in self.drawn(corpus):
            trace = self.trace(line, corpus, group)
            if trace is not None:
                yield trace
