"""Engines with vocabularies out of files, trainers of other libraries, and what goes wrong."""

import json
import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from backend_checks import TEXTS, check_batch, check_bytes, check_pickle, hostile, pud, silent, specs_of
from pydantic import ValidationError

import tokbench
from tokbench.registry.plugins import missing
from tokbench.tokenizers.contract import Saves
from tokbench_plugins.bpe import BPETokenizer, Splitter, train
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.bpe.literal import train_literally
from tokbench_plugins.engines import (
    bpe_openai_backend,
    fastokens_backend,
    gigabpe_backend,
    gigatoken_backend,
    kitoken_backend,
    rs_bpe_backend,
    rustbpe_backend,
    snaptokens_backend,
    tokie_backend,
    wordchipper_backend,
)
from tokbench_plugins.engines.tokenizer import calling
from tokbench_plugins.engines.vocabulary import EngineVocabulary, FileOptions

pytestmark = pytest.mark.usefixtures("shared_store")

SPECS = {
    name: specs_of(module)[name]
    for name, module in {
        "bpe_openai": bpe_openai_backend,
        "fastokens": fastokens_backend,
        "gigabpe": gigabpe_backend,
        "gigatoken": gigatoken_backend,
        "kitoken": kitoken_backend,
        "rs_bpe": rs_bpe_backend,
        "rustbpe": rustbpe_backend,
        "snaptokens": snaptokens_backend,
        "tokie": tokie_backend,
        "wordchipper": wordchipper_backend,
    }.items()
}
DOCUMENTS = [
    "some words, somewhat worded",
    "été été HTTPServer's isn't 12345\n\n  x",
    "日本語 日本 語",
    "low lower lowest",
]
files = pytest.mark.parametrize("name", ["fastokens", "gigatoken", "kitoken", "snaptokens", "tokie"])


def trained(pattern="gpt4", tie="first"):
    return BPETokenizer(train(DOCUMENTS, 330, pattern, tie=tie), pattern)


def load(name, **options):
    pytest.importorskip(name)
    return SPECS[name].load(SPECS[name].load_options(**options))


@files
@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "o200k"])
def test_ranks_trained_here_give_our_ids(name, pattern, tmp_path):
    ours, path = trained(pattern), tmp_path / "ours.tiktoken"
    ours.export("tiktoken", path)
    tokenizer = load(name, path=path, pattern=pattern)
    texts = [text for text in [*TEXTS, *DOCUMENTS, *hostile()] if name != "tokie" or text.isascii()]
    check_batch(tokenizer, texts)
    check_bytes(tokenizer, texts)
    check_pickle(tokenizer)
    assert tokenizer.vocab_size == ours.vocab_size
    assert [list(tokenizer.encode(text)) for text in texts] == [ours.encode(text) for text in texts]


@files
def test_special_tokens_of_a_tokenizer_json_are_ordinary_text(name, tmp_path):
    path = tmp_path / "ours.json"
    ours = BPETokenizer(trained("gpt2").vocabulary, "gpt2", {"<|endoftext|>": 330})
    ours.export("huggingface", path)
    tokenizer = load(name, path=path)
    text = "low<|endoftext|>lower"
    assert list(tokenizer.encode(text)) == ours.encode(text)
    assert tokenizer.special_ids == ours.special_tokens.ids
    assert tokenizer.decode(tokenizer.encode(text)) == text


def changed_file(kind, path):
    """Write our vocabulary to a tokenizer.json in which ids are missing, special or no product of a merge."""
    content = tokenizer_json(Parts(trained("gpt2").vocabulary, "gpt2"))
    vocab = content["model"]["vocab"]
    special = {}
    if kind == "special token at id 0":
        special = {"<s>": 0}
        vocab = {name: token_id + 1 for name, token_id in vocab.items()}
    elif kind == "special tokens in between":
        special = {f"<{k}>": 280 + k for k in range(7)}
        vocab = {name: token_id + 7 * (token_id >= 280) for name, token_id in vocab.items()}
    elif kind == "holes":
        vocab = {name: token_id + 7 * (token_id >= 280) for name, token_id in vocab.items()}
    else:
        vocab["qzqz"] = len(vocab) + 3
        content["model"]["ignore_merges"] = True
    content["model"]["vocab"] = vocab | special
    content["added_tokens"] = [{"id": i, "content": name, "special": True, **FLAGS} for name, i in special.items()]
    path.write_text(json.dumps(content))
    return path


FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


@files
@pytest.mark.parametrize("kind", ["special token at id 0", "special tokens in between", "holes", "ignored merges"])
def test_ids_of_unusual_tokenizer_json(name, kind, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    path = changed_file(kind, tmp_path / "tokenizer.json")
    oracle = tokenizers.Tokenizer.from_file(str(path))
    oracle.encode_special_tokens = True
    tokenizer = load(name, path=path)
    texts = [*DOCUMENTS, "<s> low", "<1>a<0>", "qzqz qz", "x = [1, 22]\n\n\tif a:"]
    assert [list(tokenizer.encode(text)) for text in texts] == [oracle.encode(text).ids for text in texts]
    assert not any(note.startswith("caution") for note in tokenizer.notes)
    every = range(tokenizer.vocab_size)
    plain = tokbench.load("tokbench_bpe", path=path)
    assert [tokenizer.decode([i]) for i in every] == [plain.decode([i]) for i in every]
    check_batch(tokenizer, texts)
    check_bytes(tokenizer, texts)


@pytest.mark.slow
@files
def test_ids_of_roberta(name, data):
    tokenizers = pytest.importorskip("tokenizers")
    path = data / "hf" / "roberta-base.tokenizer.json"
    oracle = tokenizers.Tokenizer.from_file(str(path))
    oracle.encode_special_tokens = True
    tokenizer, texts = load(name, path=path), pud(data)[::20]
    assert [list(tokenizer.encode(text)) for text in texts] == [
        oracle.encode(text, add_special_tokens=False).ids for text in texts
    ]


@pytest.mark.parametrize("name", ["gigatoken", "tokie"])
def test_other_ids_than_the_file_are_a_caution(name, tmp_path):
    """Both split as GPT-2 where the file does not split at all."""
    naive = BPETokenizer(train(DOCUMENTS, 330, None))
    naive.export("huggingface", tmp_path / "naive.json")
    tokenizer = load(name, path=tmp_path / "naive.json")
    assert list(tokenizer.encode(DOCUMENTS[0])) != naive.encode(DOCUMENTS[0])
    assert any(note.startswith("caution: its ids differ from the file") for note in tokenizer.notes)


def test_options_that_do_not_fit():
    for options, message in (
        ({}, "either 'encoding' or 'path'"),
        ({"encoding": "gpt2", "path": "x.tiktoken"}, "either 'encoding' or 'path'"),
        ({"encoding": "gpt2", "pattern": "gpt2"}, "goes with a .tiktoken file"),
        ({"path": "x.json", "pattern": "gpt2"}, "goes with a .tiktoken file"),
        ({"path": "x.tiktoken", "pattern": "gpt-4"}, "did you mean 'gpt4'"),
        ({"encoding": "cl100k"}, "Input should be 'cl100k_base'"),
    ):
        with pytest.raises(ValidationError, match=message):
            FileOptions(**options)


def test_a_split_that_gigatoken_does_not_know(tmp_path):
    trained().export("tiktoken", tmp_path / "ours.tiktoken")
    with pytest.raises(tokbench.BackendError, match="gigatoken: RuntimeError: Unknown pre_tokenizer"):
        load("gigatoken", path=tmp_path / "ours.tiktoken", pattern="[a-z]+|[^a-z]+")


def test_merges_that_ranks_do_not_tell():
    ours = BPETokenizer([(97, 98), (98, 99), (97, 257)])
    vocabulary = EngineVocabulary("gpt2", {"<end>": 300}, None, ours.vocabulary)
    assert vocabulary.tokens[256:] == (b"ab", b"bc", b"abc", *[b""] * 41, b"<end>")
    with pytest.raises(tokbench.BackendError, match="this engine takes ranks"):
        vocabulary.through_ranks(str)


def test_a_panic_is_a_backend_error(tmp_path, capfd):
    gigatoken = pytest.importorskip("gigatoken")
    path = tmp_path / "ours.tiktoken"
    trained().export("tiktoken", path)
    native = gigatoken.Tokenizer.from_tiktoken(path, pretokenizer="gpt4", special_tokens={})
    with pytest.raises(tokbench.BackendError, match="gigatoken: panicked: index out of bounds"):
        calling("gigatoken", lambda: native.decode([200000]))
    capfd.readouterr()  # what Rust says of it

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calling("gigatoken", stop)


@pytest.mark.slow
def test_wordchipper_is_given_its_file_and_leaves_nothing_behind(tmp_path, monkeypatch):
    pytest.importorskip("wordchipper")
    monkeypatch.setenv("WORDCHIPPER_CACHE_DIR", str(tmp_path))
    tokenizer = load("wordchipper", encoding="cl100k_base")
    assert tokenizer.encode("hello world") == [15339, 1917]
    assert os.environ["WORDCHIPPER_CACHE_DIR"] == str(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("WORDCHIPPER_CACHE_DIR")
    load("wordchipper", encoding="cl100k_base")
    assert "WORDCHIPPER_CACHE_DIR" not in os.environ


@pytest.mark.parametrize("name", SPECS)
def test_what_to_type_where_a_library_is_absent(name, monkeypatch):
    def absent(distribution):
        raise PackageNotFoundError(distribution)

    monkeypatch.setattr("tokbench.registry.plugins.version", absent)
    [library] = SPECS[name].requires
    assert missing(SPECS[name]).startswith(f"needs {library}: pip install 'tokbench[")


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "o200k", r"[a-z]+|[^a-z]+"])
def test_rustbpe_trains_our_merges_and_is_saved(pattern, tmp_path):
    pytest.importorskip("rustbpe", reason="rustbpe is not installed")
    spec = SPECS["rustbpe"]
    tokenizer = spec.train(iter(DOCUMENTS), 330, spec.train_options(pattern=pattern), silent)
    assert tokenizer.merges == trained(pattern, tie="smallest").merges
    assert isinstance(tokenizer, Saves)
    path = tmp_path / f"r{tokenizer.file_suffix}"
    tokenizer.save(path)
    again = spec.load(spec.load_options(path=path))
    assert again.merges == tokenizer.merges
    assert again.training.corpus.documents == len(DOCUMENTS)
    check_pickle(tokenizer)


def test_rustbpe_with_lone_surrogates_and_nothing():
    pytest.importorskip("rustbpe", reason="rustbpe is not installed")
    spec = SPECS["rustbpe"]
    assert spec.train(iter(["a\ud800a\ud800"]), 257, spec.train_options(), silent).vocab_size == 257
    assert spec.train(iter([]), 300, spec.train_options(), silent).vocab_size == 256


def test_gigatoken_s_trainer_makes_our_merges_where_ties_are_broken_alike(tmp_path, capfd):
    pytest.importorskip("gigatoken", reason="gigatoken is not installed")
    spec = SPECS["gigatoken"]
    tokenizer = spec.train(iter(DOCUMENTS), 300, spec.train_options(tie="raw_token_ids"), silent)
    ours = trained("gpt2", tie="smallest")
    assert [tokenizer.token_bytes(i) for i in range(300)] == [ours.token_bytes(i) for i in range(300)]
    check_pickle(tokenizer)
    path = tmp_path / f"g{tokenizer.file_suffix}"
    tokenizer.save(path)
    again = spec.load(spec.load_options(path=path))
    assert all(list(again.encode(text)) == list(tokenizer.encode(text)) for text in [*TEXTS, *DOCUMENTS])
    for tie in ("huggingface", "assembled_bytes"):
        assert spec.train(iter(DOCUMENTS), 300, spec.train_options(tie=tie), silent).vocab_size == 300
    capfd.readouterr()  # it tells of its progress


def literal_tokens(documents, vocab_size):
    """Train by the textbook's loop on lines, with the bytes in the order of GPT-2's alphabet; return the tokens by id."""
    order = sorted(range(256), key=BYTE_TO_CHARACTER.__getitem__)
    number, split = bytes(map(order.index, range(256))), Splitter("gpt2")
    lines = [line for document in documents for line in f"{document}\n".splitlines(keepends=True)]
    chunks = [chunk.encode().translate(number) for line in lines for chunk in split(line)]
    tokens = [bytes([byte]) for byte in order]
    for left, right in train_literally(chunks, vocab_size, "smallest"):
        tokens.append(tokens[left] + tokens[right])
    return tokens[256:]


@pytest.mark.parametrize("text", ["documents", "library"])
def test_gigabpe_makes_the_merges_of_the_textbook_line_by_line(text, tmp_path):
    pytest.importorskip("gigabpe", reason="gigabpe is not installed")
    spec = SPECS["gigabpe"]
    documents = [*DOCUMENTS, "a\n\n\nb  \n\n\n", "tie eit tie"]
    if text == "library":
        documents.append(Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8").rstrip("\n"))
    tokenizer = spec.train(iter(documents), 400, spec.train_options(), silent)
    tokens = literal_tokens([document.removesuffix("\n") for document in documents], 400)
    assert [tokenizer.token_bytes(i) for i in range(256, tokenizer.vocab_size)] == tokens
    assert b"\n\n" not in tokens  # the loop without lines learns it
    assert tokenizer.training.corpus.documents == len(documents)
    path = tmp_path / f"g{tokenizer.file_suffix}"
    tokenizer.save(path)
    assert spec.load(spec.load_options(path=path)).merges == tokenizer.merges
    check_pickle(tokenizer)


def test_gigabpe_trains_as_hugging_face_on_lines():
    pytest.importorskip("gigabpe", reason="gigabpe is not installed")
    huggingface = pytest.importorskip("tokbench_plugins.huggingface.backend", reason="tokenizers is not installed")
    spec, other = SPECS["gigabpe"], specs_of(huggingface)["huggingface"]
    text = Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8")
    ours = spec.train(iter([text]), 600, spec.train_options(), silent)
    theirs = other.train(iter(text.splitlines(keepends=True)), 600, other.train_options(), silent)
    assert [ours.token_bytes(i) for i in range(256, 600)] == [theirs.token_bytes(i) for i in range(256, 600)]


def test_gigabpe_with_lone_surrogates_and_nothing():
    pytest.importorskip("gigabpe", reason="gigabpe is not installed")
    spec = SPECS["gigabpe"]
    assert spec.train(iter(["a\ud800a\ud800"]), 257, spec.train_options(), silent).vocab_size == 257
    assert spec.train(iter(["", ""]), 300, spec.train_options(), silent).vocab_size == 256
