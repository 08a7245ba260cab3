"""The facts of a tokenizer that is ready."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

CAUTION: Final = "caution: "
"""The beginning of a note that is shown wherever numbers of its tokenizer are."""


def cautions(notes: Iterable[str]) -> list[str]:
    """Return the notes that are shown with every number.

    >>> cautions(["caution: split gpt4 assumed", "a text of 100,000 spaces is encoded otherwise"])
    ['caution: split gpt4 assumed']
    """
    return [note for note in notes if note.startswith(CAUTION)]


class TokenizerFacts(NamedTuple):
    """The facts that a worker reports of a tokenizer that is ready."""

    vocab_size: int
    """As the tokenizer gives it."""
    notes: tuple[str, ...]
    """As the tokenizer gives them; at most 50 notes of 2,000 characters."""
    lacks: frozenset[str]
    """Ids of the metrics whose capabilities the tokenizer lacks."""
    engine: str = ""
    """The engine that it names; empty if it names none."""
    returns: str = ""
    """The shape of what its engine hands over: ``arrays``, ``lists`` or ``counts``, see :func:`.output_of`."""
    identity: str | None = None
    """As it gives it, see :class:`tokbench.tokenizers.contract.HasIdentity`; ``None`` if it gives none."""
