"""A vocabulary cut to its first merges gives what the vocabulary curve and tiktoken give at its size."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import tokbench
from tokbench.config.strict_yaml import Located
from tokbench.config.validate import ConfigPart, validate
from tokbench.registry.plugins import PluginStatus, Registry
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.cut.backend import SPEC, CutOptions, CutTokenizer
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, make_encoding

TEXTS = ["the other brother bathes there, then they gather another feather", "a th  ath é 🙂 <|endoftext|>", "", "abab"]


def byte_level():
    return tokbench.train("regex_bpe:gpt4", TEXTS * 2, 300, special_tokens=["end_of_text"], store=False)


def sentencepiece():
    options = {"model_type": "bpe", "byte_fallback": True, "hard_vocab_limit": False}
    return tokbench.train(
        "sentencepiece",
        TEXTS * 3,
        330,
        store=False,
        user_defined_symbols=["ther"],
        control_symbols=["<end>"],
        **options,
    )


def unknown_characters():
    return tokbench.train("sentencepiece", TEXTS[:1] * 3, 40, store=False, model_type="bpe", hard_vocab_limit=False)


def tokens_at(whole, sizes):
    order = merge_order(whole)
    ids = np.concatenate([whole.encode(text) for text in TEXTS]).astype(np.int64)
    tokens = Curve(order, np.bincount(ids, minlength=whole.vocab_size)).tokens
    return {size: int(tokens[size - order.base]) for size in sizes or range(order.base, order.base + len(order) + 1)}


@pytest.mark.parametrize("make", [byte_level, sentencepiece, unknown_characters])
def test_tokens_equal_the_curve_at_every_size(make):
    whole = make()
    expected = tokens_at(whole, ())
    for size, tokens in expected.items():
        cut = CutTokenizer(whole, size)
        assert len(cut.encode_batch(TEXTS).ids) == tokens
        assert cut.vocab_size == size
    assert [*map(cut.token_bytes, cut.encode(TEXTS[0]))] == [*map(whole.token_bytes, whole.encode(TEXTS[0]))]
    smaller = CutTokenizer(whole, next(iter(expected)) + 5)
    assert smaller.encode_batch(TEXTS).ids.tolist() == [i for text in TEXTS for i in smaller.encode(text)]
    assert [smaller.decode(smaller.encode(text)) for text in TEXTS] == [
        whole.decode(whole.encode(text)) for text in TEXTS
    ]
    assert pickle.loads(pickle.dumps(smaller)).encode(TEXTS[0]) == smaller.encode(TEXTS[0])
    made = [[*map(each.token_bytes, merge_order(each).made[:5])] for each in (smaller, whole)]
    assert (made[0], len(merge_order(smaller))) == (made[1], 5)


def test_it_is_isolated_where_a_third_party_has_backends():
    registry, ours = Registry(), PluginStatus("ours", "tokbench", "1", "", "ours.module")
    registry.backends.add([SPEC], ours)
    assert registry.distributions_of(SPEC) == ()
    registry.backends.add([BackendSpec(name="acme", summary="")], replace(ours, distribution="acme"))
    assert registry.distributions_of(SPEC) == ("acme",)


@pytest.mark.slow
def test_cl100k_equals_tiktoken_with_fewer_ranks():
    whole = tokbench.load("gpt-4")
    for size, tokens in tokens_at(whole, [4_096, 32_768]).items():
        cut = CutTokenizer(whole, size)
        ranks = {cut.token_bytes(token): token for token in range(size)}
        theirs = TiktokenTokenizer(make_encoding("cut", ranks, "gpt4", {}))
        ids = [cut.encode(text) for text in TEXTS]
        assert ids == [theirs.encode(text) for text in TEXTS]
        assert sum(map(len, ids)) == tokens


def test_what_has_no_merges_is_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokbench.train("huggingface:unigram", TEXTS * 9, 60, store=False).save(path)
    for given in (CutOptions(of=str(path), size=50), CutOptions(of="utf8_bytes", size=256)):
        with pytest.raises(tokbench.BackendError, match="not built by merges"):
            SPEC.load(given)


@pytest.mark.parametrize("size", [255, 273])
def test_a_size_that_it_has_not(size):
    with pytest.raises(tokbench.BackendError, match="256 to 272"):
        CutTokenizer(tokbench.train("naive_bpe", ["the other brother bathes there"] * 9, 272, store=False), size)


def test_files_start_in_the_folder_of_the_configuration(tmp_path):
    byte_level().export("huggingface", tmp_path / "mine.json")
    part, problems = ConfigPart(Located("run.yaml"), base=tmp_path), []
    for of in ("mine.json", {"backend": "huggingface", "path": "mine.json"}):
        options = validate(CutOptions, {"of": of, "size": 260}, part, problems)
        assert SPEC.load(options).vocab_size == 260
    assert validate(CutOptions, {"of": {"backend": "regex_bpe", "train": {}}, "size": 260}, part, problems) is None
    assert [problem.message.partition(":")[0] for problem in problems] == ["of"]
