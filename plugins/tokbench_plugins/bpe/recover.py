"""The merges behind bare ranks.

A file of ranks gives each token an id and does not say which two tokens it was merged from. It need not:
when the token was made, all merges before it had been done, on these very bytes too. So encode the
token's bytes with the merges of lower rank: what is left are its two halves.

Where more than two parts are left no merge can build the token. Published vocabularies have a few: whole
words put in by hand, which a chunk is looked up in before it is merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tokbench_plugins.bpe.encode import merge_ids
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Merge, Pair

__all__ = ["Recovered", "recover"]


class Recovered(NamedTuple):
    """What bare ranks imply.

    Attributes:
        merges: (left id, right id, made id); the made ids rise.
        whole_chunks: ids of more than one byte that no merge builds, rising.
    """

    merges: list[Merge]
    whole_chunks: list[int]


def recover(ranks: Mapping[bytes, int]) -> Recovered:
    """The last merge of every token of more than one byte.

    Args:
        ranks: the id of each token, by its bytes; a smaller id is merged first. Ids may leave gaps, and
            the 256 bytes may have any.

    Returns:
        The merges and the tokens that none builds; the two together with the bytes are all tokens.

    Raises:
        ValueError: a single byte is missing, an id is negative or there twice, or a token is empty.

    >>> ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256, b"abc": 257, b"xyz": 258}
    >>> recover(ranks)
    Recovered(merges=[(97, 98, 256), (256, 99, 257)], whole_chunks=[258])
    """
    _check(ranks)
    byte_ids = [ranks[bytes([byte])] for byte in range(FIRST_MERGE)]
    rank_of: dict[Pair, int] = {}
    made: list[int] = []
    merges: list[Merge] = []
    whole_chunks: list[int] = []
    for token, token_id in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) == 1:
            continue
        match merge_ids([byte_ids[byte] for byte in token], rank_of, made):
            case [left, right]:
                rank_of[left, right] = len(made)
                made.append(token_id)
                merges.append((left, right, token_id))
            case _:
                whole_chunks.append(token_id)
    return Recovered(merges, whole_chunks)


def _check(ranks: Mapping[bytes, int]) -> None:
    taken: dict[int, bytes] = {}
    for token, token_id in ranks.items():
        if not token:
            raise ValueError(f"id {token_id} is that of an empty token")
        if token_id < 0:
            raise ValueError(f"token {token!r} has id {token_id}, which is below 0")
        if (other := taken.setdefault(token_id, token)) != token:
            raise ValueError(f"tokens {other!r} and {token!r} both have id {token_id}")
    for byte in range(FIRST_MERGE):
        if bytes([byte]) not in ranks:
            raise ValueError(f"no token for the byte 0x{byte:02x}: not a whole byte-level vocabulary")
