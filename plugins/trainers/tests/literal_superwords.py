"""The textbook loops of SuperBPE and BoundlessBPE, short and slow: the oracles of the tests.

A *chunk* is a match of the split. :mod:`tokbench_trainers.superwords.rules` says which tokens may reach over several words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from literal_loops import continue_literally

from tokbench_plugins.bpe import FIRST_MERGE, Pair
from tokbench_plugins.bpe.literal import Tie, encode_literally, merge_pair, train_literally
from tokbench_plugins.bpe.vocabulary import token_bytes_of
from tokbench_trainers.superwords.rules import BoundlessMerges, is_word_like, may_cross

Document = list[list[int]]
"""The ids of each chunk of a document."""


def train_superbpe_literally(
    chunks: Iterable[bytes],
    stage_two_chunks: Iterable[bytes],
    stage_one: int,
    vocab_size: int,
    tie: Tie = "first",
    may_make: Callable[[bytes], bool] = may_cross,
) -> list[Pair]:
    """Train BPE on the chunks of one split up to ``stage_one`` ids, and continue with the chunks of another.

    >>> train_superbpe_literally([b"in", b" the", b" in"], [b"in the", b" in"], 257, 258)
    [(105, 110), (256, 32)]
    """
    merges = train_literally(chunks, min(stage_one, vocab_size), tie)
    encoded = [encode_literally(chunk, merges) for chunk in stage_two_chunks]
    tokens = token_bytes_of(merges)

    def allowed(pair: Pair) -> bool:
        token = tokens[pair[0]] + tokens[pair[1]]
        return token not in tokens and may_make(token)

    def on_merge(pair: Pair) -> None:
        tokens.append(tokens[pair[0]] + tokens[pair[1]])

    return merges + continue_literally(encoded, range(len(tokens), vocab_size), tie, on_merge, allowed)


def train_boundless_literally(
    documents: Iterable[Iterable[bytes]], vocab_size: int, tie: Tie = "first"
) -> BoundlessMerges:
    """Try every merge of every step: the one that leaves the fewest ids wins, and of equals the supermerge.

    A *supermerge* joins two neighbouring chunks that are one token each and word-like. It is skipped if its token exists,
    or if one chunk of the text contains its bytes.

    >>> train_boundless_literally([[b"in", b" a"], [b"in", b" a"]], 259)
    BoundlessMerges(merges=[(105, 110), (32, 97), (256, 257)], supermerges=[2])
    """
    chunks = [list(document) for document in documents]
    text = [[list(chunk) for chunk in document] for document in chunks]
    merges: list[Pair] = []
    supermerges: list[int] = []
    while (made := 256 + len(merges)) < vocab_size:
        tokens = token_bytes_of(merges)
        across = dict.fromkeys(pair for document in text for run in runs_of(document, tokens) for pair in pairwise(run))
        within = dict.fromkeys(pair for document in text for chunk in document for pair in pairwise(chunk))
        tried = []
        for pair in across:
            token = tokens[pair[0]] + tokens[pair[1]]
            if token not in tokens and not any(token in chunk for document in chunks for chunk in document):
                tried.append((pair, True, [join_chunks(document, pair, made) for document in text]))
        tried += [(pair, False, [merge_within(document, pair, made) for document in text]) for pair in within]
        if not tried:
            break
        if tie == "smallest":
            tried.sort(key=lambda step: (not step[1], step[0]))
        pair, joins, text = min(tried, key=lambda step: sum(len(chunk) for document in step[2] for chunk in document))
        supermerges += [len(merges)] * joins
        merges.append(pair)
    return BoundlessMerges(merges, supermerges)


def runs_of(document: Document, tokens: Sequence[bytes]) -> list[list[int]]:
    """Return the ids of neighbouring chunks that supermerges may join, run by run.

    >>> runs_of([[97], [98], [46], [99], [97, 98]], [bytes([byte]) for byte in range(256)])
    [[97, 98], [99], []]
    """
    runs: list[list[int]] = [[]]
    for chunk in document:
        if len(chunk) == 1 and is_word_like(tokens[chunk[0]]):
            runs[-1].append(chunk[0])
        else:
            runs.append([])
    return runs


def merge_within(document: Document, pair: Pair, made: int) -> Document:
    """Replace a pair by ``made`` within each chunk.

    >>> merge_within([[97, 98], [97], [98]], (97, 98), 256)
    [[256], [97], [98]]
    """
    return [merge_pair(chunk, pair, made) for chunk in document]


def join_chunks(document: Document, pair: Pair, made: int) -> Document:
    """Replace two neighbouring chunks that are the ids of ``pair`` by the chunk ``made``, from left to right.

    >>> join_chunks([[97, 98], [97], [98]], (97, 98), 256)
    [[97, 98], [256]]
    """
    joined: Document = []
    for chunk in document:
        if joined and (joined[-1], chunk) == ([pair[0]], [pair[1]]):
            joined[-1] = [made]
        else:
            joined.append(chunk)
    return joined


def encode_boundless_literally(
    chunks: Iterable[bytes], merges: Sequence[Pair], supermerges: Iterable[int]
) -> list[int]:
    """Encode one document: do the possible merge of lowest rank, ordinary or not, until none is possible.

    >>> encode_boundless_literally([b"in", b" a", b" in"], [(105, 110), (32, 97), (256, 257)], [2])
    [258, 32, 256]
    """
    document = [list(chunk) for chunk in chunks]
    across = set(supermerges)
    rank_of = {(pair, rank in across): rank for rank, pair in enumerate(merges)}
    while True:
        pairs = [(pair, False) for chunk in document for pair in pairwise(chunk)]
        pairs += [((a[0], b[0]), True) for a, b in pairwise(document) if len(a) == len(b) == 1]
        ranks = [rank_of[pair] for pair in pairs if pair in rank_of]
        if not ranks:
            return [token for chunk in document for token in chunk]
        lowest = min(ranks)
        merge = join_chunks if lowest in across else merge_within
        document = merge(document, merges[lowest], FIRST_MERGE + lowest)
