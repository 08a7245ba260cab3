"""SuperBPE and BoundlessBPE against the textbook loops, and as tokenizers."""

import pickle
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from literal_superwords import (
    BoundlessMerges,
    encode_boundless_literally,
    train_boundless_literally,
    train_superbpe_literally,
)
from pydantic import ValidationError

import tokbench
from tokbench import plugin
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.patterns import STAGE_TWO, Splitter
from tokbench_trainers.superwords import boundless_bpe, superbpe
from tokbench_trainers.superwords.boundless_bpe import BoundlessBPE
from tokbench_trainers.superwords.rules import may_cross
from tokbench_trainers.superwords.superbpe import SuperBPERule, train_superbpe
from tokbench_trainers.superwords.train_boundless import train_boundless

texts = st.lists(st.text(alphabet="ab  c'_.:1é", max_size=40), min_size=1, max_size=4)
ties = st.sampled_from(["first", "smallest"])
patterns = st.sampled_from(["gpt2", "gpt4", "o200k", "[ab]|[a-c]+|."])  # the last one cuts alike bytes in two ways

TALK = ["by the way, in the end of the day we go by the sea", "in the end of the week: by the way", "by the sea"] * 3


def chunks_of(pattern, text):
    return [chunk.encode() for chunk in Splitter(pattern)(text)]


def superbpe_by_the_loop(documents, vocab_size, rule, tie):
    first, second = (
        [chunk for text in documents for chunk in chunks_of(split, text)] for split in (rule.pattern, STAGE_TWO)
    )
    may_make = partial(may_cross, most_words=rule.most_words)
    return train_superbpe_literally(first, second, rule.stage_one, vocab_size, tie, may_make)


@given(texts, patterns, ties, st.integers(256, 270), st.integers(1, 3))
def test_superbpe_is_the_loop(documents, pattern, tie, stage_one, most_words):
    found = train_superbpe(documents, 274, SuperBPERule(pattern, stage_one, most_words), tie=tie)
    assert found == superbpe_by_the_loop(documents, 274, SuperBPERule(pattern, stage_one, most_words), tie)


@given(texts, texts, patterns, ties)
def test_boundless_is_the_loop(documents, others, pattern, tie):
    learned = train_boundless(documents, 274, pattern, tie=tie)
    assert learned == train_boundless_literally(map(partial(chunks_of, pattern), documents), 274, tie)
    tokenizer = BoundlessBPE(learned, pattern)
    assert len(set(tokenizer.vocabulary.tokens)) == tokenizer.vocab_size
    for text in (*documents, *others):
        chunks = [chunk.encode() for chunk in Splitter(pattern)(text)]
        assert tokenizer.encode(text) == encode_boundless_literally(chunks, *learned)
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_superbpe_by_hand():
    """Stage one makes ``in`` and the beginnings of words; stage two joins what it may."""
    first = [b"in", b" a", b" in", b" a"]
    assert train_superbpe_literally(first, [b"in a in a"], 258, 260) == [(105, 110), (32, 97), (256, 257), (258, 32)]
    no_spaces = train_superbpe_literally(first, [b"in a in a"], 258, 260, may_make=lambda token: b" " not in token)
    assert no_spaces == [(105, 110), (32, 97)]


def test_boundless_by_hand():
    """The pair (in, a) occurs twice, like (32, 97), and waits until both are tokens."""
    learned = train_boundless(["in a", "in a", "in b"], 259, "gpt4")
    assert learned == BoundlessMerges([(105, 110), (32, 97), (256, 257)], [2])


def trained(module, **options):
    return module.SPEC.train(TALK, 320, module.SPEC.train_options(pattern="gpt4", **options), plugin.silent)


@pytest.mark.parametrize(("module", "options"), [(superbpe, {"stage_one": 290}), (boundless_bpe, {})])
def test_saved_and_loaded(module, options, tmp_path):
    tokenizer = trained(module, **options, special_tokens=["chat"])
    path = tmp_path / "x.bpe.json"
    tokenizer.save(path)
    loaded = module.SPEC.load(module.SPEC.load_options(path=str(path)))
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert type(loaded) is type(copy) is type(tokenizer)
    assert (loaded.merges, loaded.pattern, loaded.special_tokens) == (copy.merges, copy.pattern, copy.special_tokens)
    assert loaded.training == tokenizer.training
    assert loaded.encode(TALK[0]) == copy.encode(TALK[0]) == tokenizer.encode(TALK[0])
    loaded.save(tmp_path / "again.bpe.json")
    assert (tmp_path / "again.bpe.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("module", [superbpe, boundless_bpe])
def test_every_smaller_vocabulary_is_a_prefix(module):
    tokenizer = trained(module)
    order = merge_order(tokenizer)
    assert (order.base, len(order)) == (256, tokenizer.vocab_size - 256)
    for size in (256, 280, 310):
        if module is superbpe:
            smaller = BPETokenizer(tokenizer.merges[: size - 256], STAGE_TWO)
        else:
            ranks = [rank for rank in tokenizer.learned.supermerges if rank < size - 256]
            smaller = BoundlessBPE(BoundlessMerges(list(tokenizer.merges[: size - 256]), ranks), "gpt4")
        for text in TALK[:3]:
            ids = tokenizer.encode(text)
            while any(i >= size for i in ids):
                ids = [part for i in ids for part in ([i] if i < size else tokenizer.merges[i - 256])]
            assert smaller.encode(text) == ids


def test_formats_hold_superbpe_and_refuse_boundless(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    exported, boundless = trained(superbpe), trained(boundless_bpe)
    path = tmp_path / "x.tokenizer.json"
    exported.export("huggingface", path)
    other = tokenizers.Tokenizer.from_file(str(path))
    for text in (*TALK[:3], "Answer: 12345 ...\n  end"):
        assert other.encode(text, add_special_tokens=False).ids == exported.encode(text)
    with pytest.raises(tokbench.BackendError, match="BoundlessBPE cannot be written as huggingface"):
        boundless.export("huggingface", path)


@pytest.mark.parametrize("stage_one", [1.5, 255, 0.0])
def test_a_stage_one_that_cannot_be(stage_one):
    with pytest.raises(ValidationError, match="stage_one"):
        trained(superbpe, stage_one=stage_one)
