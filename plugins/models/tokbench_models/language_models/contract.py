"""The contract of a metric that trains small language models on one part of a text, and scores another.

The run chooses and encodes the same documents for every tokenizer, without near-duplicates, checks the round trip of
the scored ones, and passes the ids to one job for each tokenizer and corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Encoded

if TYPE_CHECKING:
    from tokbench.plugin import Progress
    from tokbench.plugin.metrics import Measured, NotApplicable
    from tokbench_models.language_models.block import BitsComparison, ModelTraining


class ModelTexts(NamedTuple):
    """The choice of training and scored documents.

    Attributes:
        train: the corpus that trains; empty for the scored one.
        holdout: the scored share of documents, if one corpus is both and has no holdout.
        most_training, most_scored: bytes of each part at most, by smallest hashes.
        most_document, training_piece: bytes of a scored document, which is cut off, and of a training document, which
            becomes several; 0 leaves documents whole.
    """

    train: str
    holdout: float
    most_training: int
    most_scored: int
    most_document: int
    training_piece: int = 0


class EncodedPart(NamedTuple):
    """The encoded documents of one part, in the order of a hash of their text, without special tokens.

    ``n_bytes`` are int64[d].
    """

    encoded: Encoded
    n_bytes: NDArray[np.int64]


class Checkpoints(Protocol):
    """Finished parts of a long training, by name; may outlast the process."""

    def get(self, name: str, /) -> Any: ...

    def __setitem__(self, name: str, part: Any, /) -> None: ...


class ModelTask(NamedTuple):
    """The input of a metric of models for one tokenizer that can emit ``n_ids``; all scored documents are lossless."""

    training: EncodedPart
    scored: EncodedPart
    n_ids: int
    saved: Checkpoints


class ModelStates(NamedTuple):
    """The states of all tokenizers on one corpus, without failed and lossy ones, and the comparable pairs."""

    states: Mapping[str, Any]
    comparable: Sequence[tuple[str, str]]


class ModelOutcome(NamedTuple):
    """The result of a metric of models on one corpus.

    Attributes:
        values: by tokenizer and metric id.
        models: by metric, its model in words, such as ``order 3``; the simplest first.
        deciding: the metrics whose models must agree on a verdict.
        least: the smallest difference that counts, in bits per byte.
    """

    values: Mapping[str, Mapping[str, Measured | NotApplicable]]
    comparisons: Sequence[BitsComparison]
    models: Mapping[str, str]
    deciding: Sequence[str]
    least: float
    trainings: Mapping[str, ModelTraining] = MappingProxyType({})


class ModelMetric(Protocol):
    """A metric that trains models on the ids of each tokenizer, and scores them on other text.

    A state depends on the task alone.
    """

    @property
    def texts(self) -> ModelTexts: ...

    def fit(self, task: ModelTask, progress: Progress, /) -> Any:
        """Return the state of one tokenizer."""

    def finish_models(self, states: ModelStates, /) -> ModelOutcome: ...
