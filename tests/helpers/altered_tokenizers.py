"""Tokenizers that are made of others: worse ones, and ones that differ in nothing but the numbers of ids."""

import random

from tokbench_plugins.bpe.tokenizer import BPETokenizer


def without_a_tenth(tokenizer, seed):
    """Return the tokenizer without a tenth of its merges, and without the merges that need them."""
    pairs = [(left, right) for left, right, _ in tokenizer.vocabulary.merges]
    dropped = set(random.Random(seed).sample(range(len(pairs)), len(pairs) // 10))
    number, kept = {byte: byte for byte in range(256)}, []
    for rank, (left, right) in enumerate(pairs):
        if rank not in dropped and left in number and right in number:
            number[256 + rank] = 256 + len(kept)
            kept.append((number[left], number[right]))
    return BPETokenizer(kept, "gpt4")


class Shuffled:
    """A tokenizer whose ids are those of another in another order."""

    def __init__(self, inner, seed=1):
        self._inner = inner
        self._order = random.Random(seed).sample(range(inner.vocab_size), inner.vocab_size)
        self._back = {new: old for old, new in enumerate(self._order)}
        self.vocab_size = inner.vocab_size

    def encode(self, text, /):
        return [self._order[token] for token in self._inner.encode(text)]

    def decode(self, ids, /):
        return self._inner.decode([self._back[token] for token in ids])
