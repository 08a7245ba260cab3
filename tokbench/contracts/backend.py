"""What a plugin registers for one backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tokbench.contracts.options import Options
from tokbench.contracts.tokenizer import Tokenizer

__all__ = ["BackendSpec", "TrainProgress"]


TrainProgress = Callable[[int, int], None]
"""Called by a trainer with (steps done, steps in all), as often as it likes."""

Load = Callable[[Any], Tokenizer]
Train = Callable[[Iterable[str], int, Any, TrainProgress], Tokenizer]


@dataclass(frozen=True, kw_only=True)
class BackendSpec:
    """What a plugin registers for one backend.

    Attributes:
        name: the word after ``backend:`` in a configuration.
        summary: one line for ``tokbench list``.
        load: ``load(options) -> Tokenizer``, or ``None`` where there is nothing to load.
        load_options: the options class of ``load``.
        train: ``train(documents, vocab_size, options, progress) -> Tokenizer``, or ``None``. The
            documents can be gone through once.
        train_options: the options class of ``train``.
        min_vocab_size: the smallest ``vocab_size`` that training accepts.
        nested: whether training to a smaller size gives the first merges of a larger one, so that a study of
            sizes cuts one vocabulary instead of training many.
        requires: distributions that must be installed; the backend is listed as unavailable without them.
        install: what to type to get them.

    Raises (by ``load`` and ``train``):
        BackendUnavailable: not to be had on this machine, for example with no network.
        BackendError: the file is damaged, the text does not suffice, …
    """

    name: str
    summary: str
    load: Load | None = None
    load_options: type[Options] = Options
    train: Train | None = None
    train_options: type[Options] = Options
    min_vocab_size: int = 1
    nested: bool = False
    requires: tuple[str, ...] = ()
    install: str = ""
