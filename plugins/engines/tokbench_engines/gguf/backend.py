"""The backend ``gguf``: byte-level BPE, or a SentencePiece model, from a model file of llama.cpp.

Ids of ordinary text are llama.cpp's with ``parse_special`` off, without the tokens that it puts around a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from typing import Final

from pydantic import Field

from tokbench import plugin
from tokbench.plugin import BackendError
from tokbench_engines import install
from tokbench_engines.gguf.metadata import GGUFTokenizer, read_gguf
from tokbench_engines.gguf.model import write_model
from tokbench_engines.gguf.splits import split_of
from tokbench_plugins.bpe.engines import BULK_ENGINE, BulkEngine
from tokbench_plugins.bpe.formats.byte_names import vocabulary_of_names
from tokbench_plugins.bpe.recovery.canonical import not_merged
from tokbench_plugins.bpe.special import SPECIAL_OPTION, SpecialTokens, names_of_sets, with_added_special
from tokbench_plugins.sentencepiece.proto import SPACE, Kind, Piece, PieceType

_BYTE_LEVEL: Final = "gpt2"
_SENTENCEPIECE: Final = {"llama": Kind.BPE, "t5": Kind.UNIGRAM}


class GGUFLoadOptions(plugin.Options):
    """Options of a GGUF file."""

    path: plugin.LocalPath = Field(description="a model file of llama.cpp (.gguf), or its vocabulary alone")
    pre: str = Field(
        default="",
        description="byte-level BPE: the split, by llama.cpp's name for it, such as llama-bpe; default: the file's",
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION
    engine: BulkEngine = BULK_ENGINE


def _load(options: GGUFLoadOptions) -> plugin.Tokenizer:
    content = read_gguf(options.path)
    if content.model not in {_BYTE_LEVEL, *_SENTENCEPIECE}:
        read = ", ".join([_BYTE_LEVEL, *_SENTENCEPIECE])
        raise BackendError(f"{options.path}: its tokenizer.ggml.model is {content.model!r}; only {read} are read")
    make = _byte_level if content.model == _BYTE_LEVEL else _sentencepiece
    try:
        return make(content, options)
    except ValueError as error:
        raise BackendError(f"{options.path}: {error}") from error


def _byte_level(content: GGUFTokenizer, options: GGUFLoadOptions) -> plugin.Tokenizer:
    from tokbench_engines.gguf.tokenizers import GGUFByteLevel

    split = split_of(options.pre or content.pre)
    wanted = names_of_sets(options.special_tokens)
    types = [
        PieceType.CONTROL if kind == PieceType.USER_DEFINED and name in wanted else kind
        for name, kind in zip(content.tokens, content.token_type or repeat(PieceType.NORMAL), strict=False)
    ]
    ids, special, defined = dict[str, int](), dict[str, int](), dict[str, int]()
    by_type: dict[int, dict[str, int]] = {PieceType.NORMAL: ids, PieceType.USER_DEFINED: defined, PieceType.UNUSED: {}}
    for token_id, (name, kind) in enumerate(zip(content.tokens, types, strict=True)):
        by_type.get(kind, special)[name] = token_id
    vocabulary = vocabulary_of_names(ids, map(_halves, content.merges), "tokenizer.ggml.merges[{}]".format)
    if split.whole_chunks:
        vocabulary = replace(vocabulary, whole_chunks=not_merged(vocabulary))
    known = [*vocabulary.tokens, *[b""] * (len(content.tokens) - len(vocabulary.tokens))]
    for name, token_id in defined.items():
        known[token_id] = name.encode()
    tokens = SpecialTokens(special, known).with_more(options.special_tokens, len(known))
    tokenizer = GGUFByteLevel(replace(vocabulary, tokens=tuple(known)), split.pattern, tokens, engine=options.engine)
    tokenizer.defined = SpecialTokens(defined)
    added = [name for token_id, name in sorted(tokens.names.items()) if token_id >= len(content.tokens)]
    tokenizer.content = replace(
        content,
        pre=options.pre or content.pre,
        tokens=(*content.tokens, *added),
        token_type=(*types, *[int(PieceType.CONTROL)] * len(added)),
    )
    return tokenizer


def _halves(merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    return left, right


def _sentencepiece(content: GGUFTokenizer, options: GGUFLoadOptions) -> plugin.Tokenizer:
    from tokbench_engines.gguf.tokenizers import GGUFScored, GGUFUnigram

    if options.pre:
        raise ValueError(f"pre belongs to byte-level BPE, and this file has a {content.model} model; remove pre")
    if not content.scores or not content.token_type:
        raise ValueError(f"a {content.model} model needs tokenizer.ggml.scores and token_type; it lacks one of them")
    model = write_model(
        _pieces(content),
        _SENTENCEPIECE[content.model],
        rules=bytes(value % 256 for value in content.precompiled_charsmap),
        adds_space=content.add_space_prefix,
        joins_spaces=content.remove_extra_whitespaces,
    )
    tokenizer = (GGUFScored if content.model == "llama" else GGUFUnigram)(model)
    tokenizer.content = content
    return with_added_special(tokenizer, options.special_tokens)


def _pieces(content: GGUFTokenizer) -> Iterator[Piece]:
    unknown = None if PieceType.UNKNOWN in content.token_type else content.unknown_token_id
    rows = zip(content.tokens, content.scores, map(PieceType, content.token_type), strict=True)
    for token_id, (text, score, kind) in enumerate(rows):
        text = text.replace(" ", SPACE) if kind is PieceType.USER_DEFINED else text  # noqa: PLW2901
        yield Piece(text, score, PieceType.UNKNOWN if token_id == unknown else kind)


SPEC = plugin.BackendSpec(
    name="gguf",
    summary="the tokenizer in a model file of llama.cpp: byte-level BPE, or a SentencePiece model",
    load=_load,
    load_options=GGUFLoadOptions,
    requires=("gguf", "sentencepiece"),
    install=install("gguf"),
    main="path",
    files=(plugin.FileKind(".gguf", marks="GGUF"),),
)
