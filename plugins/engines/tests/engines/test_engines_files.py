"""Engines with vocabularies out of files, trainers of other libraries, and what goes wrong."""

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from difficult_texts import TEXTS, hostile

import tokbench
from tokbench.plugin import silent
from tokbench.registry.plugins import load_registry
from tokbench_engines.engines.given import through_ranks
from tokbench_engines.engines.tokenizer import calling
from tokbench_plugins.bpe import BPETokenizer, train
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

pytestmark = pytest.mark.usefixtures("shared_store")

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
    return tokbench.load(name, **options)


@files
@pytest.mark.parametrize("pattern", ["gpt2", "o200k"])
def test_ranks_trained_here_give_our_ids(name, pattern, tmp_path):
    ours, path = trained(pattern), tmp_path / "ours.tiktoken"
    ours.export("tiktoken", path)
    tokenizer = load(name, path=path, pattern=pattern)
    texts = [text for text in [*TEXTS, *DOCUMENTS, *hostile()] if name != "tokie" or text.isascii()]
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


@pytest.mark.parametrize("name", ["gigatoken", "tokie"])
def test_other_ids_than_the_file_are_a_caution(name, tmp_path):
    """Both split as GPT-2 where the file does not split at all."""
    naive = BPETokenizer(train(DOCUMENTS, 330, None))
    naive.export("huggingface", tmp_path / "naive.json")
    tokenizer = load(name, path=tmp_path / "naive.json")
    assert list(tokenizer.encode(DOCUMENTS[0])) != naive.encode(DOCUMENTS[0])
    assert any(note.startswith("caution: its ids differ from the file") for note in tokenizer.notes)


def test_a_split_that_gigatoken_does_not_know(tmp_path):
    trained().export("tiktoken", tmp_path / "ours.tiktoken")
    with pytest.raises(tokbench.BackendError, match="gigatoken: RuntimeError: Unknown pre_tokenizer"):
        load("gigatoken", path=tmp_path / "ours.tiktoken", pattern="[a-z]+|[^a-z]+")


def test_merges_that_ranks_do_not_tell():
    ours = BPETokenizer([(97, 98), (98, 99), (97, 257)])
    vocabulary = EngineVocabulary("gpt2", {"<end>": 300}, None, ours.vocabulary)
    assert vocabulary.tokens[256:] == (b"ab", b"bc", b"abc", *[b""] * 41, b"<end>")
    with pytest.raises(tokbench.BackendError, match="this engine takes ranks"):
        through_ranks(vocabulary, str)


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


def test_extras_install_what_the_backends_need():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [line for extra in project["optional-dependencies"].values() for line in extra]
    backends = load_registry().backends.entries.values()
    needed = {
        name for backend in backends if backend.plugin.distribution == project["name"] for name in backend.spec.requires
    }
    assert needed - {re.split("[>=;]", line)[0] for line in lines} == {"sentencepiece", "tiktoken"}


def trainer(name):
    pytest.importorskip(name)
    spec = load_registry().backends.get(name)
    return lambda texts, size, **options: spec.train(iter(texts), size, spec.train_options(**options), silent)


@pytest.mark.parametrize("pattern", ["gpt2", r"[a-z]+|[^a-z]+"])
def test_rustbpe_trains_our_merges(pattern, tmp_path):
    tokenizer = trainer("rustbpe")(DOCUMENTS, 330, pattern=pattern)
    assert tokenizer.merges == trained(pattern, tie="smallest").merges
    tokenizer.save(tmp_path / "r.bpe.json")
    assert load("rustbpe", path=tmp_path / "r.bpe.json").training.corpus.documents == len(DOCUMENTS)


@pytest.mark.parametrize("name", ["gigabpe", "rustbpe"])
def test_training_on_lone_surrogates_and_nothing(name):
    train_engine = trainer(name)
    assert train_engine(["a\ud800a\ud800"], 257).vocab_size == 257
    assert train_engine(["", ""], 300).vocab_size == 256


def test_gigatoken_s_trainer_makes_our_merges_where_ties_are_broken_alike(capfd):
    train_gigatoken = trainer("gigatoken")
    tokenizer, ours = train_gigatoken(DOCUMENTS, 300, tie="raw_token_ids"), trained("gpt2", tie="smallest")
    assert [tokenizer.token_bytes(i) for i in range(300)] == [ours.token_bytes(i) for i in range(300)]
    for tie in ("huggingface", "assembled_bytes"):
        assert train_gigatoken(DOCUMENTS, 300, tie=tie).vocab_size == 300
    capfd.readouterr()  # it tells of its progress


def test_gigabpe_trains_as_hugging_face_on_lines():
    text = Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8")
    ours = trainer("gigabpe")([text], 600)
    pytest.importorskip("tokenizers")
    theirs = tokbench.train("huggingface", text.splitlines(keepends=True), 600)
    assert [ours.token_bytes(i) for i in range(256, 600)] == [theirs.token_bytes(i) for i in range(256, 600)]
