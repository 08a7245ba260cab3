"""SuperBPE and BoundlessBPE against the textbook loops, and as tokenizers."""

import pickle
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tokbench
from tokbench import plugin
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.superword.boundless import train_boundless
from tokbench_plugins.bpe.superword.boundless_tokenizer import BoundlessTokenizer
from tokbench_plugins.bpe.superword.literal_superwords import (
    BoundlessMerges,
    encode_boundless_literally,
    train_superbpe_literally,
)
from tokbench_plugins.bpe.superword.rules import STAGE_TWO
from tokbench_plugins.bpe.superword.superbpe import SuperBPERule, train_superbpe
from tokbench_plugins.regex_bpe import SPEC

texts = st.lists(st.text(alphabet="ab  c'_.:1é", max_size=40), min_size=1, max_size=4)
ties = st.sampled_from(["first", "smallest"])
patterns = st.sampled_from(["gpt2", "gpt4", "o200k", "[ab]|[a-c]+|."])  # the last one cuts alike bytes in two ways

TALK = ["by the way, in the end of the day we go by the sea", "in the end of the week: by the way", "by the sea"] * 3


@given(texts, patterns, ties, st.integers(256, 270), st.integers(1, 3))
def test_superbpe_is_the_loop(documents, pattern, tie, stage_one, most_words):
    trained = partial(train_superbpe, documents, 274, SuperBPERule(pattern, stage_one, most_words), tie=tie)
    assert trained() == trained(engine="literal")


@given(texts, texts, patterns, ties)
def test_boundless_is_the_loop(documents, others, pattern, tie):
    learned = train_boundless(documents, 274, pattern, tie=tie)
    assert learned == train_boundless(documents, 274, pattern, tie=tie, engine="literal")
    tokenizer = BoundlessTokenizer(learned, pattern)
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


def trained(**options):
    return SPEC.train(TALK, 320, SPEC.train_options(pattern="gpt4", **options), plugin.silent)


@pytest.mark.parametrize("options", [{"superwords": "superbpe", "stage_one": 290}, {"superwords": "boundless"}])
def test_saved_and_loaded(options, tmp_path):
    tokenizer = trained(**options, special_tokens=["chat"])
    path = tmp_path / "x.bpe.json"
    tokenizer.save(path)
    loaded = SPEC.load(SPEC.load_options(path=str(path)))
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert type(loaded) is type(copy) is type(tokenizer)
    assert (loaded.merges, loaded.pattern, loaded.special_tokens) == (copy.merges, copy.pattern, copy.special_tokens)
    assert loaded.training == tokenizer.training._replace(rule=loaded.training.rule)
    assert loaded.encode(TALK[0]) == copy.encode(TALK[0]) == tokenizer.encode(TALK[0])
    loaded.save(tmp_path / "again.bpe.json")
    assert (tmp_path / "again.bpe.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["superbpe", "boundless"])
def test_every_smaller_vocabulary_is_a_prefix(name):
    tokenizer = trained(superwords=name)
    order = merge_order(tokenizer)
    assert (order.base, len(order)) == (256, tokenizer.vocab_size - 256)
    for size in (256, 280, 310):
        if name == "superbpe":
            smaller = BPETokenizer(tokenizer.merges[: size - 256], STAGE_TWO)
        else:
            ranks = [rank for rank in tokenizer.learned.supermerges if rank < size - 256]
            smaller = BoundlessTokenizer(BoundlessMerges(list(tokenizer.merges[: size - 256]), ranks), "gpt4")
        for text in TALK[:3]:
            ids = tokenizer.encode(text)
            while any(i >= size for i in ids):
                ids = [part for i in ids for part in ([i] if i < size else tokenizer.merges[i - 256])]
            assert smaller.encode(text) == ids


def test_formats_hold_superbpe_and_refuse_boundless(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    superbpe, boundless = trained(superwords="superbpe"), trained(superwords="boundless")
    path = tmp_path / "x.tokenizer.json"
    superbpe.export("huggingface", path)
    other = tokenizers.Tokenizer.from_file(str(path))
    for text in (*TALK[:3], "Answer: 12345 ...\n  end"):
        assert other.encode(text, add_special_tokens=False).ids == superbpe.encode(text)
    with pytest.raises(tokbench.BackendError, match="BoundlessBPE cannot be written as huggingface"):
        boundless.export("huggingface", path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stage_one": 0.5}, "stage_one belongs to superwords: superbpe"),
        ({"superwords": "boundless", "engine": "numba"}, "superwords: boundless has no engine numba"),
        ({"superwords": "superbpe", "stage_one": 1.5}, "stage_one"),
        ({"superwords": "superbpe", "picky": 0.9}, "picky and superwords: superbpe cannot be combined"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValidationError, match=message):
        trained(**options)
