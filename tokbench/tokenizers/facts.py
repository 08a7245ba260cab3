"""The facts of a tokenizer that is ready."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

CAUTION: Final = "caution: "
"""Begins a note that is shown wherever numbers of its tokenizer are."""


TRAINED_BEFORE: Final = "caution: trained with tokbench"
"""Begins the note of a tokenizer whose file says so: it is nobody's published one."""


def cautions(notes: Iterable[str]) -> list[str]:
    """Return the notes that are shown with every number."""
    return [note for note in notes if note.startswith(CAUTION)]


class TokenizerFacts(NamedTuple):
    """What a worker reports of a tokenizer."""

    vocab_size: int
    notes: tuple[str, ...]
    """At most 50 notes of 2,000 characters."""
    not_applicable: frozenset[str]
    """Metrics whose capabilities are missing, of the plugins that its process has."""
    engine: str = ""
    returns: str = ""
    """As :func:`.output_of` returns it."""
    identity: str | None = None
    """``None`` without a :class:`tokbench.tokenizers.contract.HasIdentity`."""
    load_s: float | None = None
    """Seconds of loading, with the library's import."""
    has: frozenset[str] = frozenset()
    """The names of its capabilities, by which the metrics of other plugins are judged."""
