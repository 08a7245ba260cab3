"""The contract of a metric that trains small language models: one part of a text trains them, another is scored.

The run chooses the documents of both parts, the same for every tokenizer, and leaves out near-duplicates. It encodes
them, checks that every scored document makes the round trip, and passes the ids to the metric: one job for each
tokenizer and corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Encoded

if TYPE_CHECKING:
    from tokbench.plugin import Measured, NotApplicable, Progress
    from tokbench.studies.language_models.block import BitsComparison, ModelTraining, ModelWords
    from tokbench.studies.language_models.scored_bits import ScoredBits


class ModelTexts(NamedTuple):
    """How the documents are chosen that train models, and the scored ones.

    Attributes:
        train: the corpus that trains; empty for the corpus that is scored.
        holdout: the share of documents that is scored, by a hash of the text, where one corpus is both and has no
            holdout of its own.
        most_training, most_scored: bytes of each part at most; the documents with the smallest hashes are used.
        most_document: bytes of a scored document at most; the rest is cut off, so that no long document decides.
        training_piece: bytes of a training document at most; a longer one becomes several. 0 leaves documents whole.
    """

    train: str
    holdout: float
    most_training: int
    most_scored: int
    most_document: int
    training_piece: int = 0


class EncodedPart(NamedTuple):
    """The encoded documents of one part, in the order of a hash of their text.

    Attributes:
        encoded: the ids, without special tokens.
        n_bytes: int64[d], the UTF-8 bytes of each original document.
    """

    encoded: Encoded
    n_bytes: NDArray[np.int64]


class Checkpoints(Protocol):
    """Finished parts of a long training, by name: a mapping to bytes that may outlast the process, or a ``dict``."""

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str, /) -> bytes: ...

    def __setitem__(self, name: str, data: bytes, /) -> None: ...


class ModelTask(NamedTuple):
    """The input of a metric of models for one tokenizer.

    Attributes:
        training: the documents that train.
        scored: the documents to predict, all lossless.
        n_ids: ids that the tokenizer can emit, without special, unknown and empty ones.
        saved: what an earlier run of the same task has finished; an entry is stored at once.
    """

    training: EncodedPart
    scored: EncodedPart
    n_ids: int
    saved: Checkpoints


class ModelStates(NamedTuple):
    """The states of all tokenizers on one corpus.

    Attributes:
        documents: the number of scored documents.
        states: by tokenizer, in the order of the run, without tokenizers that failed or are lossy.
        comparable: the pairs of tokenizers that may be compared: both learned from the same text, none of which is
            scored, or one is a baseline, which learned from nothing, or both are published.
    """

    documents: int
    states: Mapping[str, Any]
    comparable: Sequence[tuple[str, str]]


class ModelOutcome(NamedTuple):
    """The result of a metric of models on one corpus.

    Attributes:
        values: by tokenizer and metric id.
        comparisons: the verdict on every comparable pair.
        models: by metric, its model in a few words, such as ``order 3``; the simplest one first.
        deciding: the metrics whose models must agree on a verdict.
        least: the smallest difference that counts, in bits per byte.
        scored: by tokenizer, the bits of the scored documents under each of ``models``, in order; may be empty.
            A study of validity draws documents and training text from them.
        words: sentences for the report.
        trainings: by tokenizer, the training of its models; may be empty.
    """

    values: Mapping[str, Mapping[str, Measured | NotApplicable]]
    comparisons: Sequence[BitsComparison]
    models: Mapping[str, str]
    deciding: Sequence[str]
    least: float
    scored: Mapping[str, ScoredBits] = MappingProxyType({})
    words: ModelWords | None = None
    trainings: Mapping[str, ModelTraining] = MappingProxyType({})


class ModelMetric(Protocol):
    """A metric that trains models on the ids of each tokenizer, and scores them on other text.

    A state consists of the same values as a text metric's, or it is not stored. It depends on the task alone, because a
    run may read it from the store.
    """

    @property
    def texts(self) -> ModelTexts:
        """The choice of training and scored documents."""

    def fit(self, task: ModelTask, progress: Progress, /) -> Any:
        """Train the models of one tokenizer, score them, and return the state."""

    def finish_models(self, states: ModelStates, /) -> ModelOutcome:
        """Return the values of all tokenizers on one corpus, and their comparisons."""
