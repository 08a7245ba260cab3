"""BPE dropout and StochasTok: the literal loop with the same draws, exact distributions, and seeds."""

import json
import pickle
import random
from collections import Counter
from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_sampling import drop_literally

import tokbench
from tokbench.foundation.errors import BackendError
from tokbench_plugins.bpe import BPETokenizer, train
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_trainers.sampling.sample import Sampler, Sampling, drop_merges, split_tokens
from tokbench_trainers.sampling.sampled_bpe import SampledBPE

MERGES = train(["low lower lowest slow slower banana bandana aaaa aaaaaaa"] * 2, 300, "gpt4")
VOCABULARY = Vocabulary.trained(MERGES)
RANK_OF = {pair: rank for rank, pair in enumerate(MERGES)}
MADE = range(256, 256 + len(MERGES))
WORDS = st.text(alphabet="lowersta bnd", max_size=40)


@settings(deadline=None)
@given(word=WORDS, dropout=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), seed=st.integers(0, 1000))
def test_dropout_equals_the_literal_loop_with_the_same_draws(word, dropout, seed):
    def ids_and_rest(encode):
        draw = random.Random(seed).random
        return encode(
            list(word.encode()), RANK_OF, MADE, dropout, draw
        ), draw()  # the next draw tells how many there were

    ids, rest = ids_and_rest(drop_merges)
    assert (ids, rest) == ids_and_rest(drop_literally)
    assert b"".join(VOCABULARY.tokens[each] for each in ids) == word.encode()


def outcomes(ids, dropout):
    """Return the probability of each encoding: every possible merge, in order, is done if all before it were dropped."""
    possible = sorted((RANK_OF[pair], k) for k, pair in enumerate(pairwise(ids)) if pair in RANK_OF)
    found = Counter({tuple(ids): dropout ** len(possible)})
    for dropped, (rank, start) in enumerate(possible):
        share = dropout**dropped * (1 - dropout)
        for result, probability in outcomes([*ids[:start], MADE[rank], *ids[start + 2 :]], dropout).items():
            found[result] += share * probability
    return found


@pytest.mark.parametrize(("word", "dropout"), [("lower", 0.1), ("banana", 0.5)])
def test_dropout_has_the_distribution_of_exact_enumeration(word, dropout):
    expected = outcomes(list(word.encode()), dropout)
    assert sum(expected.values()) == pytest.approx(1.0)
    assert len(expected) > 2
    n, draw = 4000, random.Random(word).random
    seen = Counter(tuple(drop_merges(list(word.encode()), RANK_OF, MADE, dropout, draw)) for _ in range(n))
    assert seen.keys() <= expected.keys()
    for ids, p in expected.items():
        assert abs(seen[ids] / n - p) <= 4.5 * sqrt(p * (1 - p) / n) + 1 / n, (ids, p)


def split_outcomes(tokens, steps, splits_of):
    """Return the probability of each sequence after so many steps of StochasTok."""
    if not steps:
        return Counter({tuple(tokens): 1.0})
    found = Counter()
    for at, token in enumerate(tokens):
        pairs = splits_of(token)
        for pair in pairs or [(token,)]:
            after = [*tokens[:at], *pair, *tokens[at + 1 :]]
            for result, probability in split_outcomes(after, steps - 1, splits_of).items():
                found[result] += probability / len(tokens) / max(1, len(pairs))
    return found


def test_stochastok_has_the_distribution_of_exact_enumeration():
    sampler = Sampler(VOCABULARY, "gpt4", Sampling())
    ids = [*sampler("lower"), *sampler(" banana")]
    expected = split_outcomes(ids, 2, sampler.splits_of)
    assert sum(expected.values()) == pytest.approx(1.0)
    assert len(expected) > 5
    n, draw = 6000, random.Random(5).random
    seen = Counter(tuple(split_tokens(ids, 2 / len(ids), sampler.splits_of, draw)) for _ in range(n))
    assert seen.keys() <= expected.keys()
    for found, p in expected.items():
        assert abs(seen[found] / n - p) <= 4.5 * sqrt(p * (1 - p) / n) + 1 / n, (found, p)


SAMPLED = [
    SampledBPE(VOCABULARY, "gpt4", sampling=Sampling(dropout, stochastok, 3))
    for dropout in (0.0, 0.3)
    for stochastok in (0.0, 0.5)
]
COPIES = [pickle.loads(pickle.dumps(tokenizer)) for tokenizer in SAMPLED]
PLAIN = BPETokenizer(VOCABULARY, "gpt4")


@settings(deadline=None)
@given(text=st.one_of(st.text(max_size=60), WORDS), number=st.integers(0, len(SAMPLED) - 1))
def test_text_comes_back_and_has_the_same_ids_again(text, number):
    tokenizer, copy = SAMPLED[number], COPIES[number]
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    for other in (tokenizer, copy):
        batch = other.encode_batch(["before", text])
        assert batch.ids[batch.offsets[1] :].tolist() == ids
    if not tokenizer.sampling:
        assert ids == PLAIN.encode(text)


def test_a_known_sample_stays_the_same():
    # Random numbers of other versions and machines must be these; the ids are kept in the store.
    tokenizer = SampledBPE(VOCABULARY, "gpt4", sampling=Sampling(0.2, 0.3, 1))
    pieces = [tokenizer.token_bytes(each).decode() for each in tokenizer.encode("slower lowest banana")]
    assert "|".join(pieces) == "s|lowe|r| lowes|t| banana"


def test_sampling_is_saved_and_can_be_changed(tmp_path):
    texts, path = ["low lower lowest slow " * 5], tmp_path / "s.bpe.json"
    tokenizer = tokbench.train("sampled_bpe", texts, 280, dropout=0.2, seed=9, store=False)
    tokenizer.save(path)
    assert json.loads(path.read_text())["rule"] == {"dropout": 0.2, "stochastok": 0.0, "seed": 9}
    copy = tokbench.load("sampled_bpe", path=path)
    assert copy.encode(texts[0]) == tokenizer.encode(texts[0])
    assert tokbench.load("sampled_bpe", path=path, stochastok=0.5).sampling == Sampling(0.0, 0.5, 0)


def test_a_published_vocabulary_is_sampled(tmp_path):
    path = tmp_path / "base.tokenizer.json"
    PLAIN.export("huggingface", path)
    plain = tokbench.load("sampled_bpe", path=path)
    sampled = tokbench.load("sampled_bpe", path=path, dropout=0.5, seed=1)
    text = "slower lowest banana"
    assert plain.encode(text) == PLAIN.encode(text)
    assert len(sampled.encode(text)) > len(plain.encode(text))
    assert sampled.decode(sampled.encode(text)) == text


def test_formats_of_others_cannot_hold_sampling(tmp_path):
    tokenizer = SampledBPE(VOCABULARY, "gpt4", sampling=Sampling(0.1))
    with pytest.raises(BackendError, match=r"cannot hold sampling \(dropout 0.1, seed 0\)"):
        tokenizer.export("tiktoken", tmp_path / "out")
    assert not list(tmp_path.iterdir())
