"""Merges that backends tell: what follows from them for smaller vocabularies is what such vocabularies give."""

import json
import random

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from merges_data import SPLITS, cut_json, cut_model, cut_ranks

import tokbench
import tokbench.plugin
from tokbench.registry.plugins import load_registry
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.bpe import PATTERNS, BPETokenizer
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, make_encoding

pytestmark = pytest.mark.usefixtures("shared_store")

BYTES = {bytes([byte]): byte for byte in range(256)}


def equals_cut(tokenizer, count, texts, sizes):
    """Tokens with the first merges only, from the ids with all merges, are those of a vocabulary cut by a library."""
    order = merge_order(tokenizer)
    tokens = Curve(order, np.bincount(encode_batch(tokenizer, texts).ids, minlength=tokenizer.vocab_size)).tokens
    for size in {*(size for size in sizes if size < len(order)), len(order)}:
        assert tokens[size] == count(set(order.made[size:].tolist()), texts)


def random_ranks(seed, words):
    """Bytes, and tokens of up to five letters with ids in any order: many that no merge builds, or only later ones."""
    rng = random.Random(seed)
    tokens = {"".join(rng.choices("abc", k=rng.randint(2, 5))).encode() for _ in range(words)}
    return BYTES | {token: 256 + k for k, token in enumerate(rng.sample(sorted(tokens), len(tokens)))}


@given(st.integers(0, 10**6), st.integers(1, 9), st.lists(st.text("abc ", max_size=30), min_size=1, max_size=8))
@example(seed=530077, words=6, texts=[" caac"])  # 'ac' gives 'aac' its half and so 'caac', both of lower rank
@example(seed=209, words=6, texts=["abaaaba"])  # of these, late merges took from each other in another order
@example(seed=230, words=5, texts=["cacca"])
@example(seed=258, words=9, texts=["aabab"])
def test_any_ranks_at_every_size(seed, words, texts):
    """Told merges are exact at every size, whatever the order of ids; where no order would be, they are not told."""
    ranks = random_ranks(seed, words)
    tokenizer = TiktokenTokenizer(make_encoding("random", ranks, "gpt2", {}))
    if not hasattr(tokenizer, "merges"):
        return
    equals_cut(tokenizer, cut_ranks(tokenizer, (PATTERNS["gpt2"],)), texts, range(len(tokenizer.merges)))


def test_whole_chunks_have_the_parts_that_lower_merges_leave():
    ranks = BYTES | {b"bc": 256, b"xyz": 257, b"xyz!": 258, b"ab": 259, b"abc": 260, b"\xff\xfe\xfd": 261}
    tokenizer = TiktokenTokenizer(make_encoding("whole", ranks, "gpt2", {}))
    assert tokenizer.merges == ((98, 99), (120, 121, 122), (120, 121, 122, 33), (97, 98), (97, 256))
    assert BPETokenizer.from_ranks(ranks, "gpt2").merges == tokenizer.merges
    assert isinstance(tokenizer, tokbench.plugin.HasMerges)


def test_a_late_merge_stands_behind_its_halves():
    ranks = BYTES | {b"abc": 256, b"ab": 257, b"abcab": 258}
    tokenizer = TiktokenTokenizer(make_encoding("late", ranks, "gpt2", {}))
    assert tokenizer.merges == ((97, 98), (257, 99), (256, 257))
    assert merge_order(tokenizer).made.tolist() == [257, 256, 258]


def test_merges_without_an_order_are_not_told():
    """'aba' takes the 'a' that the merge before it would have merged with the next 'b'."""
    ranks = BYTES | {b"aba": 256, b"ab": 257}
    tokenizer = TiktokenTokenizer(make_encoding("clash", ranks, "gpt2", {}))
    with pytest.raises(tokbench.BackendError, match="merges are out of order: id 256 is made of ids that come after"):
        tokenizer.merges  # noqa: B018
    assert not hasattr(tokenizer, "merges")
    with pytest.raises(tokbench.TokbenchError, match="merges are out of order: id 256"):
        merge_order(tokenizer)


def test_two_ids_with_the_same_bytes():
    vocabulary = Vocabulary.trained([(97, 98), (98, 99), (256, 99), (97, 257)])
    assert BPETokenizer(vocabulary).merges == ((97, 98), (98, 99), (256, 99))


@pytest.mark.parametrize("options", [{}, {"user_defined_symbols": ["th", "\u2581a"], "byte_fallback": True}])
def test_sentencepiece_at_every_size(tmp_path, options):
    texts = ["the other brother bathes there, then they gather another feather", "a th  ath é"] * 3
    spec = load_registry().backends.get("sentencepiece")
    options = spec.train_options(model_type="bpe", hard_vocab_limit=False, **options)
    tokenizer = spec.train(texts, 330 if options.byte_fallback else 60, options, lambda done, total: None)
    path = tmp_path / "cut.model"
    tokenizer.save(path)
    assert len(tokenizer.merges) > 20
    equals_cut(tokenizer, cut_model(path), [*texts, "tthh ö athe"], range(len(tokenizer.merges)))


def hugging_face(folder, merges, **model):
    tokens = [*"abc ", *dict.fromkeys("".join(pair) for pair in merges), *model.pop("more", ())]
    vocab = {token: i for i, token in enumerate(tokens)}
    model = {"type": "BPE", "vocab": vocab, "merges": [list(pair) for pair in merges], **model}
    splitter = {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated", "invert": False}
    path = folder / "tokenizer.json"
    content = {"version": "1.0", "added_tokens": [], "pre_tokenizer": splitter, "decoder": {"type": "Fuse"}}
    path.write_text(json.dumps({**content, "model": model}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("merges", "model"),
    [
        ([("a", "b"), ("ab", "c"), ("c", "a")], {}),
        ([("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c"), ("abc", "a")], {}),  # two pairs for one token
        ([("ab", "c"), ("a", "b"), ("abc", "b")], {}),  # the first merge waits for the second
        ([("a", "b"), ("c", "a"), ("ab", "ca")], {"ignore_merges": True, "more": ["bca", "cb"]}),
    ],
)
def test_hugging_face_at_every_size(tmp_path, merges, model):
    path = hugging_face(tmp_path, merges, **model)
    tokenizer = tokbench.load("huggingface", path=str(path))
    rng = random.Random(1)
    texts = ["".join(rng.choices("abc ", k=rng.randint(1, 9))) for _ in range(300)] + ["bca", "cb", "abca abcb"]
    equals_cut(tokenizer, cut_json(path), texts, range(len(tokenizer.merges)))


@pytest.fixture(scope="module")
def pud(data):
    return [
        line
        for path in sorted((data / "pud").glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()[::40]
    ]


SIZES = (0, 25_000)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "gpt4")])
def test_published_encodings(data, monkeypatch, pud, name, pattern):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(data / "tiktoken_cache"))
    tokenizer = tokbench.load("tiktoken", encoding=name)
    assert [len(parts) for parts in tokenizer.merges] == [2] * (len(tiktoken.get_encoding(name)._mergeable_ranks) - 256)
    equals_cut(tokenizer, cut_ranks(tokenizer, (PATTERNS[pattern],)), pud, SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mistral_v1"])
def test_published_models(data, pud, name):
    path = data / "spm" / f"{name}.model"
    equals_cut(tokbench.load("sentencepiece", path=str(path)), cut_model(path), pud, (0, 5000, 25_000))


@pytest.mark.slow
def test_published_pipelines(data, pud):
    path = data / "hf" / "roberta-base.tokenizer.json"
    equals_cut(tokbench.load("huggingface", path=str(path)), cut_json(path), pud, (0, 20_000))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", SPLITS)
def test_vocabularies_of_splintr(pud, name):
    """On real text, and on tokens that were added by hand: they are out of order, or looked up whole."""
    tokenizer = tokbench.load("splintr", vocabulary=name)
    order = merge_order(tokenizer)
    added = order.made[(order.made < np.maximum.accumulate(order.made)) | (np.diff(order.offsets) > 2)].tolist()
    words = [tokenizer.token_bytes(token).decode(errors="ignore") for token in added]
    texts = [*pud, *(word + after for word in words for after in ("", "z", " 的"))]
    equals_cut(tokenizer, cut_ranks(tokenizer, SPLITS[name]), texts, SIZES)
