"""The family ``code``: lines, names, operators and syntax of programs in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from pydantic import Field

from tokbench.metrics.code import identifiers, indentation, operators, syntax
from tokbench.metrics.code.leaves import leaves_of
from tokbench.plugin import (
    NOT_ALIGNED,
    EncodedShard,
    Measured,
    MetricFamily,
    NotApplicable,
    Options,
    SummedMetric,
    Sums,
)

_THEMES: Final = (indentation.THEME, identifiers.THEME, operators.THEME)
_LAID: Final = "documents laid out"


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


class Code(SummedMetric):
    """The text metric."""

    _options: CodeOptions

    def map(self, encoded: EncodedShard) -> CodeState:
        columns = {_LAID: encoded.token_ends.aligned.astype(np.int64)}
        for theme in _THEMES:
            columns |= theme.measure(encoded)
        leaves = leaves_of(encoded.shard, self._options.grammars)
        columns |= syntax.measure(encoded, None if isinstance(leaves, str) else leaves)
        return CodeState(Sums.of(encoded.shard, **columns), frozenset({leaves} if isinstance(leaves, str) else ()))

    def finish(self, state: CodeState) -> Mapping[str, Measured | NotApplicable]:
        documents = int(state.sums.columns[_LAID].sum())
        if not documents:
            return {value.id: NotApplicable(NOT_ALIGNED) for value in SPEC.values}
        values = {k: value for theme in _THEMES for k, value in theme.finish(state.sums, documents).items()}
        values |= syntax.finish(state.sums, documents)
        if not state.sums.columns["parsed documents"].any():
            why = "; ".join(sorted(state.treeless)) or "tree-sitter's grammar finds a syntax error in every document"
            values |= {value.id: NotApplicable(why) for value in syntax.VALUES}
        return values


SPEC: Final = MetricFamily(
    name="code",
    summary="lines, indentation, identifiers, operators and syntax trees of programs",
    text=Code,
    options=CodeOptions,
    subject=("code",),
    values=tuple(value for theme in _THEMES for value in theme.values) + syntax.VALUES,
)
