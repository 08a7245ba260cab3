"""``encoder.json`` and ``vocab.bpe``: the original files come back byte for byte, and give tiktoken's ids."""

import pytest
import tiktoken
from difficult_texts import TEXTS, hostile, pud
from formats_data import engine, same, trained
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe.formats import Parts, read_gpt2_files, write_gpt2_files
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, bytes_of_name, name_of_bytes
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary


@pytest.fixture
def paths(tmp_path):
    return tmp_path / "encoder.json", tmp_path / "vocab.bpe"


@pytest.fixture(scope="module")
def published(data, tiktoken_files):
    rows = (line.split("\t") for line in (data / "tiktoken_names.tsv").read_text().splitlines())
    named = {row[1]: data / "tiktoken_cache" / row[0] for row in rows}
    return named["encoder.json"], named["vocab.bpe"]


@given(token=st.binary())
def test_names_and_bytes(token):
    assert bytes_of_name(name_of_bytes(token)) == token


def test_the_alphabet_is_that_of_tokenizers():
    tokenizers = pytest.importorskip("tokenizers")
    assert sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == sorted(BYTE_TO_CHARACTER)
    split = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in [*TEXTS, *hostile()]:
        assert "".join(piece for piece, _ in split.pre_tokenize_str(text)) == name_of_bytes(text.encode())


@pytest.mark.slow
def test_original_files_give_tiktokens_ids(published, data, paths):
    parts = read_gpt2_files(*published)
    assert parts.special.ids == {"<|endoftext|>": 50256}
    oracle, ours = tiktoken.get_encoding("gpt2"), engine(parts)
    for text in [*TEXTS, *hostile(), *pud(data)[::20]]:
        assert ours.encode(text) == oracle.encode_ordinary(text), text
    assert ours.encode_with_special("a<|endoftext|>", allowed_special="all") == [64, 50256]
    assert parts.vocabulary == vocabulary_of_ranks(oracle._mergeable_ranks)
    write_gpt2_files(*paths, parts)
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in published]


@pytest.mark.parametrize("pattern", [None, "o200k"])
def test_round_trip(pattern, paths):
    parts = trained(pattern)
    write_gpt2_files(*paths, parts)
    same(read_gpt2_files(*paths, pattern), parts)


def test_ids_need_not_follow_ranks(paths):
    letters = tuple(bytes([byte]) for byte in range(256))
    vocabulary = Vocabulary((b"", *letters, b"abc", b"ab"), tuple(range(1, 257)), ((98, 99, 258), (258, 100, 257)))
    parts = Parts(vocabulary, "gpt2", SpecialTokens({"<s>": 0}))
    write_gpt2_files(*paths, parts)
    same(read_gpt2_files(*paths), parts)
    assert engine(parts).encode("abc ab") == [257, 33, 258]


@pytest.mark.parametrize(
    ("merges", "place", "reason"),
    [
        ("", 1, "'' is not two tokens"),
        ("#version: 0.2\na b\nab\n", 3, "'ab' is not two tokens"),
        ("#version: 0.2\na  b\n", 2, "'a  b' is not two tokens"),
    ],
)
def test_damaged_merges_are_refused_with_their_line(merges, place, reason, paths):
    write_gpt2_files(*paths, trained("gpt2"))
    paths[1].write_text(merges)
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        read_gpt2_files(*paths)
    assert str(caught.value).startswith(f"{paths[1]}:{place}: ")


@pytest.mark.parametrize("header", ["", "#version: 0.2 - Trained by tokenizers\n"])
def test_any_header_or_none_is_read(header, paths):
    tokenizers = pytest.importorskip("tokenizers")
    parts = trained("gpt2")
    write_gpt2_files(*paths, parts)
    paths[1].write_text(header + paths[1].read_text().partition("\n")[2])
    same(read_gpt2_files(*paths), parts)
    oracle = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(*map(str, paths)))
    oracle.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert [oracle.encode(text).ids for text in TEXTS] == [engine(parts).encode(text) for text in TEXTS]


def test_files_that_do_not_belong_together(paths):
    write_gpt2_files(*paths, trained("gpt2"))
    header, first, *_ = paths[1].read_text().split("\n")
    paths[1].write_text(f"{header}\n{first}\nz q\n")
    with pytest.raises(tokbench.BackendError, match=r"vocab.bpe:3 merges 'z' and 'q', but no token is 'zq'") as caught:
        read_gpt2_files(*paths)
    assert str(caught.value).startswith(f"{paths[0]}: ")
    paths[1].write_bytes(b"#version: 0.2\n\xff b\n")
    with pytest.raises(tokbench.BackendError, match=r"vocab.bpe:2:1: not UTF-8"):
        read_gpt2_files(*paths)
