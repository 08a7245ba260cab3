"""tiktoken behind the contract: encodings by name, files, ranks trained here, and every refusal."""

import base64
import pickle

import pytest
import tiktoken
from difficult_texts import TEXTS, hostile
from pydantic import ValidationError

import tokbench
from tokbench.plugin import silent
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe import train as train_bpe
from tokbench_plugins.tiktoken.backend import SPEC, TiktokenLoadOptions, TiktokenTrainOptions

BYTES = [base64.b64encode(bytes([b])) + b" %d" % b for b in range(256)]


def load(**options):
    return SPEC.load(TiktokenLoadOptions(**options))


def train(documents, vocab_size, **options):
    return SPEC.train(documents, vocab_size, TiktokenTrainOptions(**options), silent)


def tiny(tmp_path, *lines, name="tiny.tiktoken", **options):
    path = tmp_path / name
    path.write_bytes(b"\n".join([*BYTES, *lines]))
    return load(path=path, **options)


@pytest.fixture(scope="module")
def cl100k(data, tiktoken_files):
    return load(encoding="cl100k_base")


def test_published_examples(cl100k):
    assert cl100k.encode("    hello world!!!") == [262, 24748, 1917, 12340]
    assert cl100k.vocab_size == 100277
    gpt2 = load(encoding="gpt2")
    assert gpt2.encode("    hello world!!!") == [220, 220, 220, 23748, 995, 10185]
    assert gpt2.vocab_size == 50257
    assert gpt2.token_bytes(50256) == b"<|endoftext|>"


@pytest.mark.slow
def test_published_file_brings_its_split(data, tmp_path, tiktoken_files):
    rows = (line.split("\t") for line in (data / "tiktoken_names.tsv").read_text().splitlines())
    [cached] = [row[0] for row in rows if row[1] == "r50k_base.tiktoken"]
    path = tmp_path / "any.tiktoken"
    path.write_bytes((data / "tiktoken_cache" / cached).read_bytes())
    oracle = tiktoken.get_encoding("r50k_base")
    texts = [*TEXTS, *hostile(), *(data / "pud" / "th.txt").read_text(encoding="utf-8").splitlines()[:200]]
    for tokenizer in (load(path=path), tokbench.load("tokbench_bpe", path=path)):
        assert tokenizer.notes == ()
        assert [tokenizer.encode(text) for text in texts] == [oracle.encode_ordinary(text) for text in texts]
    assert load(path=path, pattern="[a-z]+|[^a-z]+").encode("a1") == oracle.encode_ordinary(
        "a"
    ) + oracle.encode_ordinary("1")


def test_assumed_split_is_a_caution(tmp_path):
    for tokenizer in (tiny(tmp_path), tokbench.load("tokbench_bpe", path=tmp_path / "tiny.tiktoken")):
        [note] = tokenizer.notes
        assert note.startswith("caution: split gpt4 assumed")
        assert pickle.loads(pickle.dumps(tokenizer)).notes == tokenizer.notes
    assert tiny(tmp_path, pattern="gpt4").notes == ()


@pytest.mark.parametrize("pattern", ["gpt2", None, r"\p{N}{1,3}| +(?!\S)"])
def test_export_brings_its_split(pattern, tmp_path):
    documents = ["in the end, in the end: 12345 lower lowest!!  ", "été HTTPServer's ÉTÉ\n\n x"] * 3
    ours = BPETokenizer(train_bpe(documents, 300, pattern), pattern)
    path = tmp_path / "ours.tiktoken"
    ours.export("tiktoken", path)
    texts = [*TEXTS, *documents]
    for tokenizer in (load(path=path), tokbench.load("tokbench_bpe", path=path)):
        assert tokenizer.notes == ()
        assert [tokenizer.encode(text) for text in texts] == [ours.encode(text) for text in texts]
    ours.export("gpt2", tmp_path / "gpt2")
    files = {"encoder": tmp_path / "gpt2" / "encoder.json", "vocab": tmp_path / "gpt2" / "vocab.bpe"}
    assert [tokbench.load("gpt2_files", **files).encode(text) for text in texts] == [
        ours.encode(text) for text in texts
    ]


def test_split_of_another_file_is_not_taken(tmp_path):
    path, split = tmp_path / "tiny.tiktoken", tmp_path / "tiny.tiktoken.pattern"
    BPETokenizer([(97, 98)], "gpt2").export("tiktoken", path)
    assert tiny(tmp_path).notes
    BPETokenizer([(97, 98)], "gpt2").export("tiktoken", path)
    assert not load(path=path).notes
    split.write_text(split.read_text().partition("\n")[0] + "\n(")
    with pytest.raises(tokbench.BackendError, match=r"tiny\.tiktoken\.pattern: "):
        load(path=path)


def test_trained_ranks_give_the_ids_of_their_trainer():
    texts = TEXTS + hostile()
    reference = BPETokenizer(train_bpe(texts, 500, "o200k"), "o200k")
    tokenizer = train(texts, 500, pattern="o200k")
    assert tokenizer.vocab_size == reference.vocab_size
    assert [tokenizer.encode(text) for text in texts] == [reference.encode(text) for text in texts]
    assert [tokenizer.token_bytes(i) for i in range(256, 500)] == [reference.token_bytes(i) for i in range(256, 500)]


def test_special_tokens_of_a_file(tmp_path):
    tokenizer = tiny(tmp_path, special_tokens={"<end>": 300})
    assert tokenizer.encode("<end>") == list(b"<end>")
    assert (tokenizer.vocab_size, tokenizer.token_bytes(300), tokenizer.token_bytes(299)) == (301, b"<end>", b"")
    with pytest.raises(tokbench.BackendError, match=r"special token '<end>' has id 97, the id of b'a'"):
        tiny(tmp_path, special_tokens={"<end>": 97})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"YWI=", "not a base64 token and its rank"),
        (b"YQ== 256", "token b'a' or rank 256 is invalid or there twice"),
    ],
)
def test_damaged_files_are_refused_with_their_line(tmp_path, line, reason):
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        tiny(tmp_path, line)
    assert str(caught.value).startswith(f"{tmp_path / 'tiny.tiktoken'}:257: ")
    assert "\n" not in str(caught.value)


def test_incomplete_and_absent_files(tmp_path):
    path = tmp_path / "half.tiktoken"
    path.write_bytes(b"\n".join(BYTES[:128]))
    with pytest.raises(tokbench.BackendError, match=r"half.tiktoken: no token for the byte 0x80"):
        load(path=path)
    with pytest.raises(tokbench.BackendError, match=r"absent.tiktoken: No such file or directory"):
        load(path=tmp_path / "absent.tiktoken")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "give either 'encoding' or 'path'"),
        ({"encoding": "gpt2", "pattern": "gpt4"}, "goes with 'path'"),
        ({"path": "x.tiktoken", "pattern": "gpt-4"}, "did you mean 'gpt4'"),
    ],
)
def test_options_are_refused(options, reason):
    with pytest.raises(ValidationError, match=reason):
        TiktokenLoadOptions(**options)
