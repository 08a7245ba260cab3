"""Every engine: the contract, and its ids held against tiktoken's, document by document."""

import os
import re
import sysconfig
import threading
import unicodedata
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken
from backend_checks import TEXTS, check_batch, check_bytes, check_pickle, hostile, pud, specs_of
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.tokenizers.contract import DecodesBatch, EncodesBatch, HasNotes, HasTokenBytes, Tokenizer
from tokbench_plugins.engines import (
    bpe_openai_backend,
    fastokens_backend,
    gigatoken_backend,
    kitoken_backend,
    quicktok_backend,
    rs_bpe_backend,
    snaptokens_backend,
    tokie_backend,
    wordchipper_backend,
)
from tokbench_plugins.engines.vocabulary import ENCODINGS
from tokbench_plugins.tiktoken import backend as tiktoken_backend

pytestmark = pytest.mark.usefixtures("shared_store")

MODULES = {
    "bpe_openai": bpe_openai_backend,
    "fastokens": fastokens_backend,
    "gigatoken": gigatoken_backend,
    "kitoken": kitoken_backend,
    "quicktok": quicktok_backend,
    "rs_bpe": rs_bpe_backend,
    "snaptokens": snaptokens_backend,
    "tokie": tokie_backend,
    "wordchipper": wordchipper_backend,
}
SPECS = {name: specs_of(module)[name] for name, module in MODULES.items()}
every = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed"))
        for name in MODULES
    ],
)

# Engines whose classes of characters are those of Unicode 17.
NEWER_UNICODE = ("gigatoken", "quicktok", "snaptokens")
# For each engine with other ids somewhere, texts that show it; the shortest there are.
DIFFERENT = {
    **{name: ["\u088f's", "\ua7ce's"] for name in NEWER_UNICODE},
    "tokie": ["\n \n", " \u2167", "\u24b6's", "\u088f's", ("x = {\n            1}\n" * 3500)[:66_000]],
}


@cache
def load(name, encoding="cl100k_base"):
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        pytest.skip("TIKTOKEN_CACHE_DIR names no folder with tiktoken's files")
    spec = specs_of(tiktoken_backend)["tiktoken"] if name == "tiktoken" else SPECS[name]
    return spec.load(spec.load_options(encoding=encoding))


@cache
def library():
    """Some megabytes of the standard library's sources, and one source of nearly a megabyte."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert sum(map(len, texts)) > 3_000_000
    return [*texts, "".join(texts)[:900_000]]


def spelled():
    tokens = [token for facts in ENCODINGS.values() for token in facts.special]
    return [text for token in tokens for text in (token, f"a{token}b", f"  {token} {token}\n")] + ["a <|im_start|>"]


@cache
def reference_ids(texts, encoding):
    ids, offsets = load("tiktoken", encoding).encode_batch(texts)
    return [ids[start:end].tolist() for start, end in pairwise(offsets)]


def differing(name, texts, encoding="cl100k_base"):
    """The texts to which the engine gives other ids than tiktoken's engine in a batch, which gives those of ``encode``."""
    tokenizer = load(name, encoding)
    ids, offsets = tokenizer.encode_batch(texts)
    found = []
    expected = reference_ids(tuple(texts), encoding)
    for number, (text, start, end) in enumerate(zip(texts, offsets[:-1], offsets[1:], strict=True)):
        ours = ids[start:end].tolist()
        if number % 10 == 0:
            assert list(tokenizer.encode(text)) == ours
        if ours != expected[number]:
            found.append(text)
    return found


@pytest.mark.slow
@every
def test_capabilities(name):
    tokenizer, reference = load(name), load("tiktoken")
    for protocol in (Tokenizer, EncodesBatch, DecodesBatch, HasTokenBytes, HasNotes):
        assert isinstance(tokenizer, protocol)
    assert tokenizer.vocab_size == reference.vocab_size == 100277
    assert all(
        tokenizer.token_bytes(i) == reference.token_bytes(i) for i in [*range(0, 100250, 7), *range(100250, 100277)]
    )
    assert tokenizer.special_ids == ENCODINGS["cl100k_base"].special
    assert tokenizer.lossless
    check_pickle(tokenizer)
    for beyond in (-1, 100277):
        with pytest.raises(ValueError, match="is not in the vocabulary of"):
            tokenizer.token_bytes(beyond)


@pytest.mark.slow
@every
@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_ids_of_sentences_hostile_texts_and_special_tokens_are_tiktoken_s(name, encoding, data):
    sentences = pud(data) if encoding == "cl100k_base" else pud(data)[::7]
    texts = [*TEXTS, *hostile(), *spelled(), *sentences, "", "a\ud800b", "\ud83d\ude00"]
    found = differing(name, texts, encoding)
    if name == "tokie":
        found = [text for text in found if not re.search(r"[\u2160-\u2188]|\ufe0f|\n[^\S\n]+\n", text)]
    assert found == []


@pytest.mark.slow
@every
def test_ids_of_the_standard_library_are_tiktoken_s(name):
    found = differing(name, library())
    if name == "tokie":
        assert len(found) > 3
        found = [text for text in found if len(text.encode()) <= 65_536 and not re.search(r"\n[^\S\n]+\n", text)]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in DIFFERENT.items() for text in texts])
def test_what_the_notes_tell_is_so(name, text):
    pytest.importorskip(name)
    assert differing(name, [text]) == [text]
    assert load(name).notes


@pytest.mark.slow
@every
def test_every_character(name):
    """In fifteen places of a text each; those that this Python does not know are what Unicode 15 to 17 brought."""
    known = [c for c in map(chr, [*range(0x32000), *range(0xE0000, 0xE0200)]) if unicodedata.category(c) != "Cs"]
    texts = [f"a{c}b 1{c} {c}.{c}'s\n{c}{c} \n{c}" for c in known]
    wrong = set(differing(name, texts))
    different = {c for c, text in zip(known, texts, strict=True) if text in wrong}
    if name in NEWER_UNICODE:
        assert 300 < len(different) < 400
        assert {unicodedata.category(c) for c in different} <= {"Cn"}
    elif name == "tokie":
        kinds = {unicodedata.category(c) for c in different}
        assert kinds <= {"Cc", "Cn", "Mn", "Nl", "So", "Zs"}
    else:
        assert different == set()


@pytest.mark.slow
@every
@settings(deadline=None, max_examples=15)
@given(texts=st.lists(st.text(), max_size=4), data=st.data())
def test_any_text_and_any_ids(name, texts, data):
    tokenizer = load(name)
    check_batch(tokenizer, texts)
    check_bytes(tokenizer, texts)
    encoded = tokenizer.encode_batch(texts)
    assert tokenizer.decode_batch(encoded) == texts
    ids = data.draw(st.lists(st.integers(0, 100255), max_size=6))
    assert tokenizer.decode(ids) == b"".join(map(tokenizer.token_bytes, ids)).decode(errors="replace")


@pytest.mark.slow
@every
def test_batches_of_nothing_and_of_lone_surrogates(name):
    tokenizer = load(name)
    check_batch(tokenizer, [])
    check_batch(tokenizer, ["", ""])
    check_batch(tokenizer, ["a", "a\ud800b", ""])
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"


@pytest.mark.slow
@every
def test_ids_that_no_text_gives_are_decoded(name, capfd):
    """Most engines panic at an id that they were not given; these are put together from the vocabulary."""
    tokenizer = load(name)
    end = tokenizer.special_ids["<|endoftext|>"]
    [a] = tokenizer.encode("a")
    assert tokenizer.decode([a, end, a]) == "a<|endoftext|>a"
    assert tokenizer.decode([a, 100256, 100261, a]) == "aa"
    capfd.readouterr()  # what Rust says of a panic


@pytest.mark.slow
@every
@pytest.mark.parametrize("text", ["The quick brown fox. " * 60_000, " " * 100_000, "a" * 50_000, "语" * 10_000])
def test_long_texts(name, text):
    tokenizer = load(name)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert differing(name, [text]) == ([text] if name == "tokie" and text.isspace() else [])


def processor_time_by_thread():
    """Ticks of the processor that each thread of this process has had."""
    ticks = {}
    for thread in Path("/proc/self/task").iterdir():
        fields = (thread / "stat").read_text().rpartition(")")[2].split()
        ticks[thread.name] = int(fields[11]) + int(fields[12])  # utime and stime, proc(5)
    return ticks


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="/proc tells of threads")
@every
def test_a_batch_is_encoded_on_one_thread(name):
    tokenizer = load(name)
    joined = "".join(library())
    texts = [joined[start : start + 4000] for start in range(0, len(joined), 4000)]
    tokenizer.encode_batch(texts[:10])
    before = processor_time_by_thread()
    used = {"": 0}
    while sum(used.values()) < 100:  # a second: of a few ticks one more or less would decide
        tokenizer.encode_batch(texts)
        used = {thread: ticks - before.get(thread, 0) for thread, ticks in processor_time_by_thread().items()}
    # Two threads at a time would have half each. The one thread of snaptokens hands its ids to the caller's, which takes a seventh.
    assert max(used.values()) >= 0.7 * sum(used.values())


@pytest.mark.slow
@every
def test_four_threads_at_a_time(name):
    tokenizer = load(name)
    texts = library()[:30]
    expected = [list(tokenizer.encode(text)) for text in texts]
    found = []

    def work():
        found.append([list(tokenizer.encode(text)) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tokenizer.thread_safe
    assert found == [expected] * 4


@pytest.mark.parametrize("encoding", sorted(ENCODINGS.keys() & tiktoken.list_encoding_names()))
@pytest.mark.usefixtures("tiktoken_files")
def test_what_is_known_of_the_encodings_is_tiktoken_s(encoding):
    reference = tiktoken.get_encoding(encoding)
    special = ENCODINGS[encoding].special
    assert special == {token: reference.encode_single_token(token) for token in reference.special_tokens_set}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fastokens", "gigatoken", "kitoken", "snaptokens", "tokie", "wordchipper"])
@pytest.mark.parametrize("encoding", ["gpt2", "r50k_base"])
def test_the_older_encodings(name, encoding, data):
    pytest.importorskip(name)
    if name == "wordchipper" and encoding == "gpt2":
        pytest.skip("wordchipper has it as r50k_base")
    texts = [*TEXTS, *hostile(), *spelled(), *pud(data)[::20], *library()[:10]]
    assert load(name, encoding).vocab_size == load("tiktoken", encoding).vocab_size
    assert differing(name, texts, encoding) == []


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cl100k_base", "llama3", "o200k_base"])
@pytest.mark.parametrize("name", ["huggingface", "snaptokens", "tokbench_bpe"])
def test_encodings_that_are_made_of_ranks_have_the_ids_of_splintr(name, encoding, data):
    """Llama 3 has tokens whose halves have higher ranks, many of them Russian."""
    reference, tokenizer = tokbench.load("splintr", vocabulary=encoding), tokbench.load(name, encoding=encoding)
    russian = (data / "pud" / "ru.txt").read_text(encoding="utf-8").splitlines()
    texts = [*TEXTS, *hostile(), *spelled(), *pud(data)[::9], *russian]
    assert [list(tokenizer.encode(text)) for text in texts] == [list(reference.encode(text)) for text in texts]


def test_what_the_note_of_quicktok_tells_of_llama3_is_so():
    pytest.importorskip("quicktok")
    tokenizer = tokbench.load("quicktok", encoding="llama3")
    reference = tokbench.load("splintr", vocabulary="llama3")
    texts = [*TEXTS, *spelled()]
    assert [list(tokenizer.encode(text)) for text in texts] == [list(reference.encode(text)) for text in texts]
    cut = [[one.token_bytes(i).decode() for i in one.encode(" считал")] for one in (tokenizer, reference)]
    assert cut == [[" счита", "л"], [" счит", "ал"]]
    assert " считал" in tokenizer.notes[-1]


@pytest.mark.usefixtures("tiktoken_files")
def test_gigatoken_encodes_one_text_while_another_thread_encodes_batches():
    tokenizer = tokbench.load("gigatoken", encoding="r50k_base")
    text = "Hello wörld, this is a test of threads. " * 20
    expected = tokenizer.encode(text)
    done = threading.Event()

    def batches():
        while not done.is_set():
            tokenizer.encode_batch([text] * 3)

    other = threading.Thread(target=batches)
    other.start()
    try:
        answers = [tokenizer.encode(text) for _ in range(300)]
    finally:
        done.set()
        other.join()
    assert answers == [expected] * 300
