"""Finds ids that no text gives, by trying texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from tokbench.foundation.failures import Failure, attempt
from tokbench.inspect.fragments import completions
from tokbench.tokenizers.batch import encode_batch, from_lists
from tokbench.tokenizers.contract import Encoded, Tokenizer

CONTEXTS: Final = (
    *(("", ""), ("x", ""), (".", ""), ("\n", ""), (" ", ""), ("1", ""), ("é", ""), ("x ", "")),
    *(("", "x"), ("", " "), ("", "\n"), ("", "."), ("", "1"), ("x", "x"), (".", "."), (" ", " "), ("\n", "\n")),
    *(("\u2042", ""), ("", "\u2042"), ("", "re"), ("", "ll"), ("", "t"), ("a", " b")),
)
"""Before and after the text: nothing, a letter, …, the rest of a contraction, and U+2042, which merges with nothing."""

FRAGMENT_TRIES: Final = 512
"""Texts for bytes that are not UTF-8."""

_FRAGMENT_PASSES: Final = (8, 64, FRAGMENT_TRIES)
_BATCH: Final = 20_000


def unreached(tokenizer: Tokenizer, texts: Mapping[int, str], fragments: Mapping[int, bytes]) -> set[int]:
    """Return the ids that no tried text gives: ``texts`` in each of :data:`CONTEXTS`, or completed ``fragments``."""
    left = dict(texts)
    for before, after in CONTEXTS:
        candidates = [(token, f"{before}{text}{after}") for token, text in left.items()]
        # Where a model puts a space before every text, a text begins with the id of its first word without it.
        candidates += [(token, text[1:]) for token, text in left.items() if not before and text[:1] == " "]
        for token in _given(tokenizer, candidates):
            del left[token]
    return set(left) | _unreached_fragments(tokenizer, fragments)


def _unreached_fragments(tokenizer: Tokenizer, fragments: Mapping[int, bytes]) -> set[int]:
    left = dict(fragments)
    for most in _FRAGMENT_PASSES:  # a few texts are enough for almost all
        candidates = [(token, text) for token, data in left.items() for text in completions(data, most)]
        for token in _given(tokenizer, candidates):
            del left[token]
    return set(left)


def _given(tokenizer: Tokenizer, candidates: Sequence[tuple[int, str]]) -> set[int]:
    given: set[int] = set()
    for start in range(0, len(candidates), _BATCH):
        some = candidates[start : start + _BATCH]
        ids, offsets = _encoded(tokenizer, [text for _, text in some])
        wanted = np.repeat(np.array([token for token, _ in some], dtype=np.int64), np.diff(offsets))
        given.update(wanted[wanted == ids].tolist())
    return given


def _encoded(tokenizer: Tokenizer, texts: list[str]) -> Encoded:
    """Give no ids for a text at which the tokenizer fails."""
    encoded = attempt(lambda: encode_batch(tokenizer, texts))
    return from_lists(list(_one_by_one(tokenizer, texts))) if isinstance(encoded, Failure) else encoded


def _one_by_one(tokenizer: Tokenizer, texts: list[str]) -> Iterator[Sequence[int]]:
    for text in texts:
        ids = attempt(lambda text=text: list(tokenizer.encode(text)))  # type: ignore[misc]
        yield [] if isinstance(ids, Failure) else ids
