"""The byte table: real and trained tokenizers against the bytes of texts, and the bits per byte of a loss."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.inspect.byte_table import bits_per_byte, byte_table

TEXTS = {"en": ["the cat sat on the mat", ""], "fr": ["une née à l'été"]}


class Liar:
    """Bytes, but the id of ``c`` is said to be two bytes, and id 256 has the name of an end."""

    vocab_size = 257

    def __init__(self):
        self.special_ids = {"<end>": 256}

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return b"".join(b"<end>" if one == 256 else bytes([one]) for one in ids).decode(errors="replace")

    def token_bytes(self, token_id, /):
        return {256: b"<end>", 99: b"cc"}.get(token_id) or bytes([token_id])


def test_trained_bpe_is_exact():
    tokenizer = tokbench.train("naive_bpe", ["the cat sat on the mat, née à l'été " * 30], 300)
    table = byte_table(tokenizer, TEXTS)
    assert (table.exact, table.prefix) == (True, 0)
    assert table.sizes[:256].tolist() == [1] * 256
    assert [(group.bytes, group.counted) for group in table.groups] == [(22, 22), (19, 19)]
    assert table.sizes.dtype == np.int32


def test_wrong_bytes_of_an_id_are_found():
    table = byte_table(Liar(), TEXTS)
    assert [(one.id, one.said, one.decoded) for one in table.wrong] == [(99, b"cc", "aca")]
    assert [group.different for group in table.groups] == [1, 0]
    assert table.sizes[256] == 0
    assert not table.exact


def test_sentencepiece_prefix_unknown_and_special_ids(data):
    model = str(data / "spm/mistral_v1.model")
    table = byte_table(model, {"en": ["Hello there", " led", "é€𐍈"]})
    tokenizer = tokbench.load(model)
    hello, space = tokenizer.encode("Hello")[0], tokenizer.encode("x  y")[1]
    assert (table.prefix, table.special, table.exact) == (1, ("<s>", "</s>"), True)
    assert table.sizes[[hello, space, 1, 2]].tolist() == [6, 1, 0, 0]
    assert table.sizes[3:259].tolist() == [1] * 256  # byte fallback


def test_unknown_tokens_have_no_bytes(data):
    table = byte_table(str(data / "hf/t5-small.tokenizer.json"), {"am": ["ሰላም"], "en": ["hello"]})
    lost, kept = table.groups
    assert (lost.counted, lost.bytes) == (0, 9)
    assert (kept.counted, kept.bytes) == (5, 5)
    assert table.sizes[table.unknown] == 0


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt-2", "gpt-4o", "llama-3", "kimi-k2", "deepseek-v3", "whisper-3"])
def test_lossless_vocabularies_are_exact_on_the_sample(name, tiktoken_files):
    assert byte_table(name).exact


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-2", "gemma-3", "mistral-7b-v1", "qwen-3", "modernbert"])
def test_normalizing_vocabularies_differ_where_they_normalize(name):
    table = byte_table(name)
    assert not table.wrong
    assert {group.group for group in table.groups if group.different} <= {"python", "hostile-markers", "hostile-marks"}


def test_naive_counts_of_pieces_are_wrong(data):
    """What training loops do instead: the marked space as three bytes, or each id decoded alone."""
    processor = pytest.importorskip("sentencepiece").SentencePieceProcessor(str(data / "spm/mistral_v1.model"))
    text = (data / "ntrex/deu.txt").read_text(encoding="utf-8")[:20_000].replace("\n", " ")
    table, ids, true = byte_table(str(data / "spm/mistral_v1.model"), {}), processor.encode(text), len(text.encode())
    assert table.sizes[ids].sum() - table.prefix == true
    pieces = sum(len(processor.id_to_piece(one).encode()) for one in ids)
    alone = sum(len(processor.decode([one]).encode()) for one in ids)
    assert pieces / true > 1.25
    assert alone / true < 0.9


def test_bits_per_byte_by_hand():
    table = byte_table(Liar(), {})
    losses = np.array([[1.0, 2.0], [3.0, 4.0]]) * math.log(2)
    assert bits_per_byte(losses, [[97, 98], [256, -100]], table) == pytest.approx((1 + 2 + 3) / 2)
    assert bits_per_byte([math.log(2)] * 2, [0, 1], [1, 3]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("loss", "ids", "match"),
    [
        (2.5, [97, 98], "not a mean"),
        ([1.0, 2.0], [[97, 98]], "not a mean"),
        ([1.0], [256], "no bytes"),
    ],
)
def test_misuse_of_bits_per_byte_is_refused(loss, ids, match):
    with pytest.raises(tokbench.InputError, match=match):
        bits_per_byte(loss, ids, byte_table(Liar(), {}))


def test_prefix_needs_the_number_of_documents(data):
    table = byte_table(str(data / "spm/mistral_v1.model"), {})
    ids = tokbench.load(str(data / "spm/mistral_v1.model")).encode("Hello")
    with pytest.raises(tokbench.InputError, match="documents="):
        bits_per_byte([1.0] * len(ids), ids, table)
    assert bits_per_byte([math.log(2)] * len(ids), ids, table, documents=1) == pytest.approx(len(ids) / 5)


def test_inspect_writes_the_bytes_of_ids(tmp_path):
    path = tmp_path / "table.npy"
    (tmp_path / "a.txt").write_text("é", encoding="utf-8")
    call = ["inspect", "utf8_bytes", "--bytes", str(path), "--text", str(tmp_path / "a.txt")]
    shown = CliRunner().invoke(command, [*call, "--json"])
    facts = json.loads(shown.stdout)["bytes"]
    assert (shown.exit_code, facts["exact"], facts["longest"], facts["groups"][0]["bytes"]) == (0, True, 1, 2)
    assert np.load(path).tolist() == [1] * 256
    text = CliRunner().invoke(command, call)
    assert (text.exit_code, "1 texts (2 bytes)" in text.stdout) == (0, True)
    assert CliRunner().invoke(command, ["inspect", "utf8_bytes", "--bytes", str(tmp_path / "x.txt")]).exit_code == 2


def test_inspect_says_where_bytes_differ(data, tmp_path):
    model, texts = str(data / "hf/t5-small.tokenizer.json"), str(data / "ntrex/tha.txt")
    shown = CliRunner().invoke(command, ["inspect", model, "--text", texts, "--bytes", str(tmp_path / "table.npy")])
    assert (shown.exit_code, "1,996 of 1,997" in shown.stdout) == (1, True)
