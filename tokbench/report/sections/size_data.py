"""The study of vocabulary sizes as the reports read it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.report.tables import MANY_UNKNOWN
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

__all__ = ["Sizes", "Trace"]


@dataclass(frozen=True)
class Trace:
    """One line over vocabulary sizes, on one group of a corpus.

    Attributes:
        line: name of the line.
        kind: ``curve`` (every size is known), ``ladder`` (some sizes) or ``point``.
        sizes: int64[s], rising.
        tokens: int64[s].
        n_bytes, words: of the text; ``words`` is ``None`` where they have no common unit.
        entropy: float64[s], bits, if the run kept all of it.
    """

    line: str
    kind: str
    sizes: NDArray[np.int64]
    tokens: NDArray[np.int64]
    n_bytes: float
    words: float | None = None
    entropy: NDArray[np.float64] | None = None

    @cached_property
    def ratio(self) -> NDArray[np.float64]:
        """float64[s], bytes per token."""
        return np.float64(self.n_bytes) / np.maximum(self.tokens, 1)


class Sizes:
    """The study in a run's results, by what it is looked up with; without a study, empty."""

    def __init__(self, results: Results) -> None:
        self.found: dict[str, Any] = results.study.get("vocabulary", {})
        self.lines: list[dict[str, Any]] = self.found.get("lines", [])
        self._rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for row in self.found.get("rows", []):
            self._rows.setdefault((row["line"], row["corpus"], row["group"]), []).append(row)
        self._curves = {(c["line"], c["corpus"], c["group"]): c for c in self.found.get("curves", [])}
        self._knees = {(k["line"], k["corpus"], k["group"]): k for k in self.found.get("knees", [])}
        self._losses = {(each["line"], each["corpus"]): each for each in self.found.get("losses", [])}
        self._inside = {(each["line"], each["corpus"]) for each in self.found.get("in_sample", [])}
        self._traces: dict[tuple[str, str, str], Trace | None] = {}
        self.corpora = list(dict.fromkeys(key[1] for key in self._rows))

    def groups(self, corpus: str) -> list[str]:
        """The groups of a corpus that were looked at, without the whole."""
        return [g for g in dict.fromkeys(key[2] for key in self._rows if key[1] == corpus) if g != WHOLE]

    def rows(self, line: str, corpus: str, group: str) -> list[dict[str, Any]]:
        """The rows of a line, by rising size."""
        return self._rows.get((line, corpus, group), [])

    def knee(self, line: str, corpus: str, group: str) -> dict[str, Any] | None:
        """Where a line bends, if it does."""
        return self._knees.get((line, corpus, group))

    def trace(self, line: dict[str, Any], corpus: str, group: str) -> Trace | None:
        """A line on one group, at every size that is known; ``None`` if it was not measured there."""
        key = (line["line"], corpus, group)
        if key not in self._traces:
            self._traces[key] = self._trace(line, key)
        return self._traces[key]

    def _trace(self, line: dict[str, Any], key: tuple[str, str, str]) -> Trace | None:
        curve = self._curves.get(key)
        if curve is not None:
            tokens = curve["units"] - np.concatenate([[0], np.cumsum(_unpacked(curve["saved"], "<i8"))])
            sizes = curve["base"] + np.arange(len(tokens))
            entropy = _unpacked(curve["entropy"], "<f8") if "entropy" in curve else None
            return Trace(line["line"], "curve", sizes, tokens, curve["bytes"], curve["words"], entropy)
        rows = self.rows(*key)
        if not rows:
            return None
        tokens = np.array([row["tokens"] for row in rows])
        n_bytes = rows[0]["compression_ratio"] * rows[0]["tokens"]
        words = rows[0]["tokens"] / rows[0]["fertility"] if rows[0]["fertility"] else None
        return Trace(line["line"], line["kind"], np.array([row["vocab_size"] for row in rows]), tokens, n_bytes, words)

    def lost(self, line: str, corpus: str) -> str:
        """What a line loses of a corpus, in words; ``""`` if nothing."""
        lost = self._losses.get((line, corpus))
        if lost is None:
            return ""
        unknown = f", {lost['unknown']:.1%} of the tokens unknown" if lost["unknown"] else ""
        if lost["exact"] is None:
            return f"it is not known how many of the texts come back{unknown}"
        return f"{lost['exact']:.1%} of the texts come back{unknown}"

    def in_sample(self, line: str, corpus: str) -> bool:
        """Whether a line was trained on some of what it is measured on."""
        return (line, corpus) in self._inside

    def draws(self, line: str, corpus: str) -> bool:
        """Whether a line belongs into pictures: not if so much is unknown that its tokens compare with no other's."""
        unknown: float = self._losses.get((line, corpus), {}).get("unknown", 0.0)
        return unknown < MANY_UNKNOWN

    def traces(self, corpus: str, group: str) -> Iterator[Trace]:
        """All lines on one group, in the order of the configuration."""
        for line in self.lines:
            trace = self.trace(line, corpus, group)
            if trace is not None and self.draws(line["line"], corpus):
                yield trace


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=kind)
