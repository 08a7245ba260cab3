"""The family ``code``: lines, names, operators and syntax of programs in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from pydantic import Field

from tokbench.measuring.counted import Basis, declared
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.metrics.code import identifiers, indentation, operators, syntax
from tokbench.metrics.code.leaves import leaves_of
from tokbench.plugin.metrics import NOT_ALIGNED
from tokbench.tokenizers.options import Options

_BASIS: Final = Basis("documents laid out", NOT_ALIGNED)
_PARSED: Final = Basis("parsed documents", "tree-sitter's grammar finds a syntax error in every document")
_THEMES: Final = (indentation, identifiers, operators)
_METRICS: Final = (*(metric for theme in _THEMES for metric in theme.METRICS), syntax.PARSED)


class CodeOptions(Options):
    """Options of ``code``."""

    grammars: dict[str, str] = Field(
        default_factory=dict, description="tree-sitter's grammar by group, where it has another name"
    )


class CodeState(NamedTuple):
    """Sums, and reasons for missing syntax trees."""

    sums: Sums
    treeless: frozenset[str]

    def __add__(self, other: CodeState) -> CodeState:  # type: ignore[override]
        return CodeState(self.sums + other.sums, self.treeless | other.treeless)


class CodeMetric(SummedMetric):
    """The text metric."""

    _options: CodeOptions

    def map(self, encoded: EncodedShard) -> CodeState:
        columns = {_BASIS.column: encoded.token_ends.aligned.astype(np.int64)}
        for theme in _THEMES:
            columns |= theme.count(encoded)
        leaves = leaves_of(encoded.shard, self._options.grammars)
        treeless = frozenset({leaves} if isinstance(leaves, str) else ())
        columns |= syntax.count(encoded, None if isinstance(leaves, str) else leaves)
        return CodeState(Sums.of(encoded.shard, **columns), treeless)

    def finish(self, state: CodeState) -> Mapping[str, Measured | NotApplicable]:
        if not state.sums.columns[_BASIS.column].any():
            return {metric.id: NotApplicable(NOT_ALIGNED) for metric in SPEC.values}
        values = declared(SPEC.values, state.sums)
        if not state.sums.columns[_PARSED.column].any():
            why = NotApplicable("; ".join(sorted(state.treeless)) or _PARSED.missing)
            values |= {metric.id: why for metric in (syntax.PARSED, *syntax.METRICS)}
        return values


SPEC: Final = MetricFamily(
    name="code",
    summary="lines, indentation, identifiers, operators and syntax trees of programs",
    text=CodeMetric,
    options=CodeOptions,
    subject=("code",),
    values=(
        *(replace(metric, basis=_BASIS) for metric in _METRICS),
        *(replace(metric, basis=_PARSED) for metric in syntax.METRICS),
    ),
)
