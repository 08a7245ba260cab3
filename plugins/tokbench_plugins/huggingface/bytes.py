"""The bytes of the tokens of a ``tokenizer.json``, derived from its decoder.

Where a decoder looks at the neighbours of a token, tokens have no bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from tokenizers import decoders

from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, bytes_of_name
from tokbench_plugins.huggingface.json import has_merges, steps

_BYTE: Final = re.compile("<0x([0-9A-Fa-f]{2})>")
_LETTER: Final = "x"  # a token before another one, which no decoder changes
_KEEPS_ALL: Final = {"Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}


class ByteRule(NamedTuple):
    """How bytes come from tokens."""

    bytes_of: Callable[[str], bytes]
    dummy_prefix: bytes
    """The text that decoding removes from the beginning."""


def byte_rule(content: Mapping[str, Any]) -> ByteRule | None:
    """Return the rule of a file; ``None`` where tokens have no bytes.

    >>> model = {"type": "WordPiece", "vocab": {}}
    >>> rule = byte_rule({"model": model, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False}})
    >>> rule.bytes_of("token"), rule.bytes_of("##s"), rule.bytes_of("."), rule.dummy_prefix
    (b' token', b's', b' .', b' ')
    """
    decoder = list(steps(content.get("decoder"), "decoders"))
    kinds = [step["type"] for step in decoder]
    if not kinds:  # tokens with a space between them
        return ByteRule(lambda token: f" {token}".encode(), b" ")
    if kinds == ["ByteLevel"]:
        return ByteRule(_byte_level, b"")
    if kinds == ["WordPiece"]:
        return _word_piece(decoder[0], content)
    return _replacing(decoder, content)


def _byte_level(token: str) -> bytes:
    try:
        return bytes_of_name(token)
    except ValueError:  # an added token that is written as it is
        return token.encode()


def _word_piece(step: Mapping[str, Any], content: Mapping[str, Any]) -> ByteRule | None:
    prefix, cleanup = step["prefix"], step.get("cleanup", True)
    decoder = decoders.WordPiece(prefix=prefix, cleanup=cleanup)

    def bytes_of(token: str) -> bytes:
        if cleanup:
            return decoder.decode([_LETTER, token]).removeprefix(_LETTER).encode()
        return (token.removeprefix(prefix) if token.startswith(prefix) else f" {token}").encode()

    def differs_as_first(token: str) -> bool:
        text = bytes_of(token).decode()
        return decoder.decode([token]) not in {text, text.removeprefix(" ")}

    if any(" " in token and differs_as_first(token) for token in _tokens(content)):
        return None
    return ByteRule(bytes_of, b" ")


def _replacing(decoder: list[Mapping[str, Any]], content: Mapping[str, Any]) -> ByteRule | None:
    """``▁`` is a space, ``<0x0A>`` a byte, the first space may go, as in SentencePiece's descendants."""
    letters: list[tuple[str, str]] = []
    byte_fallback = fused = False
    dummy = ""
    for step in decoder:
        match step:
            case {"type": "Metaspace", "replacement": str(mark)} if not fused and not dummy:
                letters.append((mark, " "))
                prepended = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
                dummy = " " if prepended != "never" else ""
                if dummy and any(mark in token[1:] for token in _tokens(content)):
                    return None  # of the first token it takes every space
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if len(old) == 1:
                letters.append((old, new))
            case {"type": "ByteFallback"} if not fused:
                byte_fallback = True
            case {"type": "Fuse"}:
                fused = True
            case {"type": "Strip", "content": str(letter), "start": int(count), "stop": 0} if fused and not dummy:
                dummy = letter * count
            case _:
                return None

    def bytes_of(token: str) -> bytes:
        for old, new in letters:
            token = token.replace(old, new)
        byte = _BYTE.fullmatch(token) if byte_fallback else None
        return bytes([int(byte[1], 16)]) if byte else token.encode()

    return ByteRule(bytes_of, dummy.encode())


def _tokens(content: Mapping[str, Any]) -> list[str]:
    added = [token["content"] for token in content.get("added_tokens") or ()]
    return [*added, *(entry if isinstance(entry, str) else entry[0] for entry in content["model"]["vocab"])]


def is_lossless(content: Mapping[str, Any]) -> bool:
    """Return True for byte-level BPE that knows all bytes, with no step that drops or changes any text.

    >>> is_lossless({"normalizer": {"type": "NFC"}})
    False
    """
    if list(steps(content.get("normalizer"), "normalizers")):
        return False
    if not has_merges(content):
        return False
    splits = list(steps(content.get("pre_tokenizer"), "pretokenizers"))
    decoder = [step["type"] for step in steps(content.get("decoder"), "decoders")]
    if decoder != ["ByteLevel"] or not any(step["type"] == "ByteLevel" for step in splits):
        return False
    return (
        all(map(_keeps_all, splits))
        and content["model"]["vocab"].keys() >= set(BYTE_TO_CHARACTER)
        and not any(map(_alters, content.get("added_tokens") or ()))
    )


def _keeps_all(split: Mapping[str, Any]) -> bool:
    match split:
        case {"type": "ByteLevel"}:
            return not split.get("add_prefix_space", True)
        case {"type": "Split" | "Punctuation", "behavior": behavior}:
            return behavior in _KEEPS_ALL
    return bool(split["type"] == "Digits")


def _alters(token: Mapping[str, Any]) -> bool:
    name: str = token["content"]
    swallows = bool(token.get("lstrip") or token.get("rstrip"))
    return not token.get("special") and (swallows or _byte_level(name) != name.encode())
