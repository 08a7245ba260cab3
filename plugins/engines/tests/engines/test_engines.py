"""Every engine: its ids held against tiktoken's, document by document, and what its notes tell."""

import os
import re
import sysconfig
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken
from difficult_texts import TEXTS, hostile, pud

import tokbench
from tokbench.plugin import encode_batch
from tokbench.tokenizers.contract import output_of
from tokbench_plugins.tokbench_bpe.vocabulary import ENCODINGS

pytestmark = pytest.mark.usefixtures("shared_store")

NAMES = (
    *("bpe_openai", "fastokens", "gigatoken", "kitoken", "quicktok"),
    *("rs_bpe", "snaptokens", "tokie", "wordchipper"),
)
every = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed"))
        for name in NAMES
    ],
)

ARRAYS = ("fastokens", "gigatoken", "quicktok", "snaptokens")
# Engines whose classes of characters are those of Unicode 17.
NEWER_UNICODE = ("gigatoken", "quicktok", "snaptokens")
# For each engine with other ids somewhere, texts that show it; the shortest there are.
DIFFERENT = {
    **{name: ["\u088f's", "\ua7ce's"] for name in NEWER_UNICODE},
    "tokie": ["\n \n", " \u2167", "\u24b6's", "\u088f's", ("x = {\n            1}\n" * 3500)[:66_000]],
}
# Where tokie differs, as its note says.
TOKIE = re.compile(r"[\u2160-\u2188]|\ufe0f|\n[^\S\n]+\n")


@cache
def load(name, encoding="cl100k_base"):
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        pytest.skip("TIKTOKEN_CACHE_DIR names no folder with tiktoken's files")
    return tokbench.load(name, encoding=encoding)


@cache
def library():
    """A megabyte of the standard library's sources."""
    texts, size = [], 0
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        texts.append(file.read_text(encoding="utf-8"))
        size += len(texts[-1])
        if size > 1_000_000:
            break
    return texts


def spelled():
    tokens = [token for facts in ENCODINGS.values() for token in facts.special]
    return [text for token in tokens for text in (token, f"a{token}b", f"  {token} {token}\n")] + ["a <|im_start|>"]


@cache
def reference_ids(texts, encoding):
    ids, offsets = encode_batch(load("tiktoken", encoding), texts)
    return [ids[start:end].tolist() for start, end in pairwise(offsets)]


def differing(name, texts, encoding="cl100k_base"):
    """The texts to which the engine gives other ids than tiktoken's engine, in a batch and by ``encode``."""
    tokenizer = load(name, encoding)
    ids, offsets = encode_batch(tokenizer, texts)
    found = []
    expected = reference_ids(tuple(texts), encoding)
    for number, (text, start, end) in enumerate(zip(texts, offsets[:-1], offsets[1:], strict=True)):
        ours = ids[start:end].tolist()
        if number % 10 == 0:
            assert list(tokenizer.encode(text)) == ours
        if ours != expected[number]:
            found.append(text)
    return found


@pytest.mark.matrix
@pytest.mark.slow
@every
def test_tokens_are_those_of_tiktoken(name, capfd):
    """Most engines panic at an id that they do not have; these are put together from the vocabulary."""
    tokenizer, reference = load(name), load("tiktoken")
    assert tokenizer.vocab_size == reference.vocab_size == 100277
    assert output_of(tokenizer) == ("arrays" if name in ARRAYS else "lists")
    some = [*range(0, 100250, 97), *range(100250, 100277)]
    assert [tokenizer.token_bytes(i) for i in some] == [reference.token_bytes(i) for i in some]
    assert tokenizer.special_ids == ENCODINGS["cl100k_base"].special
    [a], end = tokenizer.encode("a"), tokenizer.special_ids["<|endoftext|>"]
    assert tokenizer.decode([a, end, a]) == "a<|endoftext|>a"
    assert tokenizer.decode([a, 100256, 100261, a]) == "aa"
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"
    capfd.readouterr()  # what Rust says of a panic


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "encoding"),
    [*((name, "cl100k_base") for name in NAMES), *((name, "o200k_base") for name in ("bpe_openai", "gigatoken"))],
)
def test_ids_are_tiktoken_s(name, encoding, data):
    pytest.importorskip(name)
    texts = [*TEXTS, *hostile(), *spelled(), *pud(data)[::10], "a\ud800b", "\ud83d\ude00", *library()[:5]]
    texts += ["The quick brown fox. " * 5_000, "a" * 50_000, "语" * 10_000]
    found = differing(name, texts, encoding)
    if name == "tokie":
        found = [text for text in found if not TOKIE.search(text) and len(text.encode()) <= 65_536]
    assert found == []


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in DIFFERENT.items() for text in texts])
def test_what_the_notes_tell_is_so(name, text):
    pytest.importorskip(name)
    assert differing(name, [text]) == [text]
    assert load(name).notes


def processor_time_by_thread():
    """Ticks of the processor that each thread of this process has had."""
    ticks = {}
    for thread in Path("/proc/self/task").iterdir():
        fields = (thread / "stat").read_text().rpartition(")")[2].split()
        ticks[thread.name] = int(fields[11]) + int(fields[12])  # utime and stime, proc(5)
    return ticks


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="/proc tells of threads")
@every
def test_a_batch_is_encoded_on_one_thread(name):
    tokenizer = load(name)
    joined = "".join(library())
    texts = [joined[start : start + 4000] for start in range(0, len(joined), 4000)]
    encode_batch(tokenizer, texts[:10])
    before = processor_time_by_thread()
    used = {"": 0}
    while sum(used.values()) < 25:  # a quarter of a second: of a few ticks one more or less would decide
        encode_batch(tokenizer, texts)
        used = {thread: ticks - before.get(thread, 0) for thread, ticks in processor_time_by_thread().items()}
    # Two threads at a time would have half each. The one thread of snaptokens hands its ids to the caller's, which takes a seventh.
    assert max(used.values()) >= 0.7 * sum(used.values())


@pytest.mark.parametrize("encoding", sorted(ENCODINGS.keys() & tiktoken.list_encoding_names()))
@pytest.mark.usefixtures("tiktoken_files")
def test_what_is_known_of_the_encodings_is_tiktoken_s(encoding):
    reference = tiktoken.get_encoding(encoding)
    special = ENCODINGS[encoding].special
    theirs = {token: reference.encode_single_token(token) for token in reference.special_tokens_set}
    further = theirs.keys() - special.keys()
    assert special.items() <= theirs.items()
    assert all("reserved" in token for token in further) if encoding == "o200k_harmony" else not further


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", ["snaptokens", "tokbench_bpe"])
def test_llama_3_has_the_ids_of_splintr(name, data):
    """It has tokens whose halves have higher ranks, many of them Russian."""
    reference, tokenizer = tokbench.load("splintr", vocabulary="llama3"), tokbench.load(name, encoding="llama3")
    russian = (data / "pud" / "ru.txt").read_text(encoding="utf-8").splitlines()
    texts = [*TEXTS, *hostile(), *spelled(), *russian]
    assert [list(tokenizer.encode(text)) for text in texts] == [list(reference.encode(text)) for text in texts]


@pytest.mark.slow
def test_what_the_note_of_quicktok_tells_of_llama3_is_so():
    pytest.importorskip("quicktok")
    tokenizer = tokbench.load("quicktok", encoding="llama3")
    reference = tokbench.load("splintr", vocabulary="llama3")
    texts = [*TEXTS, *spelled()]
    assert [list(tokenizer.encode(text)) for text in texts] == [list(reference.encode(text)) for text in texts]
    cut = [[one.token_bytes(i).decode() for i in one.encode(" считал")] for one in (tokenizer, reference)]
    assert cut == [[" счита", "л"], [" счит", "ал"]]
    assert " считал" in tokenizer.notes[-1]
