"""SuperBPE and BoundlessBPE against the textbook loops, as tokenizers, and what they are worth."""

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
from tokbench_plugins.bpe.adaptation import extend
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.superword.boundless import train_boundless
from tokbench_plugins.bpe.superword.boundless_tokenizer import BoundlessTokenizer
from tokbench_plugins.bpe.superword.literal_superwords import (
    BoundlessMerges,
    encode_boundless_literally,
    train_superbpe_literally,
)
from tokbench_plugins.bpe.superword.rules import STAGE_TWO, may_cross
from tokbench_plugins.bpe.superword.superbpe import SuperBPERule, size_of_stage_one, train_superbpe
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.regex_bpe import SPEC

texts = st.lists(st.text(alphabet="ab  c'_.:1é", max_size=40), min_size=1, max_size=4)
ties = st.sampled_from(["first", "smallest"])
patterns = st.sampled_from(["gpt2", "gpt4", "o200k", "[ab]|[a-c]+|."])  # the last one cuts alike bytes in two ways

TALK = ["by the way, in the end of the day we go by the sea", "in the end of the week: by the way", "by the sea"] * 3


@given(texts, patterns, ties, st.integers(256, 270), st.integers(1, 3))
def test_superbpe_is_the_loop(documents, pattern, tie, stage_one, most_words):
    trained = partial(train_superbpe, documents, 274, SuperBPERule(pattern, stage_one, most_words), tie=tie)
    assert trained() == trained(engine="literal")


@pytest.mark.slow
@given(texts, ties)
def test_superbpe_in_compiled_code_is_the_loop(documents, tie):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extend, "_WORTH_COMPILING", 0)
        merges = train_superbpe(documents, 280, SuperBPERule("gpt4", 262, 2), tie=tie)
    assert merges == train_superbpe(documents, 280, SuperBPERule("gpt4", 262, 2), tie=tie, engine="literal")


@given(texts, patterns, ties)
def test_boundless_is_the_loop(documents, pattern, tie):
    learned = train_boundless(documents, 274, pattern, tie=tie)
    assert learned == train_boundless(documents, 274, pattern, tie=tie, engine="literal")
    tokenizer = BoundlessTokenizer(learned, pattern)
    assert len(set(tokenizer.vocabulary.tokens)) == tokenizer.vocab_size
    for text in documents:
        chunks = [chunk.encode() for chunk in Splitter(pattern)(text)]
        assert tokenizer.encode(text) == encode_boundless_literally(chunks, *learned)


@given(texts, texts, patterns)
def test_boundless_encodes_other_texts_as_the_loop(documents, others, pattern):
    learned = train_boundless(documents, 274, pattern)
    fast, literal = (BoundlessTokenizer(learned, pattern, engine=engine) for engine in ("auto", "literal"))
    for text in others:
        assert fast.encode(text) == literal.encode(text)
        assert fast.decode(fast.encode(text)) == text


@given(texts, st.integers(256, 274))
def test_a_smaller_boundless_vocabulary_is_the_beginning_of_a_larger_one(documents, size):
    whole, smaller = (train_boundless(documents, ids, "gpt4") for ids in (274, size))
    assert smaller.merges == whole.merges[: size - 256]
    assert smaller.supermerges == [rank for rank in whole.supermerges if rank < size - 256]


@pytest.mark.parametrize("text", ["ab" * 50_000, "by the " * 4_000])
def test_a_long_run_is_encoded_in_near_linear_time(text):
    """A loop that searches all of it for each merge would not come to an end."""
    for name in ("superbpe", "boundless"):
        tokenizer = trained(superwords=name)
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_superbpe_by_hand():
    """Stage one makes ``in`` and the beginnings of words; stage two joins what it may."""
    first = [b"in", b" a", b" in", b" a"]
    assert train_superbpe_literally(first, [b"in a in a"], 258, 260) == [(105, 110), (32, 97), (256, 257), (258, 32)]
    assert train_superbpe_literally(first, [b"in a in a"], 258, 260, may_make=lambda token: b" " not in token) == [
        (105, 110),
        (32, 97),
    ]


def test_boundless_by_hand():
    """The pair (in, a) stands twice, like (32, 97), and waits until both are tokens."""
    learned = train_boundless(["in a", "in a", "in b"], 259, "gpt4")
    assert learned == BoundlessMerges([(105, 110), (32, 97), (256, 257)], [2])


@pytest.mark.parametrize("most_words", [1, 2, 4])
def test_no_token_of_stage_two_breaks_a_rule(most_words):
    merges = train_superbpe(TALK, 360, SuperBPERule("gpt4", 264, most_words))
    made = Vocabulary.trained(merges).tokens[264:]
    assert all(may_cross(token, most_words) for token in made)
    assert max(len(token.split()) for token in made) == most_words
    base = Vocabulary.trained(merges[:8])
    free = extend.extend(base, count_chunks(TALK, STAGE_TWO), 96, 264).vocabulary.tokens[264:]
    assert any(b": " in token for token in free)
    assert max(len(token.split()) for token in free) > 4


def test_where_stage_two_begins():
    assert size_of_stage_one(0.8, 1000) == 800
    assert size_of_stage_one(900, 1000) == 900
    assert size_of_stage_one(2000, 1000) == 1000
    assert size_of_stage_one(0.001, 1000) == 256


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


def test_each_rule_joins_words_and_plain_bpe_does_not():
    plain, across = trained(), [trained(superwords=name) for name in ("superbpe", "boundless")]
    for tokenizer in across:
        assert any(len(tokenizer.token_bytes(i).split()) > 1 for i in range(tokenizer.vocab_size))
        assert sum(map(len, map(tokenizer.encode, TALK))) < sum(map(len, map(plain.encode, TALK)))
    assert not any(len(plain.token_bytes(i).split()) > 1 for i in range(plain.vocab_size))


@pytest.mark.parametrize("name", ["superbpe", "boundless"])
def test_every_smaller_vocabulary_is_a_prefix(name):
    tokenizer = trained(superwords=name)
    order = merge_order(tokenizer)
    assert (order.base, len(order)) == (256, tokenizer.vocab_size - 256)
    for size in (256, 280, 300, 310):
        if name == "superbpe":
            smaller = BPETokenizer(tokenizer.merges[: size - 256], STAGE_TWO)
        else:
            ranks = [rank for rank in tokenizer.learned.supermerges if rank < size - 256]
            smaller = BoundlessTokenizer(BoundlessMerges(list(tokenizer.merges[: size - 256]), ranks), "gpt4")
        made = {rank + 256 for rank in range(size - 256)}
        for text in TALK[:3]:
            ids = tokenizer.encode(text)
            while any(i >= size for i in ids):
                ids = [part for i in ids for part in ([i] if i < size else tokenizer.merges[i - 256])]
            assert smaller.encode(text) == ids
            assert {i for i in ids if i > 255} <= made


def test_formats_hold_superbpe_and_refuse_boundless(tmp_path):
    import tokenizers

    superbpe, boundless = trained(superwords="superbpe"), trained(superwords="boundless")
    path = tmp_path / "x.tokenizer.json"
    superbpe.export("huggingface", path)
    other = tokenizers.Tokenizer.from_file(str(path))
    for text in (*TALK, "Answer: 12345 ...\n  end"):
        assert other.encode(text, add_special_tokens=False).ids == superbpe.encode(text)
    for name in boundless.exports:
        with pytest.raises(tokbench.BackendError, match=f"BoundlessBPE cannot be written as {name}: supermerges join"):
            boundless.export(name, path)
    with pytest.raises(tokbench.BackendError, match="cannot be adapted"):
        boundless.adapt(TALK, add=1, remove=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"superwords": "superbp"}, "superwords"),
        ({"stage_one": 0.5}, "stage_one belongs to superwords: superbpe"),
        ({"superwords": "boundless", "most_words": 2}, "most_words belongs to superwords: superbpe"),
        ({"superwords": "boundless", "engine": "numba"}, "superwords: boundless has no engine numba"),
        ({"superwords": "superbpe", "stage_one": 1.5}, "stage_one"),
        ({"superwords": "superbpe", "picky": 0.9}, "picky and superwords: superbpe cannot be combined"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValidationError, match=message):
        trained(**options)
