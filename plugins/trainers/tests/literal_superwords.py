"""The textbook loops of SuperBPE and BoundlessBPE, short and slow: the oracles of the tests.

A *chunk* is a match of the split. :mod:`tokbench_trainers.superwords.rules` says which tokens may reach over several words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from literal_loops import continue_literally, count_merges

from tokbench_plugins.bpe import FIRST_MERGE, Pair
from tokbench_plugins.bpe.literal import Tie, encode_literally, merge_pair, most_frequent, train_literally
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
    """Do the merge that is done most often, be it within chunks or of whole chunks.

    A *supermerge* joins two neighbouring chunks that are one token each and word-like. It goes before an ordinary merge
    with the same count. It is skipped if its token exists, or if one chunk of the text contains its bytes.

    >>> train_boundless_literally([[b"in", b" a"], [b"in", b" a"]], 259)
    BoundlessMerges(merges=[(105, 110), (32, 97), (256, 257)], supermerges=[2])
    """
    chunks = [list(document) for document in documents]
    texts = [[list(chunk) for chunk in document] for document in chunks]
    inside = b"\xff".join(chunk for document in chunks for chunk in document)  # no text has the byte 0xff
    tokens = token_bytes_of(())
    merges: list[Pair] = []
    supermerges: list[int] = []
    while (made := len(tokens)) < vocab_size:
        within = count_merges(chunk for text in texts for chunk in text)
        across = count_merges(run for text in texts for run in runs_of(text, tokens))
        made_by = {pair: tokens[pair[0]] + tokens[pair[1]] for pair in across}
        across = {pair: n for pair, n in across.items() if made_by[pair] not in tokens and made_by[pair] not in inside}
        if not within and not across:
            break
        joins = max(across.values(), default=0) >= max(within.values(), default=0)
        pair = most_frequent(across if joins else within, tie)
        merge = join_chunks if joins else merge_within
        texts = [merge(text, pair, made) for text in texts]
        supermerges += [len(merges)] * joins
        merges.append(pair)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
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
