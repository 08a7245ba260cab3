"""The backend of GPT-2's own files: tiktoken's ids, and every refusal."""

import pytest
import tiktoken
from difficult_texts import TEXTS, hostile, pud
from formats_data import engine, trained
from pydantic import ValidationError

import tokbench
from tokbench_plugins.bpe.formats import write_gpt2_files
from tokbench_plugins.gpt2_files import SPEC, GPT2FilesLoadOptions


def load(**options):
    return SPEC.load(GPT2FilesLoadOptions(**options))


@pytest.fixture
def files(tmp_path):
    paths = {"encoder": tmp_path / "encoder.json", "vocab": tmp_path / "vocab.bpe"}
    write_gpt2_files(**paths, parts=trained("o200k"))
    return paths


def test_ids_are_those_of_the_vocabulary_that_was_written(files):
    tokenizer, ours = load(**files, pattern="o200k"), engine(trained("o200k"))
    texts = TEXTS + hostile()
    assert [tokenizer.encode(text) for text in texts] == [ours.encode(text) for text in texts]
    first = tokenizer.vocab_size - 2
    assert tokenizer.encode_with_special("<|im_start|><|im_end|>", allowed_special="all") == [first, first + 1]
    assert first not in tokenizer.encode("<|im_start|>")


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_the_original_files_give_tiktokens_ids(data):
    rows = (line.split("\t") for line in (data / "tiktoken_names.tsv").read_text().splitlines())
    named = {row[1]: data / "tiktoken_cache" / row[0] for row in rows}
    gpt2, oracle = load(encoder=named["encoder.json"], vocab=named["vocab.bpe"]), tiktoken.get_encoding("gpt2")
    texts = [*TEXTS, *hostile(), *pud(data)[::10]]
    assert gpt2.encode_batch(texts).ids.tolist() == [i for text in texts for i in oracle.encode_ordinary(text)]
    assert gpt2.vocab_size == oracle.n_vocab == 50257
    assert gpt2.token_bytes(50256) == b"<|endoftext|>"


def test_refusals(files, tmp_path):
    with pytest.raises(tokbench.BackendError, match=r"none\.json: "):
        load(encoder=tmp_path / "none.json", vocab=files["vocab"])
    with pytest.raises(tokbench.BackendError, match=r"encoder\.json:1: "):
        load(encoder=files["encoder"], vocab=files["encoder"])
    with pytest.raises(tokbench.BackendError, match=r"vocab\.bpe:1:1: not JSON"):
        load(encoder=files["vocab"], vocab=files["vocab"])
    with pytest.raises(ValidationError, match="did you mean 'gpt4'"):
        GPT2FilesLoadOptions(**files, pattern="gpt-4")
