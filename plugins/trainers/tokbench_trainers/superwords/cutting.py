"""Cuts text so that a small table of counts has all that superwords are learned from.

A superword joins two neighbours, and those of its joints that lie deepest are between two tokens of stage one, or two
chunks, that occur together at least as often. So a text may be cut wherever such a pair is rarer than the last
superword, and what is between two cuts repeats: it is counted like the chunks of a split, and gives the same merges.
What is rare is found in a first pass, by a sketch of fixed size whose counts are never too low.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench_plugins.bpe import Pair, Vocabulary
from tokbench_plugins.bpe.compiled.encode import ChunkwiseEncoder
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import STAGE_TWO
from tokbench_trainers.superwords.kernels import (
    BEGINS_BLANK,
    BEGINS_SPACE,
    ENDS_BLANK,
    ENDS_COLON,
    SLOTS,
    Joining,
    Units,
    add_joints,
    cut_atoms,
    cut_joints,
)
from tokbench_trainers.superwords.rules import is_word_like, may_cross
from tokbench_trainers.superwords.wanted import Kind

_NEVER: Final = 1 << 20  # words
BORDERS: Final[dict[Kind, str]] = {
    # Beside numbers and several signs or spaces the second split ends a chunk, whatever follows. A slash may belong to
    # the signs and line ends before it, and leave a sign behind it alone.
    "superbpe": r"(?<=[^\s\p{N}])(?=\p{N})|(?<=\p{N})(?=\p{L})|(?<=[^\s\p{L}\p{N}/][^\s\p{L}\p{N}]|//)(?=\p{L})"
    r"|(?<=  )(?= \p{L})",
    # A line break, or a sign that is no part of a word, ends a run of words; named splits end a chunk there.
    "boundless_bpe": r"(?<=\S\n)(?=\p{L})|(?<=[.,;:!?])(?= \p{L})",
}
"""Where a text may be read in pieces."""


class CuttingPlan(NamedTuple):
    """What is joined."""

    kind: Kind
    rule: dict[str, Any]
    """The options that the table depends on; has ``pattern``, the expression of the split of words."""
    merges: Sequence[Pair]
    """Of stage one, or all ordinary merges."""
    most_words: int = 1
    least: int = 1
    """How often a merge is done at least, if the table is to give it."""
    frequent: NDArray[np.bool_] | None = None
    """bool[SLOTS], the pairs that may occur that often; ``None`` for all."""


class SuperwordCutter:
    """Cuts text by a plan."""

    def __init__(self, plan: CuttingPlan) -> None:
        self.plan = plan
        self._vocabulary = Vocabulary.trained(plan.merges)

    def __reduce__(self) -> tuple[Any, ...]:
        return SuperwordCutter, (self.plan,)

    @cached_property
    def facts(self) -> dict[str, Any]:
        plan = self.plan
        return {"kind": plan.kind, **plan.rule, "merges": list(map(list, plan.merges)), "least": plan.least}

    @cached_property
    def name(self) -> str:
        """The kind, and a hash of the plan: tables of one plan can be added."""
        digest = hashlib.sha256(json.dumps(self.facts).encode())
        if self.plan.frequent is not None:
            digest.update(np.packbits(self.plan.frequent).tobytes())
        return f"superwords of {self.plan.kind}, {digest.hexdigest()[:8]}"

    def add_to(self, sketch: NDArray[np.int64], data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Count the joints of documents in an int64[SLOTS]."""
        add_joints(self._units(data[offsets[0] :], offsets - offsets[0]), self._joining, sketch)

    def ends(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return int64[c], where documents are cut; ``data`` has room behind."""
        text = self._units(data[offsets[0] :], offsets - offsets[0])
        frequent = np.ones(SLOTS, np.bool_) if self.plan.frequent is None else self.plan.frequent
        cuts = np.empty(text.units.size, np.int64)
        n_cuts: int = cut_joints(text, self._joining, frequent, cuts)
        return cuts[:n_cuts] + int(offsets[0])

    def _units(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Units:
        borders = np.unique(offsets[1:][offsets[1:] > 0])
        if not borders.size:
            return Units(*np.zeros((3, 0), np.int64))
        if self.plan.kind == "superbpe":
            return self._ids(data, self._scan.ends(data, offsets))
        return self._words(data, self._scan.ends(data, offsets), borders)

    def _ids(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Units:
        atoms = np.empty(ends[-1], np.int64)
        atoms = atoms[: cut_atoms(data, ends, self._together, atoms)]
        ids = self._encode(data, atoms).ids
        return Units(ids.astype(np.int64), np.cumsum(self._lengths[ids]), ends)

    def _words(self, data: NDArray[np.uint8], ends: NDArray[np.int64], borders: NDArray[np.int64]) -> Units:
        ids, offsets = self._encode(data, ends)
        one = np.diff(offsets) == 1
        return Units(np.where(one, ids[offsets[:-1]], self._lengths.size), ends, borders)

    @cached_property
    def _scan(self) -> Any:
        return scanner(STAGE_TWO if self.plan.kind == "superbpe" else self.plan.rule["pattern"])

    @cached_property
    def _encode(self) -> ChunkwiseEncoder:
        return ChunkwiseEncoder(self._vocabulary)

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.array(list(map(len, self._vocabulary.tokens)), np.int64)

    @cached_property
    def _together(self) -> NDArray[np.bool_]:
        """Which two bytes a token has side by side, bool[65536]."""
        together = np.zeros(1 << 16, np.bool_)
        pairs = {left << 8 | right for token in self._vocabulary.tokens for left, right in pairwise(token)}
        together[list(pairs)] = True
        return together

    @cached_property
    def _joining(self) -> Joining:
        tokens = self._vocabulary.tokens
        if self.plan.kind == "boundless_bpe":
            words = [0 if is_word_like(token) else _NEVER for token in tokens]
            return Joining(np.array([*words, _NEVER], np.int32), np.zeros(len(words) + 1, np.uint8), 1)
        words = [len(token.split()) if may_cross(token, _NEVER) else _NEVER for token in tokens]
        return Joining(np.array(words, np.int32), np.array(list(map(_marks, tokens)), np.uint8), self.plan.most_words)


def _marks(token: bytes) -> int:
    return (
        BEGINS_BLANK * token[:1].isspace()
        | ENDS_BLANK * token[-1:].isspace()
        | BEGINS_SPACE * token.startswith(b" ")
        | ENDS_COLON * token.endswith(b":")
    )
