"""The backend of GPT-2's own files: tiktoken's ids, the contract, and every refusal."""

import pytest
import tiktoken
from backend_checks import TEXTS, check_batch, check_bytes, check_pickle, hostile, pud, specs_of
from formats_data import engine, trained
from pydantic import ValidationError

import tokbench
from tokbench.tokenizers.contract import EncodesBatch, HasTokenBytes, Tokenizer
from tokbench_plugins import gpt2_files
from tokbench_plugins.bpe.formats import write_gpt2_files
from tokbench_plugins.gpt2_files import GPT2FilesLoadOptions

SPEC = specs_of(gpt2_files)["gpt2_files"]


def load(**options):
    return SPEC.load(GPT2FilesLoadOptions(**options))


@pytest.fixture
def files(tmp_path):
    paths = {"encoder": tmp_path / "encoder.json", "vocab": tmp_path / "vocab.bpe"}
    write_gpt2_files(**paths, parts=trained("o200k"))
    return paths


@pytest.fixture(scope="module")
def gpt2(data, tiktoken_files):
    rows = (line.split("\t") for line in (data / "tiktoken_names.tsv").read_text().splitlines())
    named = {row[1]: data / "tiktoken_cache" / row[0] for row in rows}
    return load(encoder=named["encoder.json"], vocab=named["vocab.bpe"])


def test_the_contract(files):
    tokenizer = load(**files, pattern="o200k")
    for protocol in (Tokenizer, EncodesBatch, HasTokenBytes):
        assert isinstance(tokenizer, protocol)
    texts = TEXTS + hostile()
    check_batch(tokenizer, texts)
    check_bytes(tokenizer, texts)
    check_pickle(tokenizer)
    assert [tokenizer.encode(text) for text in texts] == [engine(trained("o200k")).encode(text) for text in texts]
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts


@pytest.mark.slow
def test_the_original_files_give_tiktokens_ids(gpt2, data):
    oracle = tiktoken.get_encoding("gpt2")
    texts = TEXTS + hostile() + pud(data)
    ids, offsets = gpt2.encode_batch(texts)
    for k, text in enumerate(texts):
        assert ids[offsets[k] : offsets[k + 1]].tolist() == oracle.encode_ordinary(text), text
    assert gpt2.vocab_size == oracle.n_vocab == 50257
    assert gpt2.token_bytes(50256) == b"<|endoftext|>"
    assert max(gpt2.encode("<|endoftext|>")) < 50256


def test_special_tokens_are_known(files):
    tokenizer = load(**files)
    first = tokenizer.vocab_size - 2
    assert tokenizer.encode_with_special("<|im_start|><|im_end|>", allowed_special="all") == [first, first + 1]
    assert first not in tokenizer.encode("<|im_start|>")


def test_refusals(files, tmp_path):
    with pytest.raises(tokbench.BackendError, match=r"none\.json: No such file or directory"):
        load(encoder=tmp_path / "none.json", vocab=files["vocab"])
    with pytest.raises(tokbench.BackendError, match=r"encoder\.json:1: .* is it a vocab.bpe or merges.txt\?"):
        load(encoder=files["encoder"], vocab=files["encoder"])
    with pytest.raises(tokbench.BackendError, match=r"vocab\.bpe:1:1: not JSON"):
        load(encoder=files["vocab"], vocab=files["vocab"])
    with pytest.raises(ValidationError, match="did you mean 'gpt4'"):
        GPT2FilesLoadOptions(**files, pattern="gpt-4")
    with pytest.raises(ValidationError, match="Input should be 'auto', 'python'"):
        GPT2FilesLoadOptions(**files, engine="rust")
    with pytest.raises(ValidationError, match="Field required"):
        GPT2FilesLoadOptions(encoder="x")
