"""The backend ``gguf``: byte-level BPE, SentencePiece models, BERT and Gemma 4, from a model file of llama.cpp.

Ids of ordinary text are llama.cpp's with ``parse_special`` off, without the tokens that it puts around a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from pydantic import Field

from tokbench import plugin
from tokbench.plugin import BackendError
from tokbench_engines import install
from tokbench_engines.gguf.defined import Defined
from tokbench_engines.gguf.metadata import GGUFTokenizer, read_gguf, write_model
from tokbench_engines.gguf.splits import split_of
from tokbench_plugins.bpe import BULK_ENGINE, SPECIAL_OPTION, BulkEngine, SpecialTokens
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, vocabulary_of_names
from tokbench_plugins.bpe.recovery.canonical import not_merged
from tokbench_plugins.bpe.special import names_of_sets, with_added_special
from tokbench_plugins.sentencepiece.proto import SPACE, ModelKind, ModelPiece, PieceType

_SENTENCEPIECE: Final = {"llama": ModelKind.BPE, "t5": ModelKind.UNIGRAM}
_NOT_STRIPPED: Final = {"<unk>", "<s>", "<|endoftext|>"}
_IN_NO_TEXT: Final = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
"""Bytes that UTF-8 does not have."""
_ALPHABET: Final = frozenset(BYTE_TO_CHARACTER)
_HIDDEN: Final = {PieceType.USER_DEFINED: PieceType.CONTROL}


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
    if content.model not in _MAKERS:
        raise BackendError(
            f"{options.path}: its tokenizer.ggml.model is {content.model!r}, an algorithm that is not here; "
            f"those of {', '.join(_MAKERS)} are: take the model's tokenizer.json, if it has one"
        )
    if options.pre and content.model != "gpt2":
        raise BackendError(
            f"{options.path}: pre belongs to byte-level BPE, and this is a {content.model} model; remove pre"
        )
    try:
        return _MAKERS[content.model](content, options)
    except ValueError as error:
        raise BackendError(f"{options.path}: {error}") from error


def _byte_level(content: GGUFTokenizer, options: GGUFLoadOptions) -> plugin.Tokenizer:
    from tokbench_engines.gguf.tokenizers import GGUFByteLevel

    split = split_of(options.pre or content.pre)
    wanted = names_of_sets(options.special_tokens)
    types = [
        PieceType.CONTROL if kind == PieceType.USER_DEFINED and name in wanted else kind
        for name, kind in content.typed_tokens
    ]
    ids, special, defined, other = dict[str, int](), dict[str, int](), dict[str, int](), dict[str, int]()
    by_type = {PieceType.NORMAL: ids, PieceType.USER_DEFINED: defined, PieceType.UNUSED: dict[str, int]()}
    for token_id, (name, kind) in enumerate(zip(content.tokens, types, strict=True)):
        spelled = kind != PieceType.NORMAL or _ALPHABET.issuperset(name)
        (by_type.get(PieceType(kind), special) if spelled else other)[name] = token_id
    tokens = SpecialTokens(special).with_more(options.special_tokens, len(content.tokens))
    size = max([len(content.tokens) - 1, *tokens.names]) + 1
    lost = {char: size + k for k, char in enumerate(c for c in BYTE_TO_CHARACTER if c not in ids)}
    lost = {char: defined.get(char, token_id) for char, token_id in lost.items()}
    vocabulary = vocabulary_of_names(ids | lost, map(_halves, content.merges), "tokenizer.ggml.merges[{}]".format)
    if split.whole_chunks:
        vocabulary = replace(vocabulary, whole_chunks=not_merged(vocabulary))
    known = [*vocabulary.tokens, *[b""] * (len(content.tokens) - len(vocabulary.tokens))]
    for name, token_id in (defined | other).items():
        known[token_id] = name.encode()
    vocabulary = replace(vocabulary, tokens=tuple(known))
    tokenizer = GGUFByteLevel(vocabulary, split.pattern, tokens, engine=options.engine)
    tokenizer.vocab_size = size
    tokenizer.defined, tokenizer.before = Defined(defined), split
    tokenizer.lost = {token_id: known[token_id] for token_id in lost.values() if token_id >= size}
    dropped = sorted(data[0] for data in tokenizer.lost.values() if data[0] not in _IN_NO_TEXT)
    if dropped:
        tokenizer.lossless = False
        listed = ", ".join(f"0x{byte:02x}" for byte in dropped)
        tokenizer.file_notes = (f"bytes without a token are left out of a text, as llama.cpp does: {listed}",)
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
    from tokbench_plugins.sentencepiece.tokenizer import SentencePieceTokenizer

    if not content.scores or not content.token_type:
        raise ValueError(f"a {content.model} model needs tokenizer.ggml.scores and token_type; it lacks one of them")
    pieces = list(_pieces(content))
    write = partial(
        write_model,
        kind=_SENTENCEPIECE[content.model],
        rules=bytes(value % 256 for value in content.precompiled_charsmap),
        adds_space=content.add_space_prefix,
        joins_spaces=content.remove_extra_whitespaces,
    )
    tokenizer = (GGUFScored if content.model == "llama" else GGUFUnigram)(write(pieces))
    tokenizer.content = content
    if content.defined:
        names = content.general_name.lower()
        strips = {*content.defined} - _NOT_STRIPPED if "phi-3" in names or "phi3" in names else ()
        tokenizer.defined = Defined(content.defined, strips)
        # As control pieces they keep their ids, and no text gives them.
        plain = [piece._replace(type=_HIDDEN.get(piece.type, piece.type)) for piece in pieces]
        tokenizer.inner = SentencePieceTokenizer(write(plain))
    return with_added_special(tokenizer, options.special_tokens)


def _pieces(content: GGUFTokenizer) -> Iterator[ModelPiece]:
    """Yield the pieces; SentencePiece has one for unknown text, and llama.cpp any number that no text gives."""
    first = content.token_type.index(PieceType.UNKNOWN) if PieceType.UNKNOWN in content.token_type else 0
    unknown = first if content.unknown_token_id is None else content.unknown_token_id
    rows = zip(content.tokens, content.scores, map(PieceType, content.token_type), strict=True)
    for token_id, (text, score, kind) in enumerate(rows):
        text = text.replace(" ", SPACE) if kind is PieceType.USER_DEFINED else text  # noqa: PLW2901
        kind = PieceType.CONTROL if kind is PieceType.UNKNOWN else kind  # noqa: PLW2901
        yield ModelPiece(text, score, PieceType.UNKNOWN if token_id == unknown else kind)


def _pipeline(content: GGUFTokenizer, options: GGUFLoadOptions) -> plugin.Tokenizer:
    try:
        from tokbench_engines.gguf.pipelines import merged_characters, word_piece
    except ImportError as error:
        raise plugin.BackendUnavailable(f"a {content.model} model needs tokenizers: pip install tokenizers") from error
    tokenizer = (word_piece if content.model == "bert" else merged_characters)(content)
    return with_added_special(tokenizer, options.special_tokens)


_MAKERS: Final[Mapping[str, Callable[[GGUFTokenizer, GGUFLoadOptions], plugin.Tokenizer]]] = {
    "gpt2": _byte_level,
    "llama": _sentencepiece,
    "t5": _sentencepiece,
    "bert": _pipeline,
    "gemma4": _pipeline,
}

SPEC = plugin.BackendSpec(
    name="gguf",
    summary="the tokenizer in a model file of llama.cpp: byte-level BPE, SentencePiece models, BERT and Gemma 4",
    load=_load,
    load_options=GGUFLoadOptions,
    requires=("gguf", "sentencepiece"),
    install=install("gguf"),
    main="path",
    files=(
        plugin.FileKind(".gguf", marks="GGUF"),
        plugin.FileKind(".gguf", refusal="not a GGUF file, or a damaged one; get it again"),
    ),
)
