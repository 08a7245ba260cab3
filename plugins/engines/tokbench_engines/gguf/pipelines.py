"""The vocabularies of llama.cpp that are neither byte-level nor SentencePiece's, as pipelines of ``tokenizers``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from tokbench_engines.gguf.defined import Defined
from tokbench_engines.gguf.metadata import GGUFTokenizer
from tokbench_engines.gguf.tokenizers import CutsDefined
from tokbench_plugins.bpe.formats.tokenizer_json import pipeline
from tokbench_plugins.huggingface.bytes import byte_rule
from tokbench_plugins.huggingface.tokenizer import HuggingFaceBPE, HuggingFaceBytes
from tokbench_plugins.sentencepiece.proto import SPACE, PieceType

_LONGEST_WORD: Final = 1000  # the library's time grows with its cube
_LONG_WORDS: Final = f"a word of more than {_LONGEST_WORD:,} characters is unknown; llama.cpp cuts it into tokens"
_HAN: Final = (
    r"\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}"
    r"\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}"
)
_PREFIX: Final = "##"


class GGUFWordPiece(CutsDefined, HuggingFaceBytes):
    """The longest pieces of words, as in BERT."""

    def __reduce__(self) -> tuple[Any, ...]:
        return word_piece, (self.content,)


class GGUFMergedCharacters(CutsDefined, HuggingFaceBPE):
    """Merges characters of whole lines, as in Gemma 4."""

    def __reduce__(self) -> tuple[Any, ...]:
        return merged_characters, (self.content,)


_Made = TypeVar("_Made", GGUFWordPiece, GGUFMergedCharacters)


def word_piece(content: GGUFTokenizer) -> GGUFWordPiece:
    """Make the tokenizer of a file whose ``tokenizer.ggml.model`` is ``bert``.

    Raises:
        ValueError: two tokens have one name, or none is for unknown text.
    """
    names = [name if PieceType(kind) is not PieceType.NORMAL else _hashed(name) for name, kind in content.typed_tokens]
    if content.unknown_token_id is None:
        raise ValueError("its tokenizer.ggml.unknown_token_id is missing: no token is for unknown text")
    lower = content.normalizer_lowercase
    accents = lower if content.normalizer_strip_accents is None else content.normalizer_strip_accents
    normalizers = [
        _replaced(r"[\x00\x{FFFD}]|[^\s\P{C}]", ""),
        *([{"type": "NFD"}, _replaced(r"\p{M}", "")] if accents else []),
        *([{"type": "Lowercase"}] if lower else []),
    ]
    model = {
        "type": "WordPiece",
        "unk_token": names[content.unknown_token_id],
        "continuing_subword_prefix": _PREFIX,
        "max_input_chars_per_word": _LONGEST_WORD,
        "vocab": _ids(names),
    }
    splits = [_split(r"\s+", "Removed"), _split(rf"[\p{{P}}$+<=>^`|~{_HAN}]", "Isolated")]
    decoder = {"type": "WordPiece", "prefix": _PREFIX, "cleanup": True}
    return _made(GGUFWordPiece, content, (_LONG_WORDS,), _file(content, names, normalizers, splits, decoder, model))


def merged_characters(content: GGUFTokenizer) -> GGUFMergedCharacters:
    """Make the tokenizer of a file whose ``tokenizer.ggml.model`` is ``gemma4``.

    Raises:
        ValueError: two tokens have one name.
    """
    names = [name for name, _ in content.typed_tokens]
    model = {
        "type": "BPE",
        "byte_fallback": True,
        "vocab": _ids(names),
        "merges": [merge.split(" ") for merge in content.merges],
    }
    to_spaces = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
    decoder = {"type": "Sequence", "decoders": [to_spaces, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    splits = [_split(r"\n+", "Isolated")]
    file = _file(content, names, [_replaced(" ", SPACE)], splits, decoder, model)
    return _made(GGUFMergedCharacters, content, (), file)


def _hashed(name: str) -> str:
    if name.startswith(SPACE):
        return name.removeprefix(SPACE)
    return name if name.startswith("[") and name.endswith("]") else _PREFIX + name


def _ids(names: Sequence[str]) -> dict[str, int]:
    ids = {name: token_id for token_id, name in enumerate(names)}
    if len(ids) < len(names):
        twice = next(name for token_id, name in enumerate(names) if ids[name] != token_id)
        raise ValueError(f"two tokens are {twice!r}, ids {names.index(twice)} and {ids[twice]}; only one can be given")
    return ids


def _replaced(pattern: str, by: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": by}


def _split(pattern: str, behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def _file(
    content: GGUFTokenizer,
    names: Sequence[str],
    normalizers: Sequence[Mapping[str, Any]],
    splits: Sequence[Mapping[str, Any]],
    decoder: Mapping[str, Any],
    model: Mapping[str, Any],
) -> dict[str, Any]:
    special = [i for i, (_, kind) in enumerate(content.typed_tokens) if kind in {PieceType.CONTROL, PieceType.UNKNOWN}]
    return pipeline(
        model,
        {names[i]: i for i in special},
        normalizer={"type": "Sequence", "normalizers": list(normalizers)},
        pre_tokenizer={"type": "Sequence", "pretokenizers": list(splits)},
        decoder=decoder,
    )


def _made(kind: Callable[..., _Made], content: GGUFTokenizer, notes: tuple[str, ...], file: Mapping[str, Any]) -> _Made:
    rule = byte_rule(file)
    assert rule is not None
    tokenizer = kind(json.dumps(file), notes, rule)
    line_ends = {name: i for i, name in enumerate(content.tokens) if name.strip("\n") == "" != name}
    tokenizer.defined = Defined(content.defined, line_ends=line_ends if content.model == "gemma4" else {})
    tokenizer.content = content
    return tokenizer
