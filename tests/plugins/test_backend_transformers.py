"""AutoTokenizer behind the contract: pipelines and Python, folders and the hub's cache, no network and no retries."""

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest
from difficult_texts import TEXTS, hostile, pud

import tokbench
from tokbench.tokenizers.contract import EncodesChat, HasIdentity, HasTokenBytes
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe import train as train_bpe
from tokbench_plugins.hub.backend import AUTO as SPEC
from tokbench_plugins.hub.backend import HubLoadOptions
from tokbench_plugins.transformers.tokenizer import behind_the_contract

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the library's own imports

try:
    metadata.version("transformers")
except metadata.PackageNotFoundError:
    pytest.skip("transformers is not installed", allow_module_level=True)

OWN_CODE = """
from transformers import PreTrainedTokenizer

class LettersTokenizer(PreTrainedTokenizer):
    @property
    def vocab_size(self):
        return 128

    def get_vocab(self):
        return {chr(i): i for i in range(128)}

    def _tokenize(self, text, **kwargs):
        return list(text)

    def _convert_token_to_id(self, token):
        return ord(token)

    def _convert_id_to_token(self, token_id):
        return chr(token_id)

    def convert_tokens_to_string(self, tokens):
        return "".join(tokens)
"""


def make_folder(folder, config, **files):
    folder.mkdir(parents=True)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


@pytest.fixture
def trained():
    return tokbench.train("huggingface", ["low lower lowest slow " * 5], 300, special_tokens=("<|end|>",))


@pytest.fixture
def folder(tmp_path, trained):
    folder = make_folder(tmp_path / "model", {"tokenizer_class": "PreTrainedTokenizerFast"})
    trained.save(folder / "tokenizer.json")
    return folder


def load(**options):
    return SPEC.load(HubLoadOptions(**options))


@pytest.mark.slow
def test_real_files_give_the_ids_of_the_library(data, tmp_path):
    from transformers import AutoTokenizer

    folder = make_folder(tmp_path / "roberta", {"tokenizer_class": "PreTrainedTokenizerFast"})
    shutil.copy(data / "hf" / "roberta-base.tokenizer.json", folder / "tokenizer.json")
    bert = make_folder(tmp_path / "bert", {"tokenizer_class": "BertTokenizer", "do_lower_case": True})
    shutil.copy(data / "hf" / "bert-base-uncased.vocab.txt", bert / "vocab.txt")
    texts = pud(data)[::50]
    for each in (folder, bert):
        tokenizer, theirs = load(path=each), AutoTokenizer.from_pretrained(str(each))
        ours = tokenizer.encode_batch(texts)
        expected = [i for text in texts for i in theirs.encode(text, add_special_tokens=False)]
        assert ours.ids.tolist() == expected
    plain = tokbench.load("huggingface", vocab_txt=bert / "vocab.txt")
    assert np.array_equal(plain.encode_batch(texts).ids, ours.ids)


@pytest.mark.parametrize(
    ("tokenizer_class", "parts"),
    [("Qwen2Tokenizer", "normalizer and pre_tokenizer"), ("GPT2Tokenizer", "pre_tokenizer"), ("TokenizersBackend", "")],
)
def test_pipeline_other_than_the_file_is_a_caution(tokenizer_class, parts, tmp_path):
    folder = make_folder(tmp_path / "model", {"tokenizer_class": tokenizer_class})
    trained = train_bpe(["low 12345 lower", "déjà vu"] * 3, 280, "o200k")
    BPETokenizer(trained, "o200k").export("huggingface", folder / "tokenizer.json")
    cautions = [note for note in load(path=folder).notes if note.startswith("caution")]
    assert [note.split(" has a different ")[1].split(" from ")[0] for note in cautions] == ([parts] if parts else [])


def test_a_folder_needs_no_identity(folder):
    assert not isinstance(load(path=folder), HasIdentity)  # its files are hashed


def test_tokenizers_in_python(tmp_path):
    tokenizer = load(path=make_folder(tmp_path / "byt5", {"tokenizer_class": "ByT5Tokenizer"}))
    assert not isinstance(tokenizer, HasTokenBytes)
    assert (tokenizer.vocab_size, tokenizer.unk_id, len(tokenizer.special_ids)) == (384, 2, 127)
    for text in [*TEXTS, *hostile(), "</s> a<pad><extra_id_0>"]:
        ids = tokenizer.encode(text)
        assert ids == [byte + 3 for byte in text.encode()]
        assert tokenizer.decode(ids) == text
    assert tokenizer.decode([1]) == "</s>"


def test_added_tokens_of_python_code_are_ordinary_text(tmp_path):
    added = {"400": {"content": "<tool>", "special": False}, "401": {"content": "<end>", "special": True}}
    config = {"tokenizer_class": "ByT5Tokenizer", "added_tokens_decoder": added}
    folder = make_folder(tmp_path / "byt5", config)
    tokenizer = load(path=folder)
    assert tokenizer.encode("a<tool>") == [100, 400]
    assert tokenizer.encode("</s><tool>é<end>") == [*[b + 3 for b in b"</s>"], 400, *[b + 3 for b in "é<end>".encode()]]
    assert "<tool>" not in tokenizer.special_ids


def test_tokenizers_in_python_stream_and_chat_as_the_library_does(tmp_path):
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}</s>{% endfor %}"
    folder = make_folder(tmp_path / "byt5", {"tokenizer_class": "ByT5Tokenizer", "chat_template": template})
    tokenizer = load(path=folder)
    # Symbols wait for the next space, because more of them may follow.
    assert list(tokenizer.decode_stream(tokenizer.encode("a!é b"))) == ["a", "", "", "", "!é ", "b", ""]
    for text in [*TEXTS, "né 日本語, ok\n next\n", "🙂🙂"]:
        ids = tokenizer.encode(text)
        parts = list(tokenizer.decode_stream(ids))
        assert ("".join(parts), len(parts)) == (tokenizer.decode(ids), len(ids) + 1)
    with pytest.raises(ValueError, match="384"):
        list(tokenizer.decode_stream([384]))
    messages = [{"role": "user", "content": "Hi"}]
    assert tokenizer.encode_chat(messages, reply=False) == [byte + 3 for byte in b"user: Hi"] + [1]
    with pytest.raises(ValueError, match="refuses the conversation"):
        tokenizer.encode_chat([], reply=False)
    assert not isinstance(load(path=make_folder(tmp_path / "plain", {"tokenizer_class": "ByT5Tokenizer"})), EncodesChat)


@pytest.mark.slow
def test_code_of_strangers_is_run_only_when_asked(tmp_path, monkeypatch):
    config = {
        "tokenizer_class": "LettersTokenizer",
        "auto_map": {"AutoTokenizer": ["letters.LettersTokenizer", None]},
    }
    folder = make_folder(tmp_path / "own", config, letters__py=OWN_CODE + "\nprint('I was run')\n")
    with pytest.raises(tokbench.BackendError, match=r"own: .* trust_remote_code"):
        load(path=folder)
    code = (
        "import sys, tokbench\n"
        "tokenizer = tokbench.load('transformers', path=sys.argv[1], trust_remote_code=True)\n"
        "print(tokenizer.encode('abc'), tokenizer.decode([97, 98]), len(tokenizer.notes))"
    )
    done = run(code, folder, HF_HOME=tmp_path / "home")
    assert (done.stdout, done.stderr) == ("I was run\n[97, 98, 99] ab 1\n", "")


def run(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


LOAD_BY_NAME = """
import tokbench
tokenizer = tokbench.load('transformers', name='somebody/cached')
print(tokenizer.encode('low'), *tokenizer.notes, tokenizer.identity)
try:
    tokbench.load('transformers', name='somebody/absent', revision='v2')
except tokbench.BackendUnavailable as error:
    print(error)
"""


def make_cache(home, folder):
    """The cache of a hub that has given the files of this folder."""
    repository, commit = home / "hub" / "models--somebody--cached", "0" * 40
    shutil.copytree(folder, repository / "snapshots" / commit)
    (repository / "snapshots" / commit / "config.json").write_text("{}")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)


@pytest.mark.slow
def test_without_network_a_name_comes_from_the_cache_or_not_at_all(folder, trained, tmp_path):
    make_cache(tmp_path / "home", folder)
    environment = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
    environment["HF_HOME"] = tmp_path / "home"
    done = run(LOAD_BY_NAME, **environment)
    assert done.stderr == "", "not one retry"
    loaded, refused = done.stdout.splitlines()
    around = "the tokens that TemplateProcessing puts around a text are left out"
    assert loaded == f"{trained.encode('low')} {around} somebody/cached of the hub at commit {'0' * 40} {'0' * 40}"
    assert "somebody/absent" in refused
    assert "http://127.0.0.1:9" in refused


def test_folders_that_hold_no_tokenizer(tmp_path):
    damaged = make_folder(tmp_path / "damaged", {"tokenizer_class": "PreTrainedTokenizerFast"}, tokenizer__json="{")
    for folder in (damaged, tmp_path / "nowhere"):
        with pytest.raises(tokbench.BackendError, match=f"{folder.name}: ") as caught:
            load(path=folder)
        assert "\n" not in str(caught.value)


def test_a_class_that_decodes_by_itself_is_not_judged_by_its_pipeline(tmp_path):
    """A pipeline without a decoder puts spaces between tokens; the class takes out what its normalizer put in."""
    from tokenizers import Tokenizer, models, normalizers
    from transformers import PreTrainedTokenizerFast

    class Marked(PreTrainedTokenizerFast):
        def decode(self, token_ids, skip_special_tokens=False):
            return super().decode(token_ids, skip_special_tokens=skip_special_tokens).replace(" ", "").replace("_", " ")

    pipeline = Tokenizer(models.BPE({letter: k for k, letter in enumerate("_abcdefgh")}, []))
    pipeline.normalizer = normalizers.Replace(" ", "_")
    own, plain = (
        behind_the_contract(kind(tokenizer_object=pipeline), ()) for kind in (Marked, PreTrainedTokenizerFast)
    )
    ids = own.encode("bad cafe")
    assert ids == plain.encode("bad cafe") == [2, 1, 4, 0, 3, 1, 6, 5]
    assert (own.decode(ids), plain.decode(ids)) == ("bad cafe", "b a d _ c a f e")
    assert own.decode_batch(own.encode_batch(["bad cafe", "a"])) == ["bad cafe", "a"]
    assert "".join(own.decode_stream(ids)) == "bad cafe"
    assert (own.lossless, isinstance(own, HasTokenBytes)) == (False, False)
    with pytest.raises(ValueError, match="vocabulary"):
        own.decode([own.vocab_size])


def test_clip_decodes_its_ends_of_words(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    names = ["<|startoftext|>", "<|endoftext|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        ["low lower lowest"] * 9,
        trainers.BpeTrainer(vocab_size=600, end_of_word_suffix="</w>", special_tokens=names, initial_alphabet=alphabet),
    )
    folder = make_folder(tmp_path / "clip", {"tokenizer_class": "CLIPTokenizer"})
    made.model.save(str(folder))
    tokenizer = tokbench.load(str(folder))
    assert tokenizer.decode(tokenizer.encode("low lower")) == "low lower"


@pytest.mark.parametrize("door", ["hf", "transformers"])
def test_advice_on_code_of_strangers_can_be_followed(door, tmp_path):
    config = {"tokenizer_class": "MyTokenizer", "auto_map": {"AutoTokenizer": ["letters.LettersTokenizer", None]}}
    folder = make_folder(tmp_path / "own", config, letters__py=OWN_CODE)
    with pytest.raises(tokbench.BackendError, match=r"backend: transformers, path: .*own, trust_remote_code: true"):
        tokbench.load(door, path=str(folder))
    code = "import sys, tokbench; print(tokbench.load('hf', path=sys.argv[1], trust_remote_code=True).encode('abc'))"
    assert run(code, folder, HF_HOME=tmp_path / "home").stdout == "[97, 98, 99]\n"


@pytest.mark.slow
def test_an_object_is_run_by_its_own_pipeline(data, tmp_path):
    import transformers

    (tmp_path / "tokenizer.model").write_bytes((data / "spm" / "mistral_v1.model").read_bytes())
    theirs = transformers.LlamaTokenizer.from_pretrained(tmp_path)
    theirs.add_tokens([transformers.AddedToken("<tool>", lstrip=True, rstrip=True)])
    assert tokbench.load(theirs).encode("a <tool>you") == theirs.encode("a <tool>you", add_special_tokens=False)
