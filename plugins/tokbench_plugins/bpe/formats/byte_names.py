"""GPT-2's byte alphabet: tokens are bytes, JSON holds text, so each byte has a printable character.

A byte that is a visible Latin-1 character keeps it; the others, in order, have the code points from 256 on. So ``Ġ`` is
a space and ``Ċ`` a line break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Final

from tokbench.tokenizers.batch import check_highest
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Merge, Vocabulary, check_bytes


def _alphabet() -> str:
    beyond = count(FIRST_MERGE)
    latin = map(chr, range(FIRST_MERGE))
    return "".join(c if c.isprintable() and not c.isspace() else chr(next(beyond)) for c in latin)


BYTE_TO_CHARACTER: Final = _alphabet()
"""Entry ``b`` is the character of byte ``b``."""

_TOO_LARGE: Final = 10**7  # a damaged id must not fill the memory
_BYTE_OF: Final = {ord(character): byte for byte, character in enumerate(BYTE_TO_CHARACTER)}
_NAMES: Final = str.maketrans(dict(enumerate(BYTE_TO_CHARACTER)))


def name_of_bytes(token: bytes) -> str:
    r"""Return the spelling of a token in the byte alphabet."""
    return token.decode("latin-1").translate(_NAMES)


def bytes_of_name(name: str) -> bytes:
    r"""Return the token that is spelled so."""
    try:
        return bytes(map(_BYTE_OF.__getitem__, map(ord, name)))
    except KeyError as error:
        raise ValueError(f"{name!r} is not spelled in GPT-2's byte alphabet: it has {chr(error.args[0])!r}") from None


def names_of(parts: Parts) -> dict[str, int]:
    """Return the ids of all ordinary tokens by their spelling, in order of id."""
    tokens, empty_id = parts.vocabulary.tokens, parts.vocabulary.empty_id
    return {name_of_bytes(token): i for i, token in enumerate(tokens) if token or i == empty_id}


def named_merges(vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """Return the spellings of both halves of each merge, in order of rank."""
    names = list(map(name_of_bytes, vocabulary.tokens))
    return [(names[left], names[right]) for left, right, _ in vocabulary.merges]


def vocabulary_of_names(
    ids: Mapping[str, int], merges: Iterable[tuple[str, str]], place: Callable[[int], str]
) -> Vocabulary:
    """Return the vocabulary of ordinary tokens and merges that are spelled in the byte alphabet."""
    tokens = _tokens_by_id(ids)
    triples: list[Merge] = []
    for rank, (left, right) in enumerate(merges):
        for name in (left, right, left + right):
            if name not in ids:
                raise ValueError(f"{place(rank)} merges {left!r} and {right!r}, but no token is {name!r}")
        triples.append((ids[left], ids[right], ids[left + right]))
    if len({pair[:2] for pair in triples}) < len(triples):
        raise ValueError("a merge is repeated")
    byte_ids = tuple(ids[character] for character in BYTE_TO_CHARACTER)
    return Vocabulary(tokens, byte_ids, tuple(triples))


def _tokens_by_id(ids: Mapping[str, int]) -> tuple[bytes, ...]:
    for name, token_id in ids.items():
        if not 0 <= token_id < _TOO_LARGE:
            raise ValueError(f"the id of {name!r} is {token_id}, not between 0 and {_TOO_LARGE - 1}")
    highest = max(ids.values(), default=-1)
    check_highest(highest, len(ids))
    tokens = [b""] * (highest + 1)
    for name, token_id in ids.items():
        if tokens[token_id]:
            raise ValueError(f"{name_of_bytes(tokens[token_id])!r} and {name!r} have the same id, {token_id}")
        tokens[token_id] = bytes_of_name(name)
    check_bytes(set(tokens))
    return tuple(tokens)
