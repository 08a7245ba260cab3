"""The backend ``gigatoken``: any byte-level vocabulary in gigatoken, or one that it trains."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field

from tokbench import plugin
from tokbench.plugin import Encoded, valid_unicode
from tokbench_engines.engines.given import holes, in_llama3_spelling, through_json, through_ranks
from tokbench_engines.engines.tokenizer import Engine, EngineTokenizer, calling, engine_of, newer_unicode
from tokbench_plugins.bpe.formats import Parts, write_tokenizer_json
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.tokbench_bpe.vocabulary import VOCABULARY_FILES, EngineVocabulary, FileOptions, load_vocabulary

_SPLITS: Final = frozenset({"gpt2", "gpt4", "o200k"})
_SEPARATOR: Final = b"\xff"  # a byte that UTF-8 does not have


class GigatokenTrainOptions(plugin.Options):
    """Options of gigatoken's trainer, which splits as GPT-2."""

    tie: Literal["huggingface", "raw_token_ids", "assembled_bytes"] = Field(
        default="huggingface",
        description="of equally frequent pairs: Hugging Face's choice, the smallest ids, or the smallest bytes",
    )


class GigatokenTokenizer(EngineTokenizer):
    """A byte-level vocabulary in gigatoken, without special tokens, because it would always recognise them.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hi": 256}
    >>> tokenizer = GigatokenTokenizer(EngineVocabulary("gpt2", {}, ranks))
    >>> tokenizer.encode("hi <end>")
    [256, 32, 60, 101, 110, 100, 62]
    """

    file_suffix = ".tokenizer.json"

    def __init__(self, vocabulary: EngineVocabulary) -> None:
        engine = engine_of("gigatoken", _engine, vocabulary)
        super().__init__("gigatoken", engine, vocabulary, (GigatokenTokenizer, (vocabulary,)))

    def save(self, path: Path, /) -> None:
        given = self._vocabulary
        write_tokenizer_json(path, Parts(given.vocabulary, given.pattern, SpecialTokens(given.special)))


def _native(vocabulary: EngineVocabulary) -> Any:
    import gigatoken

    if vocabulary.ranks is None or holes(vocabulary) or vocabulary.pattern not in _SPLITS:
        return through_json(in_llama3_spelling(vocabulary), gigatoken.Tokenizer)
    split = vocabulary.pattern
    return through_ranks(
        vocabulary, lambda path: gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=split, special_tokens={})
    )


def _engine(vocabulary: EngineVocabulary) -> Engine:
    native = _native(vocabulary)

    def encode(text: str) -> list[int]:
        if not isinstance(text, str):  # it would take bytes
            raise TypeError(f"a text is a str, not {type(text).__name__}")
        try:
            ids: list[int] = native.encode(text).tolist()
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

    return Engine(encode, native.decode, encode_many, notes=(newer_unicode("gigatoken"),))


def _load(options: FileOptions) -> GigatokenTokenizer:
    return GigatokenTokenizer(load_vocabulary(options))


def _train(
    documents: Iterable[str], vocab_size: int, options: GigatokenTrainOptions, progress: plugin.TrainProgress
) -> GigatokenTokenizer:
    import gigatoken

    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "documents")
        with path.open("wb") as file:
            for number, document in enumerate(documents):
                file.write(_SEPARATOR * bool(number) + valid_unicode(document).encode())
        source = gigatoken.TextFileSource([path], separator=_SEPARATOR)
        tokens, _ = calling("gigatoken", lambda: gigatoken.train_bpe(source, vocab_size, [], tie_breaking=options.tie))
    progress(1, 1)  # it does not say how far it is
    return GigatokenTokenizer(EngineVocabulary("gpt2", {}, {data: token_id for token_id, data in tokens.items()}))


SPEC = plugin.BackendSpec(
    name="gigatoken",
    summary="OpenAI's encodings, or any byte-level BPE with a well-known split, in gigatoken; and its trainer",
    load=_load,
    load_options=FileOptions,
    train=_train,
    train_options=GigatokenTrainOptions,
    min_vocab_size=256,
    nested=True,
    requires=("gigatoken",),
    install="pip install 'tokbench[fast]'",
    main="encoding",
    files=VOCABULARY_FILES,
    precedence=-2,
)
