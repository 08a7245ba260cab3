"""OpenAI's vocabularies in our engines: the ids of tiktoken, on real text and on strings made to trip it up."""

import random
import sysconfig
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from difficult_texts import hostile, pud

from tokbench.foundation.jit import has_numba
from tokbench_plugins.bpe import BPETokenizer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_store")]

VOCABULARIES = {"gpt2": "gpt2", "cl100k_base": "gpt4", "o200k_base": "o200k"}
ENGINES = ["python", *(["numba"] if has_numba() else [])]

# What the patterns tell apart, and what touches them from both sides.
AWKWARD = (
    "'s¦'LL¦’t¦'ſ¦\r\n¦\n¦ ¦   ¦\t¦\u00a0¦\u3000¦\u2028¦a¦Z¦ǅ¦ʰ¦ª¦é¦e\u0301¦\u0301¦1¦2024¦٣¦²¦Ⅷ¦!¦...¦/¦//¦_¦-¦🙂🏽¦👩‍👩‍👧¦中文¦ไทย¦"
    "Привет¦HTTPServer¦the¦ the¦<|endoftext|>¦\x00¦\ufeff¦\U0010ffff¦\ue000¦aaaa¦" + "ab" * 40
).split("¦")


@pytest.fixture(scope="module", params=VOCABULARIES)
def encoding(request, data, tiktoken_files):
    return tiktoken.get_encoding(request.param)


@pytest.fixture(scope="module")
def engines(encoding):
    pattern = VOCABULARIES[encoding.name]
    first = BPETokenizer.from_ranks(encoding._mergeable_ranks, pattern, encoding._special_tokens, engine=ENGINES[0])
    others = [BPETokenizer(first.vocabulary, pattern, first.special_tokens, engine=engine) for engine in ENGINES[1:]]
    return [first, *others]


def fuzzed(count, seed):
    """Strings of awkward pieces and of characters from all over Unicode; those newer than Python are left out."""
    rng = random.Random(seed)

    def character():
        while True:
            code = rng.choice(
                (rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0x20000), rng.randrange(0x110000))
            )
            if not 0xD800 <= code < 0xE000 and unicodedata.category(chr(code)) != "Cn":
                return chr(code)

    for _ in range(count):
        chosen = rng.random()
        pieces = (rng.choice(AWKWARD) if rng.random() < chosen else character() for _ in range(rng.randrange(60)))
        yield "".join(pieces)


def check(encoding, engines, texts):
    expected = [encoding.encode_ordinary(text) for text in texts]
    offsets = np.cumsum([0, *map(len, expected)])
    ids = np.fromiter((token for document in expected for token in document), np.uint32)
    for tokenizer in engines:
        found = tokenizer.encode_batch(texts)
        assert np.array_equal(found.offsets, offsets), tokenizer.engine
        assert np.array_equal(found.ids, ids), tokenizer.engine
        assert tokenizer.decode_batch(found) == [
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts
        ]


def test_awkward_strings_and_tokens_by_themselves(encoding, engines):
    tokens = [*encoding._mergeable_ranks][:: len(encoding._mergeable_ranks) // 2000]
    check(encoding, engines, [*AWKWARD, *hostile(), *(token.decode("utf-8", "replace") for token in tokens)])
    texts = list(fuzzed(2000, seed=2))
    check(encoding, engines[:1], texts[::8])  # Python takes its time
    check(encoding, engines[1:], texts)


def test_real_texts(encoding, engines, data):
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::4]
    texts = [*pud(data)[::2], *(file.read_text("utf-8") for file in library)]
    texts += [file.read_text("utf-8")[:50_000] for file in sorted((data / "ntrex").glob("*.txt"))]
    check(encoding, engines[:1], texts[::10])  # Python takes its time
    check(encoding, engines[1:], texts)
