"""Spans and streams of the engines are handed on as they are: values by hand, and the joined text of every stream."""

import pytest

import tokbench
from tokbench_research.metrics.drift.shown import spans_of

RARE = "\U00012345"  # a sign of cuneiform, which no vocabulary has as one token


def parts(tokenizer, text):
    ids, starts, ends = tokenizer.encode_with_spans(text)
    assert list(ids) == list(tokenizer.encode(text))
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@pytest.mark.usefixtures("tiktoken_files")
def test_tiktoken():
    tokenizer = tokbench.load("tiktoken", encoding="cl100k_base")
    assert parts(tokenizer, "Hello world") == ["Hello", " world"]
    assert parts(tokenizer, "") == []
    # The three tokens of one character: the first two end where it begins, and the last one has all of it.
    assert parts(tokenizer, "a🤷b") == ["a", "", "", "🤷", "b"]


def test_tekken():
    pytest.importorskip("tokbench_engines")
    tokenizer = tokbench.load("mistral", vocabulary="tekken_240911")
    assert parts(tokenizer, "Hello world") == ["Hello", " world"]
    assert min(tokenizer.encode_with_spans("Hello").ids) >= 1000


def test_two_engines_with_the_vocabulary_of_t5(data):
    google = tokbench.load("sentencepiece", path=data / "spm" / "t5_base.model")
    face = tokbench.load("huggingface", path=data / "hf" / "t5-small.tokenizer.json")
    text = "Hello world, é"
    assert google.encode(text) == face.encode(text)
    assert parts(google, text) == ["Hello", " world", ",", " ", "é"]
    # tokenizers leaves out spaces, and gives one that is a token of its own the character after it.
    assert parts(face, text) == ["Hello", "world", ",", "é", "é"]
    assert spans_of(google, text) == (5, 5, 5)
    assert spans_of(face, text) == (3, 4, 5)


def test_offsets_that_are_trimmed(data):
    tokenizer = tokbench.load("huggingface", path=data / "hf" / "roberta-base.tokenizer.json")
    assert parts(tokenizer, "Hello  world") == ["Hello", "", "world"]
    assert spans_of(tokenizer, "Hello  world") == (1, 3, 3)


def test_a_dummy_prefix_is_no_text_of_the_first_token():
    pytest.importorskip("tokbench_engines")
    tokenizer = tokbench.load("mistral", vocabulary="v3")
    assert parts(tokenizer, "Hello world") == ["Hello", " world"]
    assert spans_of(tokenizer, "Hello world") == (2, 2, 2)
    # Bytes of a character are no text of their own.
    assert spans_of(tokenizer, RARE).tokens == 1


def test_splintr_shows_what_is_left_at_the_end():
    tokenizer = tokbench.load("splintr", vocabulary="llama2")
    ids = tokenizer.encode(f"a {RARE}")
    assert "".join(tokenizer.decode_stream(ids)) == f"a {RARE}"
    assert list(tokenizer.decode_stream(ids[:-1]))[-1].endswith("\ufffd")


def test_tokenizers_keeps_what_is_left_at_the_end():
    tokenizer = tokbench.train("huggingface", ["né"], 260)
    ids = tokenizer.encode(f"né {RARE}")
    assert "".join(tokenizer.decode_stream(ids)) == f"né {RARE}"
    assert "".join(tokenizer.decode_stream(ids[:-1])) == "né "
    assert tokenizer.decode(ids[:-1]).endswith("\ufffd")
