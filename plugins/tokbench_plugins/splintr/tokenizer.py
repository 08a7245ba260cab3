"""A vocabulary of ``splintr-rs`` behind tokbench's contract."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import chain, pairwise, takewhile
from typing import Any, Final, Literal
from unicodedata import is_normalized, normalize

import numpy as np
import splintr
from numpy.typing import NDArray

from tokbench.foundation.errors import BackendError
from tokbench.tokenizers.batch import check_id, check_ids, check_span, from_buffers, from_lists
from tokbench.tokenizers.contract import Encoded
from tokbench_plugins.bpe.patterns import NAMED
from tokbench_plugins.bpe.recovery.order import Merges, merges_of_ranks
from tokbench_plugins.bpe.special import EncodesAroundSpecial, SpecialTokens
from tokbench_plugins.sentencepiece.merges import merges_of_pieces
from tokbench_plugins.sentencepiece.proto import ModelPiece, PieceType
from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, make_encoding

_BYTES: Final = 256
_LOWEST: Final = -1e9  # the score of runs of spaces in the models of Llama and Mistral
_NO_TEXT: Final = 0x80  # the first byte that is not a character, so that only one id has it
_BYTES_PER_ID = 4
_ESCAPED_SPACE = "▁".encode()
_NO_PART: Final = "\x01"  # the vocabularies with a dummy prefix have nothing but its byte for this control character

_ORDINARY: Final[Mapping[str, Sequence[range]]] = {
    "deepseek_v3": (range(128_800, 128_805), range(128_806, 128_815)),
    "gemma2": (range(4, 106), range(139, 217), range(255_968, 256_000, 31)),
    "gemma3": (range(4, 105), range(138, 238), range(256_001, 262_144)),
    "glm4": (range(151_350, 151_360), range(151_361, 151_365)),
    "modernbert": (range(1), range(50_254, 50_279), range(50_285, 50_368)),
    "olmo2": (range(100_256, 100_257), range(100_261, 100_264), range(100_266, 100_276)),
    "qwen3": (range(151_657, 151_669),),
}
"""Ids of pieces that ordinary text gives whole although no merges make them."""

_CONTROL: Final[Mapping[str, Sequence[int]]] = {"gemma2": (106, 107), "gemma3": (105, 106, 255_999, 256_000)}

_WITH_ENDS: Final = {"o200k_base", "gpt-oss", "kimi_k2", "kimi_k3"}
"""The vocabularies whose words may end in a contraction."""
_SPLITS: Final[Mapping[str, str]] = {
    "cl100k_base": NAMED["gpt4"],
    "deepseek_v3": NAMED["deepseek"],
    "gemma2": NAMED["gemma"],
    "gemma3": NAMED["gemma"],
    "gemma4": NAMED["gemma"],
    "gpt-oss": NAMED["o200k"],
    "kimi_k2": NAMED["kimi"],
    "kimi_k3": NAMED["kimi"],
    "llama3": NAMED["gpt4"],
    "mistral_v3": NAMED["tekken"],
    "o200k_base": NAMED["o200k"],
    "phi4": NAMED["gpt4"],
    "whisper_v1": NAMED["gpt2"],
    "whisper_v2": NAMED["gpt2"],
    "whisper_v3": NAMED["gpt2"],
}
_ACROSS: Final[Mapping[str, Sequence[str]]] = {"gemma2": (), "gemma3": ("> </",), "gemma4": ("> </",)}
"""The pieces that Gemma's split cuts; all others are in one chunk whatever is around them."""
_LONG_S: Final = "'\u017f"  # in which splintr does not find the contraction 's
_LONG_RUN: Final = re.compile("( {16}(?= {16}))")  # what merges make first of a run that is longer than every piece


class SplintrTokenizer(EncodesAroundSpecial):
    r"""Ordinary text in one of splintr's vocabularies.

    Corrections, so that ordinary text has the ids of the model's tokenizer:

    - splintr adds 54 markers to every vocabulary; ``vocab_size`` does not count them.
    - Some vocabularies put special tokens around every text; these are removed.
    - User-defined or added pieces that are not special, such as ``<table>`` in Gemma's and ``<think>`` in Qwen's, are
      ordinary text: each gives its one id, and the text around it is encoded separately.
    - ``qwen3`` normalizes to NFC.
    - In ``o200k_base``, ``gpt-oss`` and Kimi's, an apostrophe before a long s begins a contraction.

    A special token decodes to its name or to nothing, depending on the vocabulary; so do its ``token_bytes``.

    >>> tokenizer = SplintrTokenizer("llama2")
    >>> tokenizer.encode("Hello </s>")
    [15043, 1533, 29879, 29958]
    >>> tokenizer.vocab_size, tokenizer.dummy_prefix, tokenizer.token_bytes(15043), tokenizer.unk_id
    (32000, b' ', b' Hello', 0)
    """

    thread_safe = True

    def __init__(self, vocabulary: str) -> None:
        try:
            self._engine = splintr.Tokenizer.from_pretrained(vocabulary)
        except ValueError as error:
            raise BackendError(f"the installed splintr-rs has no vocabulary {vocabulary!r}: {error}") from error
        self._name = vocabulary
        self._byte_level = self._engine.family == "BPE"
        # Measured: gemma4 and all that are not byte-level read U+2581 as a space; modernbert and qwen3 normalize.
        self.lossless: bool = self._byte_level and vocabulary not in {"gemma4", "modernbert", "qwen3"}
        self._special: dict[str, int] = self._engine.special_tokens()
        template = self._engine.encode_ordinary("")
        framed = self._engine.encode_ordinary("a")
        self._head = next((k for k, token in enumerate(template) if framed[k] != token), len(template))
        self._tail = len(template) - self._head
        self.vocab_size: int = splintr.base_vocab_size(vocabulary)
        self.unk_id: int | None = self._special.get("<unk>", self._special.get("[UNK]"))

    @property
    def split(self) -> str | None:
        return _SPLITS.get(self._name)

    @property
    def pieces_before_split(self) -> Collection[str]:
        """Those that a text may have across two chunks."""
        return _ACROSS.get(self._name, self._ordinary)

    @property
    def why_no_split(self) -> str:
        if self.dummy_prefix:
            return "it puts a space before a text, and not before each chunk"
        known = next(iter(self._ordinary), None)
        return f"it looks for pieces such as {known!r} before it splits" if known else "its split is not known"

    def __reduce__(self) -> tuple[Any, ...]:
        return SplintrTokenizer, (self._name,)

    @cached_property
    def identity(self) -> str:
        return f"splintr-rs {version('splintr-rs')}: {self._name}"

    @cached_property
    def special_ids(self) -> Mapping[str, int]:
        """Control tokens; in a byte-level vocabulary also what is before the first byte (Tekken)."""
        named = {token: i for token, i in self._special.items() if i < self.vocab_size and token not in self._ordinary}
        named |= {self.token_bytes(i).decode(): i for i in _CONTROL.get(self._name, ())}
        known = {*named.values(), *self._ordinary.values()}
        tokens = ((i, self.token_bytes(i)) for i in range(self.vocab_size) if i not in known)
        before = takewhile(lambda numbered: len(numbered[1]) != 1, tokens if self._byte_level else ())
        return named | {token.decode(): token_id for token_id, token in before if token}

    @cached_property
    def _ordinary(self) -> Mapping[str, int]:
        """The pieces of ``_ORDINARY`` by their text; runs in Gemma are of U+2581, and merges make runs of spaces."""
        ids = chain.from_iterable(_ORDINARY.get(self._name, ()))
        space = " " if self._byte_level else _ESCAPED_SPACE.decode()
        return {self.token_bytes(i).decode().replace(" ", space): i for i in ids}

    @cached_property
    def _pieces(self) -> SpecialTokens:
        return SpecialTokens(self._ordinary)

    def encode(self, text: str, /) -> list[int]:
        if not self._ordinary:
            return self._encode(text)
        return self._pieces.encode(text, self._encode, allowed_special="all")

    def _encode_after(self, text: str) -> list[int]:
        if not self.dummy_prefix:
            return self.encode(text)
        return self.encode(f"{_NO_PART}{text}")[len(self.encode(_NO_PART)) :]

    @cached_property
    def _exact(self) -> TiktokenTokenizer:
        special = {*self._special.values()}
        tokens = ((i, self.token_bytes(i)) for i in range(self.vocab_size) if i not in special)
        ranks = {token: i for i, token in tokens if token}
        return TiktokenTokenizer(make_encoding(self._name, ranks, _SPLITS[self._name], {}))

    def _encode(self, text: str) -> list[int]:
        if self._name in _WITH_ENDS and _LONG_S in text:
            return self._exact.encode(text)
        if self._name == "gemma2":
            return list(chain.from_iterable(map(self._engine.encode_ordinary, _LONG_RUN.split(text))))
        ids: list[int] = self._engine.encode_ordinary(normalize("NFC", text) if self._name == "qwen3" else text)
        return ids[self._head : len(ids) - self._tail] if self._head or self._tail else ids

    @property
    def returns(self) -> Literal["arrays", "lists"]:
        return "arrays" if self._byte_level else "lists"

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        """Encode all texts, on one thread.

        ``encode_flat`` returns its buffer, but recognises special tokens and does not normalize: such documents are
        encoded again.
        """
        if not self._byte_level:
            return from_lists([self.encode(text) for text in texts])
        flat = self._engine.encode_flat
        try:
            buffers = [flat(text) for text in texts]
        except UnicodeEncodeError:  # a lone surrogate
            return from_lists([self.encode(text) for text in texts])
        if self._head or self._tail:
            head, tail = self._head * _BYTES_PER_ID, self._tail * _BYTES_PER_ID
            buffers = [buffer[head : len(buffer) - tail] for buffer in buffers]
        encoded = from_buffers(buffers)
        places = np.flatnonzero(self._is_special[encoded.ids])
        again = set((np.searchsorted(encoded.offsets, places, side="right") - 1).tolist())
        if self._name == "qwen3":
            again |= {k for k, text in enumerate(texts) if not is_normalized("NFC", text)}
        if self._name in _WITH_ENDS:
            again |= {k for k, text in enumerate(texts) if _LONG_S in text}
        for document in again:
            buffers[document] = np.array(self.encode(texts[document]), dtype="<u4").tobytes()
        return from_buffers(buffers) if again else encoded

    @cached_property
    def _is_special(self) -> NDArray[np.bool_]:
        special = np.zeros(max(self._engine.vocab_size, *self._special.values()) + 1, dtype=np.bool_)
        special[[token_id for token, token_id in self._special.items() if token not in self._ordinary]] = True
        return special

    def decode(self, ids: Sequence[int], /) -> str:
        """Decode ids; raise ValueError for an id that the engine would leave out."""
        check_span(0, max(ids, default=0), self.vocab_size)
        return self._decode(ids)

    def decode_stream(self, ids: Iterable[int], /) -> Iterator[str]:
        stream = self._engine.streaming_decoder()
        for token_id in ids:
            check_id(token_id, self.vocab_size)
            yield stream.add_token(token_id) or ""
        yield stream.flush()

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        ids, offsets = encoded
        # At once: looking for the highest in every list takes as long as decoding.
        check_span(0, int(ids.max(initial=0)), self.vocab_size)
        flat = ids.tolist()
        return [self._decode(flat[start:end]) for start, end in pairwise(offsets.tolist())]

    def _decode(self, ids: Sequence[int]) -> str:
        text: str
        try:
            text = self._engine.decode_lossy(ids) if self._byte_level else self._engine.decode(ids)
        except OverflowError:  # an id below 0
            check_ids(ids, self.vocab_size)
            raise
        except ValueError:  # not UTF-8; engines that are not byte-level have no lossy decoder
            data = b"".join(map(self.token_bytes, ids))
            text = data.removeprefix(self.dummy_prefix).decode("utf-8", errors="replace")
        return text

    def token_bytes(self, token_id: int, /) -> bytes:
        if not 0 <= token_id < self.vocab_size:
            check_id(token_id, self.vocab_size)  # raises
        try:
            data: bytes = self._engine.decode_token_bytes(token_id)
        except ValueError:
            return b""
        return data.replace(_ESCAPED_SPACE, b" ") if self._escapes_spaces else data

    @cached_property
    def merges(self) -> Merges:
        tokens = [self.token_bytes(token_id) for token_id in range(self.vocab_size)]
        if self._byte_level and not self._escapes_spaces:
            return merges_of_bytes(tokens, set(self._special.values()))
        return merges_of_characters(tokens)

    @cached_property
    def _escapes_spaces(self) -> bool:
        return any(_ESCAPED_SPACE in self._engine.decode_token_bytes(i) for i in self._encode("a b"))

    @cached_property
    def dummy_prefix(self) -> bytes:
        """The space that the SentencePiece vocabularies but Gemma's put before every text, or nothing."""
        return b"".join(map(self.token_bytes, self.encode("a"))).removesuffix(b"a")


def merges_of_bytes(tokens: Sequence[bytes], special: Collection[int]) -> Merges:
    """Return the merges of a byte-level vocabulary; ``special`` ids are not merged."""
    first = next(i for i, token in enumerate(tokens) if len(token) == 1 and i not in special)
    ranks: dict[bytes, int] = {}
    for token_id in range(first, len(tokens)):
        if tokens[token_id] and token_id not in special:
            ranks.setdefault(tokens[token_id], token_id)
    return merges_of_ranks(ranks)


def merges_of_characters(tokens: Sequence[bytes]) -> Merges:
    """Return the merges of a vocabulary that came from SentencePiece."""
    first = tokens.index(bytes([_NO_TEXT])) - _NO_TEXT
    texts = [token.decode(errors="replace") for token in tokens]
    merged = first + _BYTES
    single = next(i for i in range(merged, len(texts)) if len(texts[i]) == 1)
    added = next((i for i in range(single, len(texts)) if len(texts[i]) > 1), len(texts))

    def kind(token_id: int) -> PieceType:
        if first <= token_id < merged:
            return PieceType.BYTE
        if merged <= token_id < added:
            return PieceType.NORMAL
        return PieceType.USER_DEFINED if texts[token_id] else PieceType.CONTROL

    return merges_of_pieces(
        [ModelPiece(text, -i if text.strip(" ") else _LOWEST, kind(i)) for i, text in enumerate(texts)]
    )
