"""The engines: each a row with its package and the function that puts a vocabulary into it.

A function imports its library, so that a library that is absent leaves the other engines usable.
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field

from tokbench.plugin import BackendError, BackendSpec, Encoded, Options
from tokbench_engines import install
from tokbench_engines.engines.given import PackageOptions, holes, in_llama3_spelling, through_json, through_ranks
from tokbench_engines.engines.tokenizer import Engine, load_engine
from tokbench_plugins.bpe import SPECIAL_OPTION, BPETokenizer, resolve_pattern, write_ranks
from tokbench_plugins.tokbench_bpe.vocabulary import VOCABULARY_FILES, EngineVocabulary, FileOptions

_NEWER_UNICODE: Final = (
    "{}'s classes of characters are of a newer Unicode than tiktoken's: around characters that Unicode 17 "
    "brought (such as U+088F) ids may differ"
)


def _bpe_openai(vocabulary: EngineVocabulary) -> Engine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised when it reads its own files
        from bpe_openai import _bindings

    native = _bindings.tokenizer_for_encoding(vocabulary.encoding)
    note = "bpe-openai's own Python layer refuses 1,000,000 characters; its compiled encoder is used without it"
    return Engine(native.encode, native.decode, given=len(vocabulary.ranks or ()), count=native.count, notes=(note,))


def _rs_bpe(vocabulary: EngineVocabulary) -> Engine:
    from rs_bpe.bpe import openai

    native = getattr(openai, vocabulary.encoding)()
    return Engine(native.encode, native.decode, given=len(vocabulary.ranks or ()), count=native.count)


def _ids_of(encode: Callable[[str], Any]) -> Callable[[str], Sequence[int]]:
    """Return a function that takes the ids out of an engine's encoding."""

    def ids_of(text: str) -> Sequence[int]:
        ids: list[int] = encode(text).ids
        return ids

    return ids_of


def _of_buffers(ids: bytes, offsets: bytes) -> Encoded:
    return Encoded(np.frombuffer(ids, "<u4"), np.frombuffer(offsets, "<u8").astype(np.int64))


# Splits that fastokens knows by the name of an encoding, and runs without a regular expression.
_FASTOKENS_PRESETS: Final = {"gpt4": "cl100k_base", "o200k": "o200k_base"}


def fastokens(vocabulary: EngineVocabulary) -> Engine:
    """Put a vocabulary into fastokens."""
    # A batch is cut over all cores unless this is said before the library is first used.
    os.environ.setdefault("FASTOKENS_BPE_THREADS", "1")
    from fastokens import Tokenizer

    pattern, special = vocabulary.pattern, dict(vocabulary.special)
    if vocabulary.ranks is None or holes(vocabulary) or pattern is None:
        native = through_json(vocabulary, Tokenizer.from_file)
    else:
        preset = _FASTOKENS_PRESETS.get(pattern)
        split = {"encoding": preset} if preset else {"pattern": resolve_pattern(pattern)}
        native = through_ranks(vocabulary, lambda path: Tokenizer.from_tiktoken(path, special_tokens=special, **split))
    return Engine(
        _ids_of(native.encode_ordinary),
        native.decode,
        lambda texts: _of_buffers(*native.encode_batch_flat(texts, split_special_tokens=True)),
    )


def _snaptokens(vocabulary: EngineVocabulary) -> Engine:
    # Its batches are cut over all cores unless this is said before the library is first used.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    from snaptokens import Tokenizer

    # It refuses GPT-4's spelling of its split.
    native = through_json(in_llama3_spelling(vocabulary), Tokenizer.from_file)
    note = (
        "snaptokens keeps the caches of one tokenizer a thread, and makes them again where two take turns, which takes "
        "ten milliseconds or more: time one vocabulary in a run"
    )
    return Engine(
        _ids_of(native.encode),
        native.decode,
        lambda texts: _of_buffers(*native.encode_batch_flat(texts)),
        native.decode_batch,
        given=native.vocab_size,
        notes=(_NEWER_UNICODE.format("snaptokens"), note),
    )


_GIGATOKEN_SPLITS: Final = frozenset({"gpt2", "gpt4", "o200k"})


def gigatoken(vocabulary: EngineVocabulary) -> Engine:
    """Put a vocabulary into gigatoken, without special tokens, because it would always recognise them."""
    from gigatoken import Tokenizer

    pattern = vocabulary.pattern
    if vocabulary.ranks is None or holes(vocabulary) or pattern not in _GIGATOKEN_SPLITS:
        native = through_json(in_llama3_spelling(vocabulary), Tokenizer)
    else:
        native = through_ranks(
            vocabulary, lambda path: Tokenizer.from_tiktoken(path, pretokenizer=pattern, special_tokens={})
        )

    def encode(text: str) -> list[int]:
        try:
            ids: list[int] = native.encode(_text(text)).tolist()
        except RuntimeError:  # "Already borrowed": another thread encodes a batch, which its batches alone bear
            ids = encode_many([text]).ids.tolist()
        return ids

    def encode_many(texts: list[str]) -> Encoded:
        if not texts:
            return Encoded(np.empty(0, np.uint32), np.zeros(1, np.int64))
        layout = native.encode_batch(texts, parallel=False).layout
        offsets = np.asarray(layout.offsets.data, np.int64)
        ids = np.asarray(layout.content.data, np.uint32)
        return Encoded(ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    return Engine(encode, native.decode, encode_many, notes=(_NEWER_UNICODE.format("gigatoken"),))


def _text(text: str) -> str:
    """Refuse bytes, which some engines take for text."""
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}")
    return text


_LONGEST_SPACE: Final = 100_000
# Python's own module compiles it at once, regex in a tenth of a second. Its \s has four control characters more
# than Unicode's white space.
_TOO_LONG: Final = re.compile(rf"[^\S\x1c-\x1f]{{{_LONGEST_SPACE}}}")


def _kitoken_native(vocabulary: EngineVocabulary) -> Any:
    """Give kitoken the split, because its own for GPT-2 is another, and no special tokens, which would always cut."""
    from kitoken import Kitoken

    if vocabulary.ranks is None or vocabulary.pattern is None:
        return through_json(vocabulary, Kitoken.from_tokenizers_file)
    native = through_ranks(vocabulary, Kitoken.from_tiktoken_file)
    definition = native.definition()
    pattern = {"pattern": {"Regex": resolve_pattern(vocabulary.pattern)}, "behavior": "Isolate"}
    definition["specials"] = []
    definition["config"]["split"] = [{"Pattern": pattern}]
    native.set_definition(definition)
    return native


def _kitoken(vocabulary: EngineVocabulary) -> Engine:
    native = _kitoken_native(vocabulary)
    detours = 0

    @cache
    def ours() -> BPETokenizer:
        return BPETokenizer(vocabulary.vocabulary, vocabulary.pattern)

    def encode(text: str) -> list[int]:
        nonlocal detours
        if len(text) >= _LONGEST_SPACE and _TOO_LONG.search(text):  # its regular expressions would abort the process
            detours += 1
            return ours().encode(text)
        ids: list[int] = native.encode(text)
        return ids

    note = "a text with 100,000 white-space characters in a row is encoded by tokbench's BPE: kitoken would abort"
    return Engine(encode, native.decode, decode_many=native.decode_all, detours=lambda: detours, notes=(note,))


class QuicktokLoadOptions(Options):
    """Its vocabulary."""

    encoding: Literal["cl100k_base", "llama3", "o200k_base"] = Field(description="cl100k_base, o200k_base or llama3")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def _quicktok(vocabulary: EngineVocabulary) -> Engine:
    from quicktok import get_encoding  # of the package quicktok-v1: quicktok is another one

    native = get_encoding(vocabulary.encoding)

    def encode_many(texts: list[str]) -> Encoded:
        ids, offsets = native.encode_batch(texts, 1)  # on one thread
        return Encoded(ids, np.asarray(offsets, np.int64))

    llama = (
        "with llama3 its ids differ in words around tokens that no merge makes, many of them Russian: of ' считал' it "
        "makes ' счита' and 'л', where Meta's own file gives ' счит' and 'ал'"
    )
    return Engine(
        lambda text: native.encode_ordinary(_text(text)),
        native.decode_bytes,
        encode_many,
        given=len(vocabulary.ranks or ()),
        count=native.count,
        notes=(_NEWER_UNICODE.format("quicktok"), *((llama,) if vocabulary.encoding == "llama3" else ())),
    )


def _tokie(vocabulary: EngineVocabulary) -> Engine:
    from tokie import Tokenizer

    native = through_json(vocabulary, Tokenizer.from_json)
    note = (
        "its ids are not tiktoken's everywhere: tokie cuts texts of more than 65,536 bytes where no split is, breaks "
        "white space between line breaks ('\\n \\n'), takes letter-like numbers (U+2167, U+24B6) for other classes, "
        "with o200k takes variation selectors for symbols (' \u2764\ufe0f'), and follows another version of Unicode"
    )
    return Engine(_ids_of(partial(native.encode, add_special_tokens=False)), native.decode_bytes, notes=(note,))


class WordchipperLoadOptions(Options):
    """The vocabulary."""

    encoding: Literal["cl100k_base", "o200k_base", "r50k_base"] = Field(
        description="r50k_base (GPT-2's), cl100k_base or o200k_base"
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


@contextmanager
def _cache_of_wordchipper(vocabulary: EngineVocabulary) -> Iterator[None]:
    """Put the ranks into a folder: where wordchipper cannot download them, it runs on 256 bytes without a warning."""
    name, variable = vocabulary.encoding, "WORDCHIPPER_CACHE_DIR"
    before = os.environ.get(variable)
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "openai", name, f"{name}.tiktoken")
        path.parent.mkdir(parents=True)
        write_ranks(path, vocabulary.ranks or {})
        os.environ[variable] = folder
        try:
            yield
        finally:
            del os.environ[variable]
            if before is not None:
                os.environ[variable] = before


def _wordchipper(vocabulary: EngineVocabulary) -> Engine:
    from wordchipper import SpecialFilter, Tokenizer, TokenizerOptions  # type: ignore[attr-defined]  # its stubs lack it

    options = TokenizerOptions.default()
    options.set_parallel(False)
    with _cache_of_wordchipper(vocabulary):
        native = Tokenizer.from_pretrained(f"openai:{vocabulary.encoding}", options)
    there, wanted = len(native.vocab), len(vocabulary.ranks or ())
    if there < wanted:
        raise BackendError(f"wordchipper loaded {there} tokens of {vocabulary.encoding} instead of {wanted}")
    encode = partial(native._tok.encode, special_filter=SpecialFilter.include_none())  # noqa: SLF001 - without its Python layer
    return Engine(encode, native.decode_bytes, decode_many=native.decode_bytes_batch)


class _Row(NamedTuple):
    name: str
    package: str
    summary: str
    make: Callable[[EngineVocabulary], Engine]
    options: type[Options] = FileOptions


def _any_vocabulary(name: str, make: Callable[[EngineVocabulary], Engine]) -> _Row:
    return _Row(name, name, f"OpenAI's encodings, or any byte-level BPE, in {name}", make)


_ROWS: Final = (
    _any_vocabulary("fastokens", fastokens),
    _any_vocabulary("kitoken", _kitoken),
    _any_vocabulary("snaptokens", _snaptokens),
    _any_vocabulary("tokie", _tokie),
    _Row("bpe_openai", "bpe-openai", "OpenAI's vocabularies in GitHub's linear-time BPE", _bpe_openai, PackageOptions),
    _Row("rs_bpe", "rs-bpe", "OpenAI's vocabularies in rs-bpe", _rs_bpe, PackageOptions),
    _Row("quicktok", "quicktok-v1", "OpenAI's encodings and Llama 3's in quicktok", _quicktok, QuicktokLoadOptions),
    _Row("wordchipper", "wordchipper", "OpenAI's encodings in wordchipper", _wordchipper, WordchipperLoadOptions),
)

SPECS: Final = tuple(
    BackendSpec(
        name=row.name,
        summary=row.summary,
        load=partial(load_engine, row.name, row.make),
        load_options=row.options,
        requires=(row.package,),
        install=install("all"),
        main="encoding",
        files=VOCABULARY_FILES if row.options is FileOptions else (),
        precedence=-2,
    )
    for row in _ROWS
)
