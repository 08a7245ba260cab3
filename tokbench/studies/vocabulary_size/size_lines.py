"""The lines over vocabulary sizes of a run."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.report.cells import MUCH_LOST
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
        self.baselines = frozenset(line.line for line in self.lines if low.issuperset(line.tokenizers))
        self._rows: dict[tuple[str, str, str], list[SizeRow]] = {}
        for row in self.study.rows:
            self._rows.setdefault((row.line, row.corpus, row.group), []).append(row)
        self._curves = {(curve.line, curve.corpus, curve.group): curve for curve in self.study.curves}
        self._losses = {(loss.line, loss.corpus): loss for loss in self.study.losses}
        self._in_sample = {(sample.line, sample.corpus): sample.share for sample in self.study.in_sample}
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
            tokens = curve.units - np.concatenate([[0], np.cumsum(_unpacked(curve.saved, "<i8"))])
            sizes = curve.base + np.arange(len(tokens))
            entropy = _unpacked(curve.entropy, "<f8") if curve.entropy else None
            return SizeTrace(line.line, "curve", sizes, tokens, curve.bytes, curve.words, entropy)
        rows = self.rows(*key)
        if not rows:
            return None
        sizes, tokens = np.array([row.vocab_size for row in rows]), np.array([row.tokens for row in rows])
        n_bytes = rows[0].compression_ratio * rows[0].tokens
        words = rows[0].tokens / rows[0].fertility if rows[0].fertility else None
        return SizeTrace(line.line, line.kind, sizes, tokens, n_bytes, words)

    def lost(self, line: str, corpus: str) -> str:
        lost = self._losses.get((line, corpus))
        if lost is None:
            return ""
        return "its round trip was not measured" if lost.lost is None else f"{lost.lost:.2%} of the characters lost"

    def in_sample(self, line: str, corpus: str) -> float | None:
        share = self._in_sample.get((line, corpus))
        return share if trained_on(share) else None

    def drawn(self, corpus: str) -> list[SizeLine]:
        lost = {line: loss.lost or 0.0 for (line, place), loss in self._losses.items() if place == corpus}
        return [line for line in self.lines if lost.get(line.line, 0.0) < MUCH_LOST]

    def traces(self, corpus: str, group: str) -> Iterator[SizeTrace]:
        for line in self.drawn(corpus):
            trace = self.trace(line, corpus, group)
            if trace is not None:
                yield trace


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=kind)
