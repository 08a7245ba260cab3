"""The contract of a metric that trains small language models: one part of a text trains them, another is scored.

The text that a model has learned from is not the text that it predicts, so the numbers are no sums over shards. The run
chooses the documents of both parts, the same for every tokenizer, and leaves out near-duplicates. It encodes them,
checks that every scored document comes back, and hands the ids to the metric: one job for each tokenizer and corpus.
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
    """The choice of the documents that train models, and of those that are scored.

    Attributes:
        train: the corpus that trains; empty for the corpus that is scored.
        holdout: the share of the documents that is scored, where a corpus trains and is scored and has no holdout of
            its own. A hash of the text decides.
        most_training, most_scored: bytes of each part at most; the documents with the smallest hashes are taken.
        most_document: bytes of a scored document at most; what follows is cut off, so that no long document decides.
        training_piece: bytes of a training document at most; a longer one becomes several. 0 leaves documents whole.
    """

    train: str
    holdout: float
    most_training: int
    most_scored: int
    most_document: int
    training_piece: int = 0


class EncodedPart(NamedTuple):
    """The documents of one part as a tokenizer encodes them, in the order of a hash of their text.

    Attributes:
        encoded: the ids; special tokens are not among them.
        n_bytes: int64[d], the UTF-8 bytes of each document as it was before it was encoded.
    """

    encoded: Encoded
    n_bytes: NDArray[np.int64]


class Checkpoints(Protocol):
    """Finished parts of a long training, by name: a mapping to bytes that may outlast the process, or a ``dict``."""

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str, /) -> bytes: ...

    def __setitem__(self, name: str, data: bytes, /) -> None: ...


class ModelTask(NamedTuple):
    """All that a model is made from.

    Attributes:
        training: the documents that train.
        scored: the documents that are predicted; every one of them comes back from its ids.
        n_ids: the number of ids that the tokenizer can emit: special, unknown and empty ids do not count.
        saved: what an earlier run of the same task has finished; what is put here is kept in the store at once.
    """

    training: EncodedPart
    scored: EncodedPart
    n_ids: int
    saved: Checkpoints


class ModelStates(NamedTuple):
    """The states of all tokenizers on one corpus.

    Attributes:
        documents: the number of scored documents.
        states: by tokenizer, in the order of the run. One that failed or loses text is missing.
        comparable: the pairs of tokenizers that may be compared: both learned from the same text, none of which is
            scored, or one is a baseline, which learned from nothing, or both are published.
    """

    documents: int
    states: Mapping[str, Any]
    comparable: Sequence[tuple[str, str]]


class ModelOutcome(NamedTuple):
    """The result of a metric of models on one corpus.

    Attributes:
        values: by tokenizer, the values by id.
        comparisons: the verdict on every comparable pair.
        models: by metric, its model in a few words, such as ``order 3``; the simplest one first.
        deciding: the metrics whose models must agree on a verdict.
        least: the smallest difference that counts, in bits per byte.
        scored: by tokenizer, the bits of the scored documents under each of ``models``, in the same order; empty if the
            metric has none. A study of validity draws documents and training text from them.
        words: what the report says of the models.
        trainings: by tokenizer, how its models were trained; empty if they have nothing to tell.
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

    A state is made of the same values as that of a text metric, or it is not kept in the store. It depends on nothing
    but the task, because a run may take it from the store.
    """

    @property
    def texts(self) -> ModelTexts:
        """The documents that the models are trained and scored on."""

    def fit(self, task: ModelTask, progress: Progress, /) -> Any:
        """Train the models of one tokenizer, score them, and return the state."""

    def finish_models(self, states: ModelStates, /) -> ModelOutcome:
        """Return the values of all tokenizers on one corpus, and their comparisons."""
