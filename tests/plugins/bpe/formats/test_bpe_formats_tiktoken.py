"""``.tiktoken`` files: tiktoken loads them and gives the same ids; what they cannot say is refused."""

import pickle

import pytest
import tiktoken
import tokenizers
from difficult_texts import TEXTS, hostile
from formats_data import engine, sentences, trained
from tiktoken.load import load_tiktoken_bpe

import tokbench
from tokbench.inspect.examine import examine
from tokbench_plugins.bpe import resolve_pattern
from tokbench_plugins.bpe.formats import (
    ranks_of,
    read_ranks,
    read_tokenizer_json,
    write_ranks,
)
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks


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
