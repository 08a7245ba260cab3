"""Mistakes that the list of ways to be wrong does not have are noticed by a kit, too."""

import json
import re
from dataclasses import replace

import pytest
import regex

import tokbench
from tokbench_identity.kit import kit_of
from tokbench_identity.mutants.model import model_of, pairs_of
from tokbench_identity.mutants.pieces import probe_texts

ZWJ = regex.compile(r"(\p{Emoji_Presentation}(?:\u200d\p{Emoji}\ufe0f?)+)")


def of_text(change):
    return lambda model, _: lambda text: model.encode(change(text))


def of_chunks(cut):
    """Chunks are cut by a function of the text and of the right ones."""

    def make(model, _):
        return lambda text: model.ids([k for chunk in cut(model, text) for k in model.merging(chunk)])

    return make


def of_pairs(wanted):
    """Some merges are lost."""

    def make(model, tokenizer):
        merging = model.merging
        kept = {p: row for p, row in pairs_of(merging).items() if wanted(*map(tokenizer.token_bytes, p), row[0])}
        return replace(model, merging=replace(merging, pairs=kept, made={})).encode

    return make


def utf16_places(model, text):
    """Places of matches in UTF-16 are used in code points."""
    at = 0
    for chunk in model.chunks(text):
        size = len(chunk.encode("utf-16-le")) // 2
        yield text[at : at + size]
        at += size


def clusters(model, text):
    """CR LF is one character, which is no line end."""
    return [chunk.replace("\ue000", "\r\n") for chunk in model.chunks(text.replace("\r\n", "\ue000"))]


def cached(model, text):
    """Chunks are remembered without case."""
    seen = {}
    return [seen.setdefault(chunk.lower(), chunk) for chunk in model.chunks(text)]


def halves(model, text):
    """Long chunks are merged in two halves."""
    for chunk in model.chunks(text):
        yield from (chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]) if len(chunk) > 20 else (chunk,)


def lowered_places(model, text):
    """Places in the lower-case text are used in the text itself."""
    at = 0
    for chunk in model.chunks(text.lower()):
        yield text[at : at + len(chunk)]
        at += len(chunk)
    yield text[at:]


def in_bytes(model, text):
    """The expression reads bytes."""
    return [chunk.encode("latin-1").decode(errors="replace") for chunk in model.chunks(text.encode().decode("latin-1"))]


def digits_from_the_right(model, text):
    for chunk in model.chunks(regex.sub(r"\p{N}{4,}", "\0", text)):
        if chunk != "\0":
            yield chunk
            continue
        digits, text = regex.search(r"\p{N}{4,}", text)[0], regex.sub(r"\p{N}{4,}", "", text, count=1)
        first = len(digits) % 3
        yield from filter(None, [digits[:first], *(digits[k : k + 3] for k in range(first, len(digits), 3))])


def _runs(chunk):
    return [match[0] for match in re.finditer(r"(?s)(?:(.)\1{15})|(?:(?!(.)\2{15}).)+", chunk)]


def joined_emoji(model, text):
    return [chunk for part in ZWJ.split(text) for chunk in ([part] if ZWJ.fullmatch(part) else model.chunks(part))]


def other_set(item, others):
    """The split is read by the functions of another language's library."""

    def inside(match):
        return f"{match[1]}{others}" if match[1] else f"[{others}]"

    def make(model, _):
        split = (regex.sub(rf"(\[[^\]]*)?{re.escape(item)}", inside, pattern) for pattern in model.split)
        return replace(model, split=tuple(pattern.replace(r"\S", f"[^{others}]") for pattern in split)).encode

    return make


def swapped_bytes(model, _):
    single = dict(model.merging.single)
    single[0xAD], single[0xAE] = single[0xAE], single[0xAD]
    return replace(model, merging=replace(model.merging, single=single, made={})).encode


def only_to_the_right(model, _):
    """After a merge only pairs further right are looked at, until the end is reached."""
    pairs = pairs_of(model.merging)

    def merge(chunk):
        ids, at = [model.merging.single[byte][0] for byte in chunk.encode()], 0
        while at < len(ids) - 1:
            if row := pairs.get((ids[at], ids[at + 1])):
                ids[at : at + 2] = [row[1]]
            else:
                at += 1
        return ids

    return replace(model, merging=merge).encode


MISTAKES = {
    "lines of merges with # are comments": of_pairs(lambda left, _right, _rank: not left.startswith(b"#")),
    "ranks above 65,535 are lost": of_pairs(lambda _left, _right, rank: rank < 65_536),
    "no token over 16 bytes": of_pairs(lambda left, right, _rank: len(left + right) <= 16),
    "places in UTF-16": of_chunks(utf16_places),
    "CR LF is one character": of_chunks(clusters),
    "a cache without case": of_chunks(cached),
    "long chunks in halves": of_chunks(halves),
    "places of the lower-case text": of_chunks(lowered_places),
    "the expression reads bytes": of_chunks(in_bytes),
    "digits grouped from the right": of_chunks(digits_from_the_right),
    "runs cut after 16 characters": of_chunks(lambda model, text: [p for c in model.chunks(text) for p in _runs(c)]),
    "joined emoji are chunks": of_chunks(joined_emoji),
    "Han numerals are digits": other_set(r"\p{N}", r"\p{N}一二三四五六七八九十百千"),
    "white space of Java": other_set(r"\s", r"\t-\r\x1c-\x20\u2028\u2029\u3000"),
    "two bytes are exchanged": swapped_bytes,
    "merges only to the right": only_to_the_right,
    "CR at the end of a line lost": of_text(
        lambda text: "\n".join(line.removesuffix("\r") for line in text.split("\n"))
    ),
    "ellipses as dots": of_text(lambda text: text.replace("…", "...")),
    "dashes as hyphens": of_text(lambda text: re.sub("[\u2010-\u2015]", "-", text)),
    "a space before every line": of_text(lambda text: re.sub("(?m)^(?=.)", " ", text)),
}


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_unknown_mistakes_are_noticed():
    tokenizer, kit = tokbench.load("gpt-4"), kit_of("gpt-4")
    model, staged = model_of(tokenizer, probe_texts())
    assert staged
    wrong = {words: make(model, tokenizer) for words, make in MISTAKES.items()}
    assert len(wrong) == 20
    noticed = {words for words, encode in wrong.items() if any([*encode(row.text)] != row.ids for row in kit.texts)}
    assert len(noticed) >= 18, json.dumps(sorted({*wrong} - noticed))
