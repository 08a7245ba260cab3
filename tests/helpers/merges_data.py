"""Vocabularies that are really cut down, each in a library that knows nothing of tokbench's merges."""

import json
from collections import Counter
from functools import lru_cache

import regex
import tiktoken
import tokenizers
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

from tokbench_plugins.bpe import PATTERNS

_DEEPSEEK_WORDS = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_DEEPSEEK = (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", _DEEPSEEK_WORDS)
SPLITS = {
    "deepseek_v3": _DEEPSEEK,
    "llama3": (PATTERNS["gpt4"],),
}
"""By vocabulary of splintr, the expressions that its makers split text with, one after the other."""


def chunks(text, splits):
    """Split a text by all expressions: each match is a piece, and so is the text between two matches."""
    parts = [text]
    for split in splits:
        found = regex.compile(f"(?V1)({split})")
        parts = [piece for part in parts for piece in cut(part, found)]
    return parts


def cut(text, found):
    at = 0
    for match in found.finditer(text):
        yield from filter(None, (text[at : match.start()], match[0]))
        at = match.end()
    if at < len(text):
        yield text[at:]


@lru_cache(maxsize=2)
def counted_chunks(texts, splits):
    """Count each chunk of texts, once for all sizes that are tried on them."""
    return Counter(chunk for text in texts for chunk in chunks(text, splits))


def through_tiktoken(ranks, splits, texts):
    """Count the tokens that tiktoken makes of texts that are split already; each chunk is encoded once."""
    encoding = tiktoken.Encoding("cut", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})
    found = counted_chunks(tuple(texts), tuple(splits))
    return sum(len(encoding.encode_ordinary(chunk)) * times for chunk, times in found.items())


def cut_ranks(tokenizer, splits):
    """The same vocabulary in tiktoken, but for some ids."""
    special = set(tokenizer.special_ids.values())
    tokens = [(i, tokenizer.token_bytes(i)) for i in range(tokenizer.vocab_size) if i not in special]

    def count(dropped, texts):
        ranks = {}
        for i, data in tokens:
            if data and i not in dropped:
                ranks.setdefault(data, i)
        return through_tiktoken(ranks, splits, texts)

    return count


def cut_model(path):
    """The same SentencePiece model, but for some pieces."""
    model = sentencepiece_model_pb2.ModelProto.FromString(path.read_bytes())

    def count(dropped, texts):
        smaller = sentencepiece_model_pb2.ModelProto.FromString(path.read_bytes())
        del smaller.pieces[:]
        smaller.pieces.extend(piece for i, piece in enumerate(model.pieces) if i not in dropped)
        processor = SentencePieceProcessor(model_proto=smaller.SerializeToString())
        return sum(map(len, processor.encode(texts)))

    return count


def cut_json(path):
    """The same ``tokenizer.json``, but for some tokens and the merges that make or use them."""

    def count(dropped, texts):
        content = json.loads(path.read_text(encoding="utf-8"))
        model = content["model"]
        model["vocab"] = {token: i for token, i in model["vocab"].items() if i not in dropped}
        pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
        model["merges"] = [pair for pair in pairs if {*pair, "".join(pair)} <= model["vocab"].keys()]
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(content))
        return sum(len(each.ids) for each in tokenizer.encode_batch(texts, add_special_tokens=False))

    return count
