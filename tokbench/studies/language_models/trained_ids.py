"""The amounts of training text for the ids of a tokenizer: a model hardly learns rare ids."""

from __future__ import annotations

import numpy as np

from tokbench.studies.language_models.block import TrainedIds
from tokbench.studies.language_models.contract import EncodedPart


def count_trained_ids(training: EncodedPart, scored: EncodedPart, n_ids: int) -> TrainedIds:
    """Count the tokens of both parts of a text, one or more each.

    >>> from tokbench.plugin import Encoded
    >>> texts = [np.array(ids, dtype=np.uint32) for ids in ([1, 1, 2, 1, 2, 1], [1, 3, 2, 3])]
    >>> parts = [EncodedPart(Encoded(ids, np.array([0, len(ids)])), np.array([12])) for ids in texts]
    >>> trained = count_trained_ids(*parts, n_ids=4)
    >>> trained.training_tokens, trained.tokens_per_id, trained.never_trained
    (6, 1.5, 0.5)
    >>> trained.training_bytes_per_token, trained.scored_bytes_per_token
    (2.0, 3.0)
    """
    learned, predicted = training.encoded.ids, scored.encoded.ids
    return TrainedIds(
        ids=n_ids,
        training_tokens=len(learned),
        tokens_per_id=len(learned) / n_ids,
        never_trained=float(np.isin(predicted, np.unique(learned), invert=True).mean()),
        training_bytes_per_token=float(training.n_bytes.sum()) / len(learned),
        scored_bytes_per_token=float(scored.n_bytes.sum()) / len(predicted),
    )
