"""``tokbench train -o FOLDER``: other libraries and a trainer take what it writes, with the same ids."""

import json

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import BackendError
from tokbench.testing.texts import corpus, generated
from tokbench.training.written import compare

pytestmark = pytest.mark.slow

SPECIAL = ("<|eos|>", "<s>", "<pad>", "<unk>")
TEXTS = [*corpus(), *generated(1000), *(f"a{name} b\n{name}" for name in SPECIAL)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    base = tmp_path_factory.mktemp("exports")
    (base / "t.txt").write_text("\n".join(text for text in corpus() if len(text) > 50), encoding="utf-8")
    (base / "chat.jinja").write_text(
        "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}", encoding="utf-8"
    )
    names = [f"--special-tokens={name}" for name in SPECIAL]
    folder = ("--model-max-length", 64, "--chat-template", base / "chat.jinja", "--json", "-o", base / "my")
    for more in (folder, ("-o", base / "x.gguf")):
        train("regex_bpe:gpt4", base, "--vocab-size", 500, *names, *more)
    return base


def train(backend, base, *more):
    given = ("train", "--backend", backend, "--text", base / "t.txt", "--no-store", *more)
    outcome = CliRunner().invoke(command, list(map(str, given)))
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


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


def test_tiktoken(made, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))  # it keeps copies of local files, too
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


def test_other_ids_are_an_error():
    tokenizer = tokbench.load("utf8_bytes")
    with pytest.raises(BackendError, match="'ab'"):
        compare(tokenizer, {"other": lambda _: [97]}, ["a", "ab"])


@pytest.mark.matrix
@pytest.mark.parametrize("model", ["bpe", "unigram", "wordpiece"])
def test_trainers_of_tokenizers(made, tmp_path, model):
    options = ("-O", f"model={model}", "--special-tokens", "</s>", "--vocab-size", 1000)
    [found] = json.loads(train("huggingface", made, *options, "--json", "-o", tmp_path / "hf"))["tokenizers"]
    config = json.loads((tmp_path / "hf" / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["eos_token"] == "</s>"
    assert "unk" in config["unk_token"].lower()
    if config["unk_token"] == "<unk>":
        spelling = sum("<unk>" in text for text in set(corpus()))
        assert spelling
        assert any(f": {config['unk_token']} in the text" in note for note in found["notes"])


def differing(model, file, texts):
    """Return the texts of which sentencepiece and tokenizers make other ids, special tokens left to text."""
    sentencepiece = pytest.importorskip("sentencepiece")
    library = pytest.importorskip("tokenizers").Tokenizer.from_file(str(file))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    names = [processor.id_to_piece(i) for i in range(10) if processor.is_control(i) or processor.is_unknown(i)]
    texts = [text for text in texts if not any(name in text for name in names)]
    assert len(texts) > 1000
    return [text for text in texts if processor.encode(text) != library.encode(text, add_special_tokens=False).ids]


EXACT = ("-O", "byte_fallback=true", "-O", "normalization_rule_name=identity", "--special-tokens", "<|x|>")


def test_sentencepiece_model_becomes_a_folder(made, tmp_path):
    transformers = pytest.importorskip("transformers")
    train("sentencepiece:bpe", made, "--vocab-size", 1000, *EXACT, "--eos", "</s>", "-o", tmp_path)
    assert differing(tmp_path / "trained.model", tmp_path / "tokenizer.json", [*corpus(), *generated(1100)]) == []
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tokenizer = tokbench.load("sentencepiece", path=tmp_path / "trained.model")
    assert (auto.eos_token, auto.unk_token) == ("</s>", "<unk>")
    for text in ("a<|x|>b", " <|x|> <|x|>\n", "</s>  \xa0b", "<|x|>"):
        ids = tokenizer.encode_with_special(text, allowed_special="all")
        assert auto.encode(text, add_special_tokens=False) == ids
        assert tokenizer.special_ids["<|x|>"] in ids or "x" not in text
        assert auto.decode(auto.encode("the word")) == "the word"


def test_published_models_become_tokenizer_json(data, tmp_path):
    texts = [*corpus(), *generated(1100)]
    for name, most in (("mistral_v1", 0), ("mistral_v3", 0), ("t5_base", 6)):
        model, file = data / "spm" / f"{name}.model", tmp_path / f"{name}.tokenizer.json"
        tokbench.load("sentencepiece", path=model).export("huggingface", file)
        assert len(differing(model, file, texts)) <= most


def test_words_alone_have_no_tokenizer_json(made, tmp_path):
    output = train("sentencepiece:word", made, "--vocab-size", 500, "-o", tmp_path / "w")
    assert "not written for AutoTokenizer" in output
    assert [path.name for path in (tmp_path / "w").iterdir()] == ["trained.model"]
