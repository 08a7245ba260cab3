"""What tests of metrics look with: a shard of a few texts, the values of a family, tokenizers that lose text or cut it."""

import functools

import tokbench
from tokbench.corpus.contract import Document
from tokbench.corpus.shards import Shard
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.registry.plugins import load_registry
from tokbench.text.gold import gold_segments
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.contract import Offsets


@functools.cache
def specs():
    return load_registry().metrics


@functools.cache
def utf8_bytes():
    return tokbench.load("utf8_bytes")


def metric(family, **options):
    spec = specs().get(family)
    return spec.text(spec.options(**options))


def view(tokenizer, *texts, group="en"):
    shard = Shard(
        "c", group, 0, [Document(text, group, str(k), f"c:{k}") for k, text in enumerate(texts)], by_key=False
    )
    return EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, shard.texts))


def values(family, *views, **options):
    m = metric(family, **options)
    return m.finish(functools.reduce(m.merge, [m.map(v) for v in views]))


class Lossy:
    """Capitals are lost, ``z`` is unknown (id 0); it says its offsets but not its bytes."""

    vocab_size = 128
    unk_id = 0

    def encode(self, text, /):
        return [0 if c == "z" else ord(c.lower()) for c in text]

    def decode(self, ids, /):
        return "".join("?" if i == 0 else chr(i) for i in ids)

    def encode_with_offsets(self, text, /):
        return Offsets(self.encode(text), list(range(1, len(text) + 1)))


class Cut:
    """Cuts each text as it is told: ``|`` in bytes parts the tokens."""

    vocab_size = 10_000

    def __init__(self, *cut):
        self._cut = {data.replace(b"|", b""): [piece for piece in data.split(b"|") if piece] for data in cut}
        self._tokens = sorted({piece for pieces in self._cut.values() for piece in pieces})

    def encode(self, text, /):
        return [self._tokens.index(piece) for piece in self._cut[text.encode()]] if text else []

    def decode(self, ids, /):
        return b"".join(map(self.token_bytes, ids)).decode(errors="replace")

    def token_bytes(self, token_id, /):
        return self._tokens[token_id]


def look(*cut, tokenizer=None, group="en", golds=None):
    texts = [data.replace(b"|", b"").decode() for data in cut]
    golds = golds or [None] * len(texts)
    rows = [
        Document(text, group, str(k), f"c:{k}", gold) for k, (text, gold) in enumerate(zip(texts, golds, strict=True))
    ]
    tokenizer = tokenizer or Cut(*cut)
    return EncodedShard(
        LoadedTokenizer("t", tokenizer), Shard("c", group, 0, rows, by_key=False), encode_batch(tokenizer, texts)
    )


def gold(text, *words):
    return gold_segments(text, [word.split("-") for word in words])
