"""The merges of a vocabulary in an order of which every prefix is a smaller vocabulary.

In published vocabularies the ids are such an order, with few exceptions: tokens with a lower id than their halves.
Engines make these as soon as both halves exist, so this is their place in the order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import is_utf8
from tokbench_plugins.bpe.recovery.recover import candidates_of_ranks, recover_from
from tokbench_plugins.bpe.recovery.recovered import Candidate
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Merge, Pair, Vocabulary

Merges = tuple[tuple[int, ...], ...]
"""The ids of the parts of each merge: two, or more for a token that a whole chunk is looked up as."""


class NoMergesError(BackendError, AttributeError):
    """A vocabulary has no merges in order of rank; ``hasattr`` is then False."""


def in_order(candidates: Iterable[Candidate], looked_up: Callable[[int], bool]) -> Merges:
    """Return the parts of every token, in order of rank.

    >>> in_order([Candidate(3, [0, 1]), Candidate(4, [1, 2, 0])], lambda token_id: token_id == 4)
    ((0, 1), (1, 2, 0))
    >>> in_order([Candidate(3, [0, 1, 0]), Candidate(4, [0, 1])], lambda token_id: False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tokbench_plugins.bpe.recovery.order.NoMergesError: merges are out of order: id 3 ...
    """
    try:
        merges, left_over = recover_from(candidates, late=True)
    except ValueError as error:
        raise NoMergesError(f"merges are out of order: {error}") from None
    built = {made for _, _, made in merges}
    whole = {chunk.made: chunk for chunk in reversed(left_over) if chunk.made not in built and looked_up(chunk.made)}
    if not whole:
        return tuple((left, right) for left, right, _ in merges)
    ranked = merge(
        ((rank, 1, (left, right)) for rank, (left, right, _) in enumerate(merges)),
        sorted((chunk.rank, 0, chunk.parts) for chunk in whole.values()),
    )
    return tuple(parts for _, _, parts in ranked)


def listed(
    merges: Iterable[Merge], whole_chunks: Collection[int], units_of: Callable[[int], Sequence[int]]
) -> Iterator[Candidate]:
    """Yield the candidates of a vocabulary that lists its merges; a whole chunk comes before the first higher id."""
    for made, pair in _in_turn(merges, sorted(whole_chunks, reverse=True)):
        if len(units := units_of(made)) > 1:
            yield Candidate(made, units, pair)


def _in_turn(merges: Iterable[Merge], waiting: list[int]) -> Iterator[tuple[int, Pair | tuple[()]]]:
    for left, right, made in merges:
        while waiting and waiting[-1] < made:
            yield waiting.pop(), ()
        yield made, (left, right)
    yield from ((made, ()) for made in reversed(waiting))


def merges_of_ranks(ranks: Mapping[bytes, int]) -> Merges:
    """Find the merges of a vocabulary that merges any two neighbours whose bytes joined are a token.

    >>> merges_of_ranks({b"a": 0, b"b": 1, b"ab": 2, b"ba": 3, b"bba": 4, b"abba": 5})
    ((0, 1), (1, 0), (1, 3), (2, 3))
    """
    token_of = {token_id: token for token, token_id in ranks.items()}
    try:
        return in_order(candidates_of_ranks(ranks), lambda token_id: is_utf8(token_of[token_id]))
    except KeyError as error:
        raise NoMergesError(
            f"the tokenizer does not list its merges in rank order: no token for the byte 0x{error.args[0]:02x}"
        ) from None


def merges_of_vocabulary(vocabulary: Vocabulary) -> Merges:
    """Return the merges of a vocabulary that lists them.

    >>> merges_of_vocabulary(Vocabulary.trained([(104, 105), (256, 33)]))
    ((104, 105), (256, 33))
    """
    byte_ids, tokens = vocabulary.byte_ids, vocabulary.tokens
    parts_first = all(max(left, right) < made for left, right, made in vocabulary.merges)
    unique = len(set(tokens)) == len(tokens)
    if vocabulary.is_trained and parts_first and unique and not vocabulary.whole_chunks:  # as every trainer makes it
        return tuple((left, right) for left, right, _ in vocabulary.merges)
    candidates = listed(
        vocabulary.merges, vocabulary.whole_chunks, lambda token_id: [byte_ids[byte] for byte in tokens[token_id]]
    )
    whole = vocabulary.whole_chunks
    return in_order(candidates, lambda i: i in whole and is_utf8(tokens[i]))


def first_merges(vocabulary: Vocabulary, size: int) -> Vocabulary:
    """Return the vocabulary of the bytes and the first merges, with ids as training gives them.

    Raises:
        ValueError: there are fewer merges, or one of them is a token that no merge makes.
        NoMergesError: they are not in order of rank.

    >>> whole = Vocabulary.trained([(104, 105), (256, 33)])
    >>> first_merges(whole, 257).tokens[256:]
    (b'hi',)
    """
    merges = merges_of_vocabulary(vocabulary)
    most = FIRST_MERGE + len(merges)
    if not FIRST_MERGE <= size <= most:
        raise ValueError(f"the vocabulary has {most} tokens that merges make of bytes, so it cannot be cut to {size}")
    tokens, ids = vocabulary.tokens, vocabulary.ranks
    new = {token_id: byte for byte, token_id in enumerate(vocabulary.byte_ids)}
    pairs: list[Pair] = []
    for parts in merges[: size - FIRST_MERGE]:
        token = b"".join(tokens[part] for part in parts)
        if len(parts) > 2:  # noqa: PLR2004 - a left and a right half
            raise ValueError(
                f"no merge makes {token!r}, to which a whole chunk is looked up; the backend cut keeps it: "
                f"{{backend: cut, of: ..., size: {size}}}"
            )
        pairs.append((new[parts[0]], new[parts[1]]))
        new[ids[token]] = FIRST_MERGE + len(pairs) - 1
    return Vocabulary.trained(pairs)
