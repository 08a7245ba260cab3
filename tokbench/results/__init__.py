"""The typed model of ``results.json``: :class:`Results`, its cells, and the blocks beside them."""

from tokbench.results.blocks import (
    CorpusInfo,
    Difference,
    Environment,
    IdDifference,
    LossCause,
    LossExample,
    LossInfo,
    MetricInfo,
    PairComparison,
    PluginInfo,
    ProbeAnswerInfo,
    ProbeInfo,
    ProbeText,
    RawState,
    RunConfig,
    TokenizerInfo,
    TrainingInfo,
)
from tokbench.results.cells import COLUMNS, OWN_TEXTS, WHOLE, Cell, Status, TokenizerState
from tokbench.results.model import SCHEMA, Results
from tokbench.results.schema import json_schema
from tokbench.results.vocabulary_size import VocabularySizes

__all__ = [
    "COLUMNS",
    "OWN_TEXTS",
    "SCHEMA",
    "WHOLE",
    "Cell",
    "CorpusInfo",
    "Difference",
    "Environment",
    "IdDifference",
    "LossCause",
    "LossExample",
    "LossInfo",
    "MetricInfo",
    "PairComparison",
    "PluginInfo",
    "ProbeAnswerInfo",
    "ProbeInfo",
    "ProbeText",
    "RawState",
    "Results",
    "RunConfig",
    "Status",
    "TokenizerInfo",
    "TokenizerState",
    "TrainingInfo",
    "VocabularySizes",
    "json_schema",
]
