"""Every condition at every door: what is written gives the same ids to its readers, or is refused."""

import itertools
import random

import pytest
import tiktoken

import tokbench
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.formats import EXPORTS, read_pattern, read_ranks
from tokbench_plugins.bpe.recovery.order import first_merges
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

tokenizers = pytest.importorskip("tokenizers")

LETTERS = tuple(bytes([byte]) for byte in range(256))
ONE_BY_ONE = tuple(range(256))
A, B, C, AB = 97, 98, 99, 256
TEXTS = ["".join(some) for size in range(1, 7) for some in itertools.product("abc", repeat=size)] + [
    " abc ab",
    "cab aab\n",
]

SOUND = Vocabulary((*LETTERS, b"ab", b"abc"), ONE_BY_ONE, ((A, B, AB), (AB, C, 257)))
VOCABULARIES = {
    "sound": SOUND,
    "ids in another order": Vocabulary((*LETTERS, b"abc", b"ab"), ONE_BY_ONE, ((A, B, 257), (257, C, 256))),
    "same bytes twice": Vocabulary(
        (*LETTERS, b"ab", b"bc", b"abc", b"abc"), ONE_BY_ONE, ((A, B, AB), (B, C, 257), (AB, C, 258), (A, 257, 259))
    ),
    "two ways to a token": Vocabulary(
        (*LETTERS, b"ab", b"bc", b"abc"), ONE_BY_ONE, ((A, B, AB), (B, C, 257), (AB, C, 258), (A, 257, 258))
    ),
    "a gap": Vocabulary((*LETTERS, b"ab", b"", b"abc"), ONE_BY_ONE, ((A, B, AB), (AB, C, 258))),
    "looked up": Vocabulary((*LETTERS, b"abc"), ONE_BY_ONE, (), frozenset({256})),
    "looked up, but not all": Vocabulary((*LETTERS, b"abc", b"bca"), ONE_BY_ONE, (), frozenset({256})),
    "never given": Vocabulary((*LETTERS, b"abc"), ONE_BY_ONE, ()),
}
WRITTEN = {
    "sound": {"tiktoken", "huggingface", "gpt2", "gguf", "cut"},
    "ids in another order": {"huggingface", "gpt2", "gguf", "cut"},
    "same bytes twice": {"cut"},  # the first merge alone makes "ab"
    "two ways to a token": {"huggingface", "gpt2", "gguf", "cut"},
    "a gap": {"tiktoken", "huggingface", "gpt2", "gguf", "cut"},
    "looked up": {"tiktoken", "huggingface"},
    "looked up, but not all": set(),
    "never given": {"huggingface", "gguf"},
}


def readers(form, path):
    """Yield what reads a file, each as a function from text to ids."""
    load = tokbench.load
    if form == "tiktoken":
        ranks, pattern = read_ranks(path), read_pattern(path)
        yield tiktoken.Encoding("read", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}).encode_ordinary
        yield load("tokbench_bpe", path=str(path)).encode
    if form == "huggingface":
        library = tokenizers.Tokenizer.from_file(str(path))
        yield lambda text: library.encode(text, add_special_tokens=False).ids
        yield load("tokbench_bpe", path=str(path)).encode
    if form == "gpt2":
        yield load("gpt2_files", encoder=str(path / "encoder.json"), vocab=str(path / "vocab.bpe")).encode
    if form == "gguf":
        yield load("gguf", path=str(path)).encode


def written(tokenizer, folder, texts=TEXTS, forms=EXPORTS):
    """Return the formats that a tokenizer is written in; all readers give its ids."""
    expected = [tokenizer.encode(text) for text in texts]
    done = set()
    for form in forms:
        path = folder / f"x{EXPORTS[form][0] or '_files'}"
        try:
            tokenizer.export(form, path)
        except tokbench.BackendError:
            assert not path.exists() or (path.is_dir() and not list(path.iterdir()))
            continue
        done.add(form)
        for encode in readers(form, path):
            assert [encode(text) for text in texts] == expected, form
    return done


@pytest.mark.packages
@pytest.mark.parametrize("name", VOCABULARIES)
def test_each_door_writes_the_same_ids_or_refuses(name, tmp_path):
    pytest.importorskip("gguf", reason="gguf is not installed")
    vocabulary = VOCABULARIES[name]
    done = written(BPETokenizer(vocabulary, "gpt2"), tmp_path)
    try:
        first_merges(vocabulary, 257)
        done.add("cut")
    except (ValueError, tokbench.BackendError):
        pass
    assert done == WRITTEN[name]


SPLITS = {
    r"\p{L}+|\P{L}": {"tiktoken", "huggingface"},
    r"\w+|\W": {"tiktoken"},
    r"(?i:'s|'t)|\w+|\W": {"tiktoken"},
    r"(?i:'s|'t)|\p{L}+|\P{L}": {"tiktoken", "huggingface"},
    r"(?i:[a-z]+)|\P{L}|\p{L}": set(),
    r"[\p{L}&&[^a-z]]+|\P{L}|\p{L}": set(),
    r"[[:alpha:]]+|\P{L}|\p{L}": set(),
    r"\h+|\P{L}|\p{L}": set(),
    r"\p{XDigit}+|\P{L}|\p{L}": set(),
    r"\p{L}*": set(),
}
ODD = ["\u180e½\n\x85Σ²\u2028é", "ı.11١AİΣⓐ", "x'ſ'S ab\u00a0abc", "AABBCC aabbcc"]


@pytest.mark.parametrize("split", SPLITS)
def test_each_split_is_written_alike_or_refused(split, tmp_path):
    tokenizer = BPETokenizer(SOUND, split)
    assert written(tokenizer, tmp_path, [*TEXTS[:50], *ODD], ["tiktoken", "huggingface"]) == SPLITS[split]


def test_a_split_of_tiktokens_dialect_is_not_read_by_another_engine(tmp_path):
    path = tmp_path / "x.tiktoken"
    ranks = {letter: k for k, letter in enumerate(LETTERS)}
    encoding = tiktoken.Encoding("x", pat_str=r"[\w&&[^a]]+|a", mergeable_ranks=ranks, special_tokens={})
    TiktokenTokenizer(encoding).save(path)
    assert tokbench.load("tiktoken", path=str(path)).encode("ab") == [97, 98]
    with pytest.raises(tokbench.BackendError, match="load tiktoken:"):
        tokbench.load("tokbench_bpe", path=str(path))


@pytest.mark.parametrize("name", ["abc", "<|end|>", "été"])
def test_special_tokens_spelled_like_ordinary_ones_are_refused(name, tmp_path):
    tokenizer = BPETokenizer(SOUND, "gpt2", {name: 258})
    assert written(tokenizer, tmp_path, ["ab", "c"], ["huggingface", "gpt2"]) == (
        set() if name == "abc" else {"huggingface", "gpt2"}
    )


def test_a_special_id_inside_the_range_stays_where_it_is(tmp_path):
    vocabulary = Vocabulary((*LETTERS, b"ab", b"", b"abc"), ONE_BY_ONE, ((A, B, AB), (AB, C, 258)))
    tokenizer = BPETokenizer(vocabulary, "gpt2", {"<end>": 257})
    assert written(tokenizer, tmp_path, TEXTS, ["huggingface", "gpt2"]) == {"huggingface", "gpt2"}
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "x.tokenizer.json"))
    assert library.encode("ab<end>abc").ids == [256, 257, 258]


def random_ranks(drawn):
    tokens = {"".join(drawn.choices("abc", k=drawn.randint(2, 4))).encode() for _ in range(drawn.randint(1, 8))}
    ids = drawn.sample(range(256, 256 + 2 * len(tokens)), len(tokens))
    return {letter: k for k, letter in enumerate(LETTERS)} | dict(zip(sorted(tokens), ids, strict=True))


def random_merges(drawn):
    """Return merges in order, whose ids are shuffled; several may make the same bytes."""
    tokens, pairs = list(LETTERS), []
    for _ in range(drawn.randint(1, 8)):
        pair = tuple(drawn.choices([A, B, C, *range(256, len(tokens))], k=2))
        if pair not in pairs and len(tokens[pair[0]] + tokens[pair[1]]) < 6:
            pairs.append(pair)
            tokens.append(tokens[pair[0]] + tokens[pair[1]])
    new = [*ONE_BY_ONE, *drawn.sample(range(256, len(tokens)), len(tokens) - 256)]
    placed = [b""] * len(tokens)
    for token_id, token in enumerate(tokens):
        placed[new[token_id]] = token
    merges = tuple((new[left], new[right], new[256 + rank]) for rank, (left, right) in enumerate(pairs))
    return Vocabulary(tuple(placed), ONE_BY_ONE, merges)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_ranks_are_read_as_by_tiktoken_and_written_alike(seed, tmp_path):
    ranks = random_ranks(random.Random(seed))
    oracle = tiktoken.Encoding("oracle", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})
    tokenizer = BPETokenizer.from_ranks(ranks)
    assert [tokenizer.encode(text) for text in TEXTS] == [oracle.encode_ordinary(text) for text in TEXTS]
    assert {"tiktoken", "huggingface"} <= written(tokenizer, tmp_path, forms=["tiktoken", "huggingface", "gpt2"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_merges_are_written_alike_or_refused(seed, tmp_path):
    vocabulary = random_merges(random.Random(seed))
    done = written(BPETokenizer(vocabulary, "gpt2"), tmp_path, forms=["tiktoken", "huggingface", "gpt2"])
    assert ("gpt2" in done) == (len(set(vocabulary.tokens)) == len(vocabulary.tokens))
