"""One shard encoded by one tokenizer, from which every metric computes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.foundation.errors import BackendError, ContractError, NoIds, one_line
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.tokenizers.batch import bytes_of, decode_batch, ends_of
from tokbench.tokenizers.contract import (
    NO_IDS,
    Encoded,
    EncodesWithOffsets,
    HasDummyPrefix,
    HasTokenBytes,
    HasUnknown,
    Tokenizer,
    WarmsUp,
)

T = TypeVar("T")

ENCODING: Final = "encoding"

DECODING: Final = "decoding"

_MOST_COUNTED: Final = 1 << 22
"""Ids up to it are counted in an array of all; larger ones would need its memory."""

_UNKNOWN: Final = "\U0010ffff"
"""It replaces the name of the unknown token."""


def differs_from_previous(keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return bool[n], ``False`` where a key is equal to the one before."""
    differs = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=differs[1:])
    return differs


class TokenEnds(NamedTuple):
    """The places where tokens end in a shard, in bytes of its documents joined end to end."""

    ends: NDArray[np.int64]
    """int64[m], rising; only of the documents in ``aligned``."""
    aligned: NDArray[np.bool_]
    """bool[d], the documents whose tokens could be aligned with their bytes."""


class LoadedTokenizer:
    """A tokenizer under comparison, with its name in the run and the lengths of its tokens."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self._lengths = np.empty(0, dtype=np.int32)
        self._warm = False
        self._cached: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[Tokenizer], T]) -> T:
        """Return what ``make`` finds out about the tokenizer, computed once for all shards."""
        if key not in self._cached:
            self._cached[key] = make(self.tokenizer)
        value: T = self._cached[key]
        return value

    def warm_up(self) -> None:
        warm, self._warm = self._warm, True
        if not warm and isinstance(self.tokenizer, WarmsUp):
            self.tokenizer.warm_up()

    def byte_lengths(self, ids: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return int32[n], the number of bytes of each id; the tokenizer is asked once for each."""
        if not isinstance(self.tokenizer, HasTokenBytes):
            raise TypeError("byte_lengths needs the capability HasTokenBytes")
        highest = int(ids.max(initial=0))
        if highest >= len(self._lengths):
            self._lengths = np.append(self._lengths, np.full(highest + 1 - len(self._lengths), -1, dtype=np.int32))
        lengths = self._lengths[ids]
        if len(lengths) and lengths.min() < 0:
            unknown = np.unique(ids[lengths < 0])
            self._lengths[unknown] = list(map(len, bytes_of(self.tokenizer, unknown.tolist())))
            lengths = self._lengths[ids]
        return lengths

    def bytes_before(self, ids: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return int64[n + 1], the number of bytes before each id in a row of ids, and of all of them."""
        running = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(self.byte_lengths(ids), out=running[1:])
        return running


class EncodedShard:
    """One shard, encoded by one tokenizer: the input of all text metrics.

    ``counts`` is int64[d], the tokens of each document, where a tokenizer gives no ids, else ``None``;
    ``undecodable`` names the document at which decoding failed since it was emptied.
    """

    def __init__(self, loaded: LoadedTokenizer, shard: Shard, arrays: Encoded | NDArray[np.int64]) -> None:
        self.loaded = loaded
        self.shard = shard
        self._arrays = arrays if isinstance(arrays, Encoded) else None
        self.counts = None if isinstance(arrays, Encoded) else arrays
        self._cached: dict[Hashable, Any] = {}
        self.undecodable = ""

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make``, computed once for all families."""
        if self.shard.is_long:
            return make()
        if key not in self._cached:
            self._cached[key] = make()
        value: T = self._cached[key]
        return value

    @property
    def tokenizer(self) -> Tokenizer:
        return self.loaded.tokenizer

    @property
    def arrays(self) -> Encoded:
        """The ids of all documents, with their offsets; raises NoIds where a tokenizer counts tokens alone."""
        if self._arrays is None:
            raise NoIds(NO_IDS)
        return self._arrays

    @property
    def ids(self) -> NDArray[np.uint32]:
        """uint32[n], the ids of all documents."""
        return self.arrays.ids

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64[d + 1]; the ids of document ``k`` are ``ids[offsets[k]:offsets[k + 1]]``."""
        return self.arrays.offsets

    @cached_property
    def tokens(self) -> NDArray[np.int64]:
        """int64[d], the number of tokens of each document."""
        return np.diff(self.offsets) if self.counts is None else self.counts

    @cached_property
    def decoded(self) -> list[str]:
        try:
            with doing(DECODING):
                decoded = self._decoded(self.arrays)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            self.undecodable = self._undecodable
            raise
        # A document that is decoded unchanged is kept once: a second copy takes up to four bytes for each character.
        return [text if back == text else back for back, text in zip(decoded, self.shard.texts, strict=True)]

    def _decoded(self, arrays: Encoded) -> list[str]:
        decoded = decode_batch(self.tokenizer, arrays)
        if len(decoded) != len(arrays.offsets) - 1:
            raise ContractError(f"decode_batch returned {len(decoded)} texts for {len(arrays.offsets) - 1} documents")
        return decoded

    @cached_property
    def _undecodable(self) -> str:
        for (start, end), origin in zip(pairwise(self.offsets.tolist()), self.shard.origins, strict=True):
            alone = Encoded(self.ids[start:end], np.array([0, end - start]))
            with doing(DECODING):
                outcome = attempt(lambda alone=alone: self._decoded(alone))  # type: ignore[misc]
            if isinstance(outcome, Failure):
                return f"document {origin}"
        return "each document by itself can be decoded"

    @cached_property
    def exact(self) -> NDArray[np.bool_]:
        """bool[d], the documents that are decoded as they were."""
        same = (back is text for back, text in zip(self.decoded, self.shard.texts, strict=True))
        return np.fromiter(same, dtype=np.bool_, count=len(self.shard))

    @cached_property
    def losses(self) -> dict[str, NDArray[np.int64]]:
        """int64[d] each: exact documents, and of the others the edits and characters lost beyond NFC."""
        from tokbench.measuring.align import LostText, lost_text

        lost = np.zeros((len(self.shard), len(LostText._fields)), dtype=np.int64)
        unk_id = self.tokenizer.unk_id if isinstance(self.tokenizer, HasUnknown) else None
        unknown = "" if unk_id is None or self.exact.all() else self.tokenizer.decode([unk_id]).strip()
        for k in np.flatnonzero(~self.exact).tolist():
            text, back = self.shard.texts[k], self.decoded[k]
            # Else letters of its name would pass for letters of the text.
            lost[k] = lost_text(text, back.replace(unknown, _UNKNOWN) if unknown and unknown not in text else back)
        edits, characters = lost.T
        exact = self.exact.astype(np.int64)
        characters = np.minimum(characters, self.shard.n_chars)  # NFC decomposes a few characters
        return {"exact": exact, "edits beyond NFC": edits, "lost characters": characters}

    @property
    def kept(self) -> NDArray[np.bool_]:
        """bool[d], the documents of which no character is lost."""
        lost = self.losses["lost characters"]
        return np.equal(lost, 0)

    @property
    def times(self) -> NDArray[np.int64] | None:
        """int64[n], how often each token occurs, where documents are counted chunks."""
        return None if self.shard.times is None else np.repeat(self.shard.times, self.tokens)

    @cached_property
    def id_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """int64[k] twice: the ids that occur, rising, and how often each occurs in all documents."""
        if self.ids.max(initial=0) <= _MOST_COUNTED:
            counts = np.bincount(self.ids, weights=self.times).astype(np.int64)
            distinct = np.flatnonzero(counts)
            return distinct, counts[distinct]
        distinct, at = np.unique(self.ids, return_inverse=True)
        return distinct.astype(np.int64), np.bincount(at, weights=self.times).astype(np.int64)

    def count_ids(self, token_id: int) -> NDArray[np.int64]:
        at = np.flatnonzero(self.ids == token_id)
        documents = np.searchsorted(self.offsets, at, side="right") - 1
        return np.bincount(documents, minlength=len(self.shard))

    @cached_property
    def token_ends(self) -> TokenEnds:
        """The places where tokens end: by their bytes in documents with an exact round trip, else by offsets."""
        documents = len(self.shard)
        ends = np.empty(0, dtype=np.int64)
        aligned = np.zeros(documents, dtype=np.bool_)
        if isinstance(self.tokenizer, HasTokenBytes):
            ends, aligned = self._ends_by_bytes()
        if isinstance(self.tokenizer, EncodesWithOffsets) and not aligned.all():
            parts = [ends]
            for k in np.flatnonzero(~aligned).tolist():
                parts.append(self._ends_by_offsets(k) + self.shard.byte_offsets[k])
                aligned[k] = True
            ends = np.sort(np.concatenate(parts))
        return TokenEnds(ends, aligned)

    def _ends_by_offsets(self, document: int) -> NDArray[np.int64]:
        """Raise a BackendError that names the document if the tokenizer fails."""
        assert isinstance(self.tokenizer, EncodesWithOffsets)
        try:
            return ends_of(self.tokenizer, self.shard.texts[document])
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            raise BackendError(f"{one_line(error)} (document {self.shard.origins[document]})") from error

    @cached_property
    def boundaries(self) -> NDArray[np.int64]:
        """int64[b], rising, each once: the places where tokens begin or end in the aligned documents."""
        ends, aligned = self.token_ends
        # A stable sort merges two columns that rise in one pass.
        places = np.sort(np.concatenate([ends, self.shard.byte_offsets[:-1][aligned]]), kind="stable")
        return places[differs_from_previous(places)]

    def _ends_by_bytes(self) -> TokenEnds:
        ids, offsets = self.arrays
        exact = self.exact  # first, because decoding takes the most memory
        prefix = self.tokenizer.dummy_prefix if isinstance(self.tokenizer, HasDummyPrefix) else b""
        running = self.loaded.bytes_before(ids)
        starts = running[offsets[:-1]]
        surplus = running[offsets[1:]] - starts - self.shard.n_bytes
        # The dummy prefix is inside the first token; an empty document has neither.
        expected = np.where(self.tokens > 0, len(prefix), 0)
        aligned = exact & (surplus == expected)
        if aligned.all() and not prefix:
            return TokenEnds(running[1:], aligned)
        shift = np.repeat(self.shard.byte_offsets[:-1] - starts - expected, self.tokens)
        inside = np.repeat(aligned, self.tokens)
        return TokenEnds((running[1:] + shift)[inside], aligned)
