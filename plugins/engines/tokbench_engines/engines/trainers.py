"""Trainers of other libraries: rustbpe, gigabpe and gigatoken.

What rustbpe and gigabpe train is encoded by tokbench's BPE, so that only the training differs:

- rustbpe counts on several threads, and ties go to the smallest ids: its merges are those of ``regex_bpe`` with
  ``tie: smallest``.
- gigabpe makes the merges of Hugging Face's trainer on files. Each line is a separate text, with its end, so that no
  merge crosses a line; a document without an end of line gets one. Ties go to the smallest ids, where the ids of bytes
  are in the order of their characters in GPT-2's alphabet: ``!`` is 0, and the space 220.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from tokbench.plugin import BackendSpec, Options, TrainProgress, valid_unicode
from tokbench_engines import install
from tokbench_engines.engines.table import gigatoken
from tokbench_engines.engines.tokenizer import EngineTokenizer, calling, engine_of
from tokbench_plugins.bpe import (
    FIRST_MERGE,
    PATTERNS,
    BPELoadOptions,
    BPETokenizer,
    CorpusDigest,
    Parts,
    SpecialTokens,
    SplitPattern,
    TrainingRecord,
    load_saved,
    resolve_pattern,
    saved_files,
    write_tokenizer_json,
)
from tokbench_plugins.bpe.formats.byte_names import BYTE_TO_CHARACTER, bytes_of_name
from tokbench_plugins.tokbench_bpe.vocabulary import VOCABULARY_FILES, EngineVocabulary, FileOptions, load_vocabulary


class RustBPETrainOptions(Options):
    """Options of training ``rustbpe``."""

    pattern: SplitPattern = Field(
        default="gpt4",
        description=f"the pre-tokenization split: {', '.join(PATTERNS)} or a regular expression; "
        "what it does not match is not trained on",
    )


def _train_rustbpe(
    documents: Iterable[str], vocab_size: int, options: RustBPETrainOptions, progress: TrainProgress
) -> BPETokenizer:
    import rustbpe

    digest = CorpusDigest(documents)
    native = rustbpe.Tokenizer()
    texts = map(valid_unicode, digest)
    pattern = resolve_pattern(options.pattern)
    calling("rustbpe", lambda: native.train_from_iterator(texts, vocab_size, pattern=pattern))
    ranks = {bytes(data): rank for data, rank in native.get_mergeable_ranks()}
    tokenizer = BPETokenizer.from_ranks(ranks, options.pattern)
    tokenizer.training = TrainingRecord(vocab_size, "smallest", digest.corpus)
    progress(1, 1)  # it does not say how far it is
    return tokenizer


def _write(documents: Iterable[str], path: Path, separator: bytes) -> bool:
    """Write the documents that are not empty, each with a separator at its end; tell whether there is any."""
    with path.open("wb") as file:
        for document in filter(None, documents):
            data = valid_unicode(document).encode()
            file.write(data if data.endswith(separator) else data + separator)
        return file.tell() > 0


def _train_gigabpe(
    documents: Iterable[str], vocab_size: int, _options: Options, progress: TrainProgress
) -> BPETokenizer:
    import gigabpe

    digest = CorpusDigest(documents)
    merges: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "documents")
        if _write(digest, path, b"\n"):
            # Its own alphabet has the bytes of the text alone. Special names come first, and are never looked for.
            alphabet = sorted(BYTE_TO_CHARACTER)
            train = partial(gigabpe.train_bpe, [str(path)], vocab_size, pretokenizer="bytelevel")
            _, merges = calling("gigabpe", lambda: train(special_tokens=alphabet))
    ids = {bytes([byte]): byte for byte in range(FIRST_MERGE)}
    pairs = []
    for left, right in merges:
        one, other = bytes_of_name(left), bytes_of_name(right)
        pairs.append((ids[one], ids[other]))
        ids[one + other] = len(ids)
    progress(1, 1)  # it does not say how far it is
    return BPETokenizer(pairs, "gpt2", training=TrainingRecord(vocab_size, corpus=digest.corpus))


class GigatokenTrainOptions(Options):
    """Options of gigatoken's trainer, which splits as GPT-2."""

    tie: Literal["huggingface", "raw_token_ids", "assembled_bytes"] = Field(
        default="huggingface",
        description="tie-breaking of equally frequent pairs: Hugging Face's choice, smallest ids, or smallest bytes",
    )


class GigatokenTokenizer(EngineTokenizer):
    """A vocabulary in gigatoken, which can be saved.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hi": 256}
    >>> tokenizer = GigatokenTokenizer(EngineVocabulary("gpt2", {}, ranks))
    >>> tokenizer.encode("hi <end>")
    [256, 32, 60, 101, 110, 100, 62]
    """

    file_suffix = ".tokenizer.json"

    def __init__(self, vocabulary: EngineVocabulary) -> None:
        engine = engine_of("gigatoken", gigatoken, vocabulary)
        super().__init__("gigatoken", engine, vocabulary, (GigatokenTokenizer, (vocabulary,)))

    def save(self, path: Path, /) -> None:
        given = self._vocabulary
        write_tokenizer_json(path, Parts(given.vocabulary, given.pattern, SpecialTokens(given.special)))


_SEPARATOR: Final = b"\xff"  # a byte that UTF-8 does not have


def _train_gigatoken(
    documents: Iterable[str], vocab_size: int, options: GigatokenTrainOptions, progress: TrainProgress
) -> GigatokenTokenizer:
    import gigatoken as library

    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "documents")
        _write(documents, path, _SEPARATOR)
        source = library.TextFileSource([path], separator=_SEPARATOR)
        tokens, _ = calling("gigatoken", lambda: library.train_bpe(source, vocab_size, [], tie_breaking=options.tie))
    progress(1, 1)  # it does not say how far it is
    return GigatokenTokenizer(EngineVocabulary("gpt2", {}, {data: token_id for token_id, data in tokens.items()}))


def _saved_as_bpe(name: str, summary: str, **more: Any) -> BackendSpec:
    return BackendSpec(
        name=name,
        summary=summary,
        load=partial(load_saved, kind="regex_bpe"),
        load_options=BPELoadOptions,
        min_vocab_size=FIRST_MERGE,
        nested=True,
        requires=(name,),
        install=install("all"),
        main="path",
        files=saved_files("regex_bpe"),
        **more,
    )


SPECS: Final = (
    _saved_as_bpe(
        "rustbpe",
        "byte-level BPE trained by rustbpe, encoded by tokbench's own BPE",
        train=_train_rustbpe,
        train_options=RustBPETrainOptions,
        train_main="pattern",
        precedence=-2,
    ),
    _saved_as_bpe(
        "gigabpe",
        "byte-level BPE with the split of GPT-2, trained by gigabpe line by line, encoded by tokbench's own BPE",
        train=_train_gigabpe,
        precedence=-3,
    ),
    BackendSpec(
        name="gigatoken",
        summary="OpenAI's encodings, or any byte-level BPE with a well-known split, in gigatoken; and its trainer",
        load=lambda options: GigatokenTokenizer(load_vocabulary(options)),
        load_options=FileOptions,
        train=_train_gigatoken,
        train_options=GigatokenTrainOptions,
        min_vocab_size=FIRST_MERGE,
        nested=True,
        requires=("gigatoken",),
        install=install("all"),
        main="encoding",
        files=VOCABULARY_FILES,
        precedence=-2,
    ),
)
