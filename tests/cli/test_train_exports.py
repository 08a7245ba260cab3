"""``tokbench train -o FOLDER``: other libraries and a trainer take what it writes, with the same ids."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import BackendError
from tokbench.testing.texts import corpus, generated
from tokbench.training.written import compare

SPECIAL = ("<|eos|>", "<s>", "<pad>", "<unk>")
TEXTS = [*corpus(), *generated(1000), *(f"a{name} b\n{name}" for name in SPECIAL)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    base = tmp_path_factory.mktemp("exports")
    (base / "t.txt").write_text("\n".join(text for text in corpus() if len(text) > 50), encoding="utf-8")
    (base / "chat.jinja").write_text(
        "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}", encoding="utf-8"
    )
    names = (f"--special-tokens={name}" for name in SPECIAL)
    given = (
        "train",
        "--backend",
        "regex_bpe:gpt4",
        "--text",
        base / "t.txt",
        "--vocab-size",
        500,
        *names,
        "--no-store",
    )
    folder = ("--model-max-length", 64, "--chat-template", base / "chat.jinja", "--json", "-o", base / "my")
    for more in (folder, ("-o", base / "x.gguf")):
        outcome = CliRunner().invoke(command, list(map(str, [*given, *more])))
        assert outcome.exit_code == 0, outcome.output
    return base


@pytest.fixture(scope="module")
def expected(made):
    tokenizer = tokbench.load("regex_bpe", path=made / "my" / "trained.bpe.json")
    return [tokenizer.encode_with_special(text, allowed_special="all") for text in TEXTS]


def test_auto_tokenizer_and_tokenizers(made, expected):
    transformers = pytest.importorskip("transformers")
    import tokenizers

    auto = transformers.AutoTokenizer.from_pretrained(made / "my")
    assert (auto.eos_token, auto.bos_token, auto.pad_token, auto.unk_token) == SPECIAL
    assert auto.model_max_length == 64
    chat = [{"role": "user", "content": "Hi"}]
    assert auto.apply_chat_template(chat, tokenize=False) == "Hi<|eos|>"
    assert [auto.encode(text, add_special_tokens=False) for text in TEXTS] == expected
    library = tokenizers.Tokenizer.from_file(str(made / "my" / "tokenizer.json"))
    assert [library.encode(text, add_special_tokens=False).ids for text in TEXTS] == expected


def test_tiktoken(made, expected):
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    ranks = made / "my" / "tokenizer.tiktoken"
    special = {name: id_of(made, name) for name in SPECIAL}
    pattern = (made / "my" / "tokenizer.tiktoken.pattern").read_text(encoding="utf-8").partition("\n")[2]
    library = tiktoken.Encoding(
        "x", pat_str=pattern, mergeable_ranks=load_tiktoken_bpe(str(ranks)), special_tokens=special
    )
    assert [library.encode(text, allowed_special="all") for text in TEXTS] == expected


def id_of(made, name):
    content = json.loads((made / "my" / "tokenizer.json").read_text(encoding="utf-8"))
    return next(token["id"] for token in content["added_tokens"] if token["content"] == name)


def test_gguf(made, expected):
    gguf = pytest.importorskip("gguf")
    pytest.importorskip("tokbench_engines")
    entries = gguf.GGUFReader(made / "x.gguf").fields
    assert entries["tokenizer.ggml.eos_token_id"].contents() == id_of(made, "<|eos|>")
    tokenizer = tokbench.load("gguf", path=made / "x.gguf")
    assert [tokenizer.encode_with_special(text, allowed_special="all") for text in TEXTS] == expected


def test_five_steps_of_a_bigram_model(made):
    transformers = pytest.importorskip("transformers")
    auto = transformers.AutoTokenizer.from_pretrained(made / "my")
    batch = auto([f"the low number {k * 10**k}{auto.eos_token}" for k in range(8)], padding=True, return_tensors="np")
    inputs, labels, mask = batch["input_ids"][:, :-1], batch["input_ids"][:, 1:], batch["attention_mask"][:, 1:] == 1
    assert not mask.all(), "some texts are padded"
    assert (labels[~mask] == auto.pad_token_id).all()
    weights = np.zeros((len(auto), len(auto)))
    rows, wanted = inputs[mask], labels[mask]
    losses = []
    for _ in range(5):
        odds = np.exp(weights[rows])
        odds /= odds.sum(axis=1, keepdims=True)
        losses.append(-np.log(odds[np.arange(len(rows)), wanted]).mean())
        odds[np.arange(len(rows)), wanted] -= 1
        np.add.at(weights, rows, -0.5 * odds)
    assert losses[0] == pytest.approx(np.log(len(auto)))
    assert losses == sorted(losses, reverse=True)


def test_other_ids_are_an_error():
    tokenizer = tokbench.load("utf8_bytes")
    with pytest.raises(BackendError, match="'ab'"):
        compare(tokenizer, {"other": lambda _: [97]}, ["a", "ab"])


@pytest.mark.parametrize("model", ["bpe", "unigram", "wordpiece"])
def test_trainers_of_tokenizers(made, tmp_path, model):
    given = ("train", "--backend", "huggingface", "-O", f"model={model}", "--special-tokens", "</s>", "--no-store")
    outcome = CliRunner().invoke(
        command, [*given, "--text", str(made / "t.txt"), "--vocab-size", "1000", "-o", str(tmp_path / "hf")]
    )
    assert outcome.exit_code == 0, outcome.output
    config = json.loads((tmp_path / "hf" / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["eos_token"] == "</s>"
    assert "unk" in config["unk_token"].lower()
