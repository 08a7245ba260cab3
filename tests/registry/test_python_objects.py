"""Texts and tokenizers given as objects of Python give the numbers of the same files."""

import json
import tempfile
from pathlib import Path

import pytest

import tokbench

TEXTS = ["née an egg", "two\nlines 12345 <|endoftext|>", "  spaces"]


def run(corpora, tokenizers, workers=0):
    config = {"schema": "tokbench/1", "name": "t", "corpora": corpora, "tokenizers": tokenizers}
    return tokbench.run(config | {"metrics": ["compression"]}, workers=workers)


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "datasets"])
def test_texts_give_the_numbers_of_a_file(tmp_path, kind):
    columns = {"body": TEXTS, "lang": ["fr", "en", "en"]}
    if kind == "list":
        texts = {"a": TEXTS}
    else:
        library = pytest.importorskip(kind)
        frame = library.Dataset.from_dict(columns) if kind == "datasets" else library.DataFrame(columns)
        texts = {"a": frame["body"], "b": {"texts": frame, "text": "body", "group": "{lang}"}}
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": {json.dumps(text)}}}\n' for text in TEXTS), "utf-8")
    expected = run({"a": {"source": "jsonl", "path": tmp_path / "a.jsonl"}}, {"b": "utf8_bytes"})
    results = run(texts, {"b": "utf8_bytes"})
    assert [cell for cell in results.cells if cell.corpus == "a"] == expected.cells != []
    assert results.cells == run(texts, {"b": "utf8_bytes"}, workers=2).cells
    assert TEXTS[0] not in results.config.text
    if kind != "list":
        assert results.corpora["b"].groups == {"fr": 1, "en": 2}


@pytest.mark.parametrize("kind", ["pandas", "polars", "datasets"])
@pytest.mark.parametrize(
    ("column", "group", "groups"),
    [
        ("lang", None, {"fr": 1, "b": 1, "en": 1}),
        ("language", None, {"fr": 1, "b": 1, "en": 1}),
        ("lang", "all", {"all": 3}),
        ("tongue", None, {"b": 3}),
    ],
)
def test_frames_are_grouped_by_their_language(kind, column, group, groups):
    library = pytest.importorskip(kind)
    columns = {"text": TEXTS, column: ["fr", None, "en"]}
    frame = library.Dataset.from_dict(columns) if kind == "datasets" else library.DataFrame(columns)
    texts = {"texts": frame, "group": group} if group else frame
    assert run({"b": texts}, {"b": "utf8_bytes"}).corpora["b"].groups == groups


def test_texts_that_are_not_strings_are_refused():
    with pytest.raises(tokbench.InputError, match=r"corpora\.a: text 2 is of type float"):
        run({"a": ["x", float("nan")]}, {"b": "utf8_bytes"})


@pytest.mark.slow
def test_tiktoken_objects_load(tiktoken_files):
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.get_encoding("cl100k_base")
    loaded = tokbench.load(encoding)
    assert [loaded.encode(text) for text in TEXTS] == [encoding.encode_ordinary(text) for text in TEXTS]
    assert loaded.vocab_size == encoding.n_vocab
    results = run({"a": TEXTS}, {"object": encoding, "name": "gpt-4"})
    of = {name: [cell.value for cell in results.cells if cell.tokenizer == name] for name in results.tokenizers}
    assert of["object"] == of["name"] != []


def small_tokenizer():
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=270, show_progress=False, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return tokenizer


@pytest.mark.parametrize("library", ["tokenizers", "transformers"])
@pytest.mark.slow
def test_tokenizers_and_transformers_objects_load(library):
    tokenizer = small_tokenizer()
    given = tokenizer
    if library == "transformers":
        given = pytest.importorskip("transformers").PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    loaded = tokbench.load(given)
    assert [loaded.encode(text) for text in TEXTS] == [tokenizer.encode(text).ids for text in TEXTS]
    results = run({"a": TEXTS}, {"object": given}, workers=2)
    assert not results.failed


def test_sentencepiece_objects_load():
    sentencepiece = pytest.importorskip("sentencepiece")
    saved = tokbench.train("sentencepiece", TEXTS * 9, 40, store=False, model_type="char")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.model")
        saved.save(path)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        by_file = tokbench.load(str(path))
    loaded = tokbench.load(processor)
    assert [loaded.encode(text) for text in TEXTS] == [by_file.encode(text) for text in TEXTS]
    assert loaded.vocab_size == processor.vocab_size()


def test_unknown_objects_are_refused():
    with pytest.raises(tokbench.InputError, match="object is not a tokenizer"):
        tokbench.load(object())
