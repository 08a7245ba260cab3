"""Vocabularies that several tests of formats write and read."""

from functools import cache

from difficult_texts import TEXTS, hostile, pud

from tokbench_plugins.bpe import BPETokenizer, train
from tokbench_plugins.bpe.formats import Parts
from tokbench_plugins.bpe.special import NO_SPECIAL, SPECIAL_SETS
from tokbench_plugins.bpe.vocabulary import Vocabulary

PATTERNS = [None, "gpt2", "gpt4", "o200k", r"\p{L}+|\p{N}{1,2}| ?[^\p{L}\p{N}]"]


@cache
def trained(pattern, size=600):
    """A small vocabulary with two special tokens after its merges."""
    texts = TEXTS * 3 + hostile()
    vocabulary = Vocabulary.trained(train(texts, size, pattern))
    special = NO_SPECIAL.with_more(SPECIAL_SETS["chat"][:2], len(vocabulary.tokens))
    return Parts(vocabulary, pattern, special)


def engine(parts):
    """Our own tokenizer."""
    return BPETokenizer(parts.vocabulary, parts.pattern, parts.special, engine="python")


def same(one, other):
    """Return true if two tokenizers are the same, names of patterns aside."""
    assert one.vocabulary == other.vocabulary
    assert engine(one).pattern == engine(other).pattern
    assert one.special == other.special


def sentences(data, every=10):
    """Some sentences of each language."""
    return pud(data)[::every]
