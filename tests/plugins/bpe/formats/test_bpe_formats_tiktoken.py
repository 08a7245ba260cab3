"""Files of tiktoken and GPT-2, and expressions for another engine: the same ids, or refused."""

import pickle

import pytest
import regex
import tiktoken
import tokenizers
from difficult_texts import TEXTS, hostile
from formats_data import engine, same, sentences, trained
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tiktoken.load import load_tiktoken_bpe

import tokbench
from tokbench.inspect.examine import examine
from tokbench_plugins.bpe import PATTERNS as NAMED
from tokbench_plugins.bpe import Splitter, resolve_pattern
from tokbench_plugins.bpe.formats import (
    Parts,
    ranks_of,
    read_gpt2_files,
    read_ranks,
    read_tokenizer_json,
    write_gpt2_files,
    write_ranks,
)
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, bytes_of_name, name_of_bytes
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary


def loaded_by_tiktoken(path, pattern):
    # Without a pattern the whole text is one chunk.
    expression = r"(?s:.+)" if pattern is None else resolve_pattern(pattern)
    return tiktoken.Encoding("x", pat_str=expression, mergeable_ranks=load_tiktoken_bpe(str(path)), special_tokens={})


@pytest.mark.parametrize("pattern", [None, "gpt2", "o200k"])
def test_tiktoken_gives_the_same_ids(pattern, tmp_path, data):
    parts = trained(pattern)
    path = tmp_path / "x.tiktoken"
    write_ranks(path, ranks_of(parts.vocabulary))
    assert vocabulary_of_ranks(read_ranks(path)) == parts.vocabulary
    oracle, ours = loaded_by_tiktoken(path, pattern), engine(parts)
    for text in TEXTS + hostile() + sentences(data, 100):
        assert oracle.encode_ordinary(text) == ours.encode(text), text


def _like_whisper(path):
    """Write ranks of the shape of OpenAI's for Whisper, whose last line is an empty token, and return what it says."""
    ranks = ranks_of(trained("gpt2").vocabulary)
    last = max(ranks.values()) + 1
    write_ranks(path, ranks)
    with path.open("ab") as file:
        file.write(b"= %d\n" % last)
    return last


def test_an_empty_token_is_an_id_that_decodes_to_nothing(tmp_path):
    path = tmp_path / "whisper.tiktoken"
    last = _like_whisper(path)
    oracle = loaded_by_tiktoken(path, "gpt2")
    for name in ("tokbench_bpe", "tiktoken"):
        tokenizer = tokbench.load(name, path=path, pattern="gpt2")
        assert tokenizer.vocab_size == oracle.n_vocab == last + 1
        assert (tokenizer.token_bytes(last), tokenizer.decode([last])) == (b"", "")
        assert tokenizer.decode([104, last, 105]) == oracle.decode([104, last, 105])
        for text in ["", "low lower", *TEXTS]:
            ids = list(tokenizer.encode(text))
            assert ids == oracle.encode_ordinary(text)
            assert last not in ids
        assert len(tokenizer.merges) == last - 256
        assert pickle.loads(pickle.dumps(tokenizer)).vocab_size == last + 1
        assert (inspected := examine(tokenizer)).vocab_size == last + 1
        assert inspected.kinds["gap"] == 1


def test_an_empty_token_is_written_and_read_back(tmp_path):
    path = tmp_path / "whisper.tiktoken"
    last = _like_whisper(path)
    ours = tokbench.load("tokbench_bpe", path=path, pattern="gpt2")
    for name in ("tiktoken", "huggingface"):
        ours.export(name, tmp_path / name)
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "huggingface"))
    assert library.get_vocab_size() == last + 1
    assert vocabulary_of_ranks(read_ranks(tmp_path / "tiktoken")) == ours.vocabulary
    assert read_tokenizer_json(tmp_path / "huggingface").vocabulary == ours.vocabulary


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_a_published_file_comes_back_byte_for_byte(data, tmp_path):
    names = (line.split("\t")[:2] for line in (data / "tiktoken_names.tsv").read_text().splitlines())
    [source] = [data / "tiktoken_cache" / cached for cached, name in names if name.startswith("r50k")]
    again = tmp_path / "again.tiktoken"
    write_ranks(again, ranks_of(vocabulary_of_ranks(read_ranks(source))))
    assert again.read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    ("line", "place", "reason"),
    [
        (b"YWI=", 257, "not a base64 token and its rank: 'YWI='"),
        (b"YWI= 2_56", 257, "not a base64 token"),
        (b"YWI= 99999999999", 257, "not a base64 token"),
        (b"YWI= 256\n\n== 257", 259, "not a base64 token"),
        (b"YWI= 256\nYWM= 256", 258, "token b'ac' or rank 256 is invalid or there twice"),
    ],
)
def test_damage_is_refused_with_its_line(line, place, reason, tmp_path):
    path = tmp_path / "x.tiktoken"
    write_ranks(path, {bytes([byte]): byte for byte in range(256)})
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        read_ranks(path)
    assert str(caught.value).startswith(f"{path}:{place}: ")


@pytest.fixture
def paths(tmp_path):
    return tmp_path / "encoder.json", tmp_path / "vocab.bpe"


@given(token=st.binary())
def test_names_and_bytes(token):
    assert bytes_of_name(name_of_bytes(token)) == token


def test_the_alphabet_is_that_of_tokenizers():
    assert sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == sorted(BYTE_TO_CHARACTER)
    split = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in [*TEXTS, *hostile()]:
        assert "".join(piece for piece, _ in split.pre_tokenize_str(text)) == name_of_bytes(text.encode())


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


@pytest.mark.parametrize(
    "pattern", [*NAMED, r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}", r"(?>\d{2,})"]
)
def test_known_expressions_are_shared(pattern):
    check_shared_dialect(resolve_pattern(pattern))


@pytest.mark.parametrize(
    "pattern", [r"\p{N}{1,3}+", "a{2}?", "a$", r"[\w']+", "(?m)a", "[a&&b]", r"(a)\1", r"\x85", r"\X"]
)
def test_doubtful_expressions_are_refused(pattern):
    with pytest.raises(ValueError, match="differently from character"):
        check_shared_dialect(pattern)


ATOMS = st.sampled_from(
    r"\p{L} \p{N} \s \S . a \x20 ' (?:ab|a) (?>a|ab) [^\s\p{L}] [a-z0] \d \n (?i:re) [\r\n/] [^a]".split(" ")
)
QUANTIFIERS = st.sampled_from(
    ["", "", "+", "*", "?", "++", "?+", "*+", "+?", "*?", "??", "{1,3}", "{2}", "{2,}", "{1,2}?"]
)
ENDS = st.sampled_from(["", "", "", r"(?!\S)", r"(?=a)", "(?<=b)", r"(?<!\s)"])
EXPRESSIONS = st.lists(
    st.lists(st.tuples(ATOMS, QUANTIFIERS).map("".join), min_size=1, max_size=3).map("".join), min_size=1, max_size=4
).map("|".join)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    expression=st.tuples(EXPRESSIONS, ENDS).map("(?:{0[0]}){0[1]}".format),
    texts=st.lists(st.text("abAR' \n\r1²éß中", max_size=12), max_size=8),
)
def test_shared_expressions_split_alike(expression, texts):
    try:
        check_shared_dialect(expression)
    except ValueError:
        reject()
    if any(not match[0] for text in texts for match in regex.finditer(expression, text)):
        reject()  # the engines differ in how they go on from nothing
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(expression), "isolated")
    ours = Splitter(expression)
    for text in texts:
        assert [text[start:end] for _, (start, end) in split.pre_tokenize_str(text)] == ours(text)
