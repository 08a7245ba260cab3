"""Twenty mistakes that users reported of tokenizers, each rebuilt from its report.

They were drawn before the mutants were read: twenty-five were noted from bug reports, and `random.Random(60)` drew twenty.
No kit had a text because of them: 17 were noticed.
"""

import functools
import heapq
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import regex

import tokbench
from tokbench_identity.kit import kit_of

Encode = Callable[[str], list[int]]
Ranks = dict[bytes, int]

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
BYTES_OF_GEMMA = range(238, 494)
OBJECT_MEMBERS = {
    *(
        "constructor",
        "toString",
        "valueOf",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
    ),
    *("__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
}


class Mistake(NamedTuple):
    """A wrong tokenizer, and a text that shows that it is wrong."""

    name: str
    what: str
    report: str
    witness: str
    make: Callable[[], Encode]


@functools.cache
def ranks_of(name: str) -> Ranks:
    """Return the id of every token of a vocabulary by its bytes, without its special tokens."""
    tokenizer = tokbench.load(name)
    special = set(tokenizer.special_ids)
    ranks: Ranks = {}
    for token_id in range(tokenizer.vocab_size):
        if token_id not in special and (token := tokenizer.token_bytes(token_id)):
            ranks.setdefault(token, token_id)
    return ranks


def merge(piece: bytes, ranks: Ranks, rightmost: bool = False) -> list[int]:
    """Encode one piece by byte-level BPE: the whole piece where it is a token, else merges by rank."""
    if piece in ranks:
        return [ranks[piece]]
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        places = [
            (ranks[a + b], -i if rightmost else i)
            for i, (a, b) in enumerate(itertools.pairwise(parts))
            if a + b in ranks
        ]
        if not places:
            return [ranks[part] for part in parts]
        at = abs(min(places)[1])
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def stale_merge(piece: bytes, ranks: Ranks) -> list[int]:
    """Merge from a queue, and never ask whether an entry is still true."""
    if piece in ranks:
        return [ranks[piece]]
    parts: list[bytes | None] = [piece[i : i + 1] for i in range(len(piece))]
    after = list(range(1, len(parts) + 1))
    before = list(range(-1, len(parts) - 1))
    queue: list[tuple[int, int]] = []

    def joined(at: int) -> bytes:
        left, right = parts[at], parts[after[at]] if after[at] < len(parts) else None
        return b"" if left is None or right is None else left + right

    def offer(at: int) -> None:
        if at >= 0 and joined(at) in ranks:
            heapq.heappush(queue, (ranks[joined(at)], at))

    for at in range(len(parts)):
        offer(at)
    while queue:
        _, at = heapq.heappop(queue)
        if parts[at] is None or joined(at) not in ranks:
            continue
        gone = after[at]
        parts[at], parts[gone] = joined(at), None
        after[at] = after[gone]
        if after[at] < len(parts):
            before[after[at]] = at
        offer(before[at])
        offer(at)
    return [ranks[part] for part in parts if part is not None]


def by_pattern(ranks: Ranks, pattern: str, merging: Callable[[bytes, Ranks], list[int]] = merge) -> Encode:
    """Return a byte-level BPE with a split."""
    compiled = regex.compile(pattern)
    return lambda text: [i for m in compiled.finditer(text) for i in merging(m.group().encode(), ranks)]


def changed(name: str, change: Callable[[str], str]) -> Encode:
    """Return a tokenizer that changes the text first."""
    encode = tokbench.load(name).encode
    return lambda text: list(encode(change(text)))


def old_unicode() -> Encode:
    ranks, compiled = ranks_of("gpt-4"), regex.compile(GPT4)

    def encode(text: str) -> list[int]:
        seen = "".join("\u2603" if unicodedata.category(c) == "Cn" and regex.match(r"\p{L}", c) else c for c in text)
        return [i for m in compiled.finditer(seen) for i in merge(text[m.start() : m.end()].encode(), ranks)]

    return encode


def byte_ad() -> Encode:
    ranks = {token: i for token, i in ranks_of("gpt-2").items() if b"\xad" not in token}
    return by_pattern({**ranks, b"\xad": 0}, GPT2)


def object_cache() -> Encode:
    ranks, compiled = ranks_of("gpt-2"), regex.compile(GPT2)

    def encode(text: str) -> list[int]:
        pieces = compiled.findall(text)
        if not OBJECT_MEMBERS.isdisjoint(pieces):
            raise TypeError("bpe(...).split is not a function")
        return [i for piece in pieces for i in merge(piece.encode(), ranks)]

    return encode


def canonical_keys() -> Encode:
    tokenizer = tokbench.load("gemma-3")
    keys = [unicodedata.normalize("NFD", tokenizer.token_bytes(i).decode(errors="replace")) for i in range(262144)]
    last = {key: i for i, key in enumerate(keys) if i not in BYTES_OF_GEMMA and "\ufffd" not in key}
    return lambda text: [i if i in BYTES_OF_GEMMA else last.get(keys[i], i) for i in tokenizer.encode(text)]


def chunked() -> Encode:
    tokenizer = tokbench.load("qwen-3")

    def chunks(text: str) -> Iterator[str]:
        while len(text) > 4096 and (end := text.find("\n", 4096)) >= 0:
            yield text[: end + 1]
            text = text[end + 1 :]
        yield text

    return lambda text: [i for chunk in chunks(text) for i in tokenizer.encode(chunk)]


def utf16_offsets() -> Encode:
    ranks, compiled = ranks_of("llama-3"), regex.compile(LLAMA3)

    def encode(text: str) -> list[int]:
        places = [0]
        for c in text:
            places.append(places[-1] + (2 if ord(c) > 0xFFFF else 1))
        pieces = [text[places[m.start()] : places[m.end()]] for m in compiled.finditer(text)]
        return [i for piece in pieces if piece for i in merge(piece.encode(), ranks)]

    return encode


def decoded_keys() -> Encode:
    ranks: Ranks = {}
    for token, token_id in ranks_of("qwen-3").items():
        ranks[token.decode(errors="replace").encode()] = token_id
    for byte in range(256):
        ranks.setdefault(bytes([byte]), ranks_of("qwen-3")[bytes([byte])])
    encode = by_pattern(ranks, QWEN)
    return lambda text: encode(unicodedata.normalize("NFC", text))


def latin_bytes() -> Encode:
    ranks, compiled = ranks_of("gpt-2"), regex.compile(GPT2)
    return lambda text: [
        i for m in compiled.finditer(text.encode().decode("latin-1")) for i in merge(m.group().encode("latin-1"), ranks)
    ]


def no_hash_merges() -> Encode:
    ranks = {token: i for token, i in ranks_of("gpt-2").items() if len(token) == 1 or not token.startswith(b"#")}
    return by_pattern(ranks, GPT2)


def no_whitespace_merges() -> Encode:
    tokenizer = tokbench.load("gemma-3")
    return lambda text: [i for part in re.split(r"([\n\t])", text) if part for i in tokenizer.encode(part)]


def no_fallback() -> Encode:
    tokenizer = tokbench.load("mistral-7b-v1")
    return lambda text: [i for i in tokenizer.encode(text) if not 3 <= i < 259]


def uint16() -> Encode:
    tokenizer = tokbench.load("gpt-4")
    return lambda text: [i & 0xFFFF for i in tokenizer.encode(text)]


def _escaped(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", lambda m: json.dumps(m.group())[1:-1], text)


def _replaced_astral(text: str) -> str:
    return re.sub(r"[\U00010000-\U0010ffff]", "\ufffd\ufffd", text)


MISTAKES = (
    Mistake("gpt-4", "letters newer than Unicode 14 are signs", "marcelroed/gigatoken#37", "\U0001e030's", old_unicode),
    Mistake("gpt-2", "byte AD is not mapped", "cactus-compute/cactus#806", "歯", byte_ad),
    Mistake(
        "gpt-2", "members of an object are in the cache", "latitudegames/GPT-3-Encoder#12", "toString", object_cache
    ),
    Mistake("gemma-3", "equal strings evict each other", "huggingface/swift-transformers#99", "\u0301", canonical_keys),
    Mistake("qwen-3", "chunks end at a line end", "crusoecloud/fastokens#59", "a" * 4096 + " \n  \n", chunked),
    Mistake(
        "gpt-4o",
        "surrogates are encoded one by one",
        "dqbd/tiktoken#8",
        "\U0001f600",
        lambda: changed("gpt-4o", _replaced_astral),
    ),
    Mistake("llama-3", "offsets count UTF-16", "huggingface/swift-transformers#210", "\U0001f973 end", utf16_offsets),
    Mistake(
        "llama-3",
        "the split of GPT-2",
        "ggml-org/llama.cpp#6914",
        "2023-01",
        lambda: by_pattern(ranks_of("llama-3"), GPT2),
    ),
    Mistake(
        "gpt-2",
        "white space leaves only a space to the next word",
        "ggml-org/llama.cpp#5446",
        "a\n\nb",
        lambda: by_pattern(ranks_of("gpt-2"), GPT2.replace(r"\s+(?!\S)", r"\s+(?= \S)")),
    ),
    Mistake(
        "llama-3",
        "only digits are split",
        "1bit-MONSTER/1bit-MONSTER#92",
        "a  b",
        lambda: by_pattern(ranks_of("llama-3"), r"[0-9]{1,3}|[^0-9]+"),
    ),
    Mistake(
        "gpt-4",
        "stale entries of the queue",
        "openvinotoolkit/openvino_tokenizers#281",
        "Xqzrandomizationally",
        lambda: by_pattern(ranks_of("gpt-4"), GPT4, stale_merge),
    ),
    Mistake(
        "gpt-4o",
        "the rightmost of equal pairs",
        "antirez/ds4#873",
        "qqqqq",
        lambda: by_pattern(
            ranks_of("gpt-4o"), tokbench.load("gpt-4o").pattern, functools.partial(merge, rightmost=True)
        ),
    ),
    Mistake("qwen-3", "tokens are read as text", "dottxt-ai/outlines#892", "\u15d2\u15e9", decoded_keys),
    Mistake("gpt-2", "the split sees bytes as Latin-1", "Genivia/RE-flex#198", "voil\u00e0", latin_bytes),
    Mistake("gpt-2", "merges that begin with # are comments", "huggingface/tokenizers", "####", no_hash_merges),
    Mistake(
        "gemma-3",
        "merges of white space are lost",
        "huggingface/swift-transformers#132",
        "a\n\nb",
        no_whitespace_merges,
    ),
    Mistake(
        "tekken-2411",
        "control characters are escaped",
        "huggingface/transformers#42589",
        "ju\x16",
        lambda: changed("tekken-2411", _escaped),
    ),
    Mistake("mistral-7b-v1", "what has no token is dropped", "ollama/ollama#15232", "\U0001f973", no_fallback),
    Mistake("gpt-4", "ids are written as 16 bits", "karpathy/nanoGPT", " authoritative\u4e16\u754c zdarma", uint16),
    Mistake(
        "gpt-2",
        "typographic contractions",
        "alphagov/pay-adminusers#2244",
        "\u2019ss",
        lambda: by_pattern(ranks_of("gpt-2"), GPT2.replace("'(?", "['\u2019](?")),
    ),
)

MISSED = {
    "letters newer than Unicode 14 are signs",
    "members of an object are in the cache",
    "chunks end at a line end",
}


def _answer(encode: Encode, text: str) -> list[int] | str:
    try:
        return list(encode(text))
    except TypeError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_kits_notice_reported_mistakes(mistake):
    wrong, right = mistake.make(), tokbench.load(mistake.name).encode
    assert _answer(wrong, mistake.witness) != _answer(right, mistake.witness)
    noticed = any(_answer(wrong, row.text) != row.ids for row in kit_of(mistake.name).texts)
    assert noticed is (mistake.what not in MISSED)
