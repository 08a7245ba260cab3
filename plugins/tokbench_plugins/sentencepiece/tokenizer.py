"""A SentencePiece model behind tokbench's contract."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from math import isclose
from pathlib import Path

import regex
from sentencepiece import SentencePieceProcessor

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import write_atomically
from tokbench.tokenizers.batch import check_id, from_buffers, valid_unicode
from tokbench.tokenizers.contract import Encoded, Offsets, TokenSpans
from tokbench_plugins.bpe.recovery.order import Merges
from tokbench_plugins.bpe.special import EncodesAroundSpecial
from tokbench_plugins.sentencepiece.export import tokenizer_json
from tokbench_plugins.sentencepiece.merges import merges_of_pieces
from tokbench_plugins.sentencepiece.proto import (
    NO_DUMMY_PREFIX,
    SPACE,
    ModelKind,
    kind_of,
    read_normalizer,
    read_pieces,
)


class SentencePieceTokenizer(EncodesAroundSpecial):
    """A model of any kind; neither a beginning nor an end is added.

    User-defined symbols are ordinary pieces, and text gives them; only :meth:`encode_with_special` gives control
    symbols. The dummy prefix is put at the beginning of a text, not after a control symbol.

    The unknown piece decodes to what the model says, mostly ``' ⁇ '``, which are also its ``token_bytes``. So the bytes
    of the ids are the bytes of the decoded text, with two exceptions: a model may rewrite decoded text
    (``denormalization_rule_tsv``), and ``remove_extra_whitespaces`` drops U+2581 at the beginning when it decodes.
    """

    file_suffix = ".model"
    lossless = False  # every model decodes U+2581 to a space
    thread_safe = True
    why_no_split = "SentencePiece reads a text as a whole"

    def __init__(self, model: bytes, notes: tuple[str, ...] = ()) -> None:
        self._processor = SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except RuntimeError as error:
            raise ValueError("not a SentencePiece model, or a damaged one") from error
        self.notes = notes
        self.vocab_size: int = self._processor.get_piece_size()
        self.unk_id: int = self._processor.unk_id()
        """The unknown piece; models with byte fallback have one too, but never give it."""
        self.special_ids: Mapping[str, int] = {
            self._processor.id_to_piece(i): i for i in range(self.vocab_size) if self._processor.is_control(i)
        }
        # The normalizer is tried, because the model's settings cannot be read without protobuf.
        self.dummy_prefix = b" " if self._processor.normalize("a").startswith(SPACE) else b""
        """The space that the model puts before every text, or nothing."""

    def encode(self, text: str, /) -> list[int]:
        """Encode a text; raise TypeError for bytes and lists, which the library would take."""
        if not isinstance(text, str):
            raise TypeError(f"encode takes a string, not {type(text).__name__}")
        try:
            ids: list[int] = self._processor.encode(text)
        except RuntimeError:
            ids = self._processor.encode(valid_unicode(text))
        return ids

    def _encode_after(self, text: str) -> list[int]:
        # A model that drops spaces at the beginning has the dummy prefix in the place of a first space.
        normalize = self._processor.normalize
        begins = self._drops_spaces and normalize(f"a {text}") == normalize(f"a{text}")
        processor = self._processor if begins else self._without_prefix
        ids: list[int] = processor.encode(text)
        return ids

    @cached_property
    def _drops_spaces(self) -> bool:
        normalize = self._processor.normalize
        return bool(normalize(" a") == normalize("a"))

    @cached_property
    def _without_prefix(self) -> SentencePieceProcessor:
        if not self.dummy_prefix:
            return self._processor
        processor = SentencePieceProcessor()
        processor.LoadFromSerializedProto(self._processor.serialized_model_proto() + NO_DUMMY_PREFIX)
        return processor

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        try:
            arrays = self._processor.encode_as_numpy(list(texts), num_threads=1)
        except (RuntimeError, TypeError):
            arrays = self._processor.encode_as_numpy(list(map(valid_unicode, texts)), num_threads=1)
        return from_buffers([ids.tobytes() for ids in arrays])

    def encode_with_offsets(self, text: str, /) -> Offsets:
        """Encode a text, and say where each id ends in the text before normalization.

        Where one character gives several tokens, as with byte fallback or ``½``, all but the last end at its beginning.
        """
        ids, _, ends = self.encode_with_spans(text)
        bytes_before = list(accumulate((len(char.encode()) for char in valid_unicode(text)), initial=0))
        return Offsets(ids, list(accumulate((bytes_before[end] for end in ends), max)))

    def encode_with_spans(self, text: str, /) -> TokenSpans:
        try:
            mapping = self._processor.encode_as_offset_mapping(text)
        except RuntimeError:
            mapping = self._processor.encode_as_offset_mapping(valid_unicode(text))
        starts, ends = zip(*mapping["offsets"], strict=True) if mapping["offsets"] else ((), ())
        return TokenSpans(mapping["ids"], starts, ends)

    def decode(self, ids: Sequence[int], /) -> str:
        """Decode ids; raise TypeError for strings, which the library would take as pieces."""
        if not len(ids):
            return ""
        if isinstance(ids[0], str):
            raise TypeError("decode takes integers, not strings")
        try:
            text: str = self._processor.decode(ids)
        except (IndexError, OverflowError, TypeError) as error:
            raise ValueError(f"not all ids are integers in range({self.vocab_size}): {error}") from error
        return text

    def token_bytes(self, token_id: int, /) -> bytes:
        """Return the bytes of one piece, ``▁`` made a space; none for control and unused pieces."""
        check_id(token_id, self.vocab_size)
        processor = self._processor
        piece: str = processor.id_to_piece(token_id)
        if processor.is_byte(token_id):
            return bytes([int(piece.strip("<>"), 16)])
        if processor.is_control(token_id) or processor.is_unused(token_id):
            return b""
        if processor.is_unknown(token_id):
            unknown: str = processor.decode([token_id])
            return unknown.encode()
        return piece.replace(SPACE, " ").encode()

    @property
    def stages(self) -> Mapping[str, str]:
        model = self._processor.serialized_model_proto()
        normalizer = read_normalizer(model)
        pieces = (f"{piece.text} {piece.score:.9g} {piece.type.name}" for piece in read_pieces(model))
        return {
            "normalization": f"{normalizer.name}, rules {hashlib.sha256(normalizer.rules).hexdigest()[:16]}, "
            f"{'one' if normalizer.joins_spaces else 'all'} of several spaces",
            "added space": str(normalizer.adds_space).lower(),
            "model": kind_of(model).name.lower(),
            "merges": "\n".join(pieces),
        }

    def save(self, path: Path, /) -> None:
        write_atomically(path, self._processor.serialized_model_proto())

    @property
    def exports(self) -> Mapping[str, str]:
        return {"huggingface": ".tokenizer.json"}

    def export(self, name: str, path: Path, /) -> None:
        del name
        try:
            content = tokenizer_json(self._processor.serialized_model_proto())
        except ValueError as error:
            raise BackendError(f"{path}: {error}") from error
        write_atomically(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())

    def why_other_ids(self, text: str, ids: Sequence[int], others: Sequence[int], /) -> str:
        """Say why ``tokenizers`` gives other ids for the exported file, or return an empty string."""
        scores = [sum(map(self._processor.get_score, some)) for some in (ids, others)]
        if self._processor.decode(ids) == self._processor.decode(others) and isclose(*scores, rel_tol=1e-5):
            return "other pieces with the same score"
        several = any(len(grapheme) > 1 for grapheme in regex.findall(r"\X", text))
        if several and read_normalizer(self._processor.serialized_model_proto()).rules:
            return "normalized by visible characters, which SentencePiece does by code points"
        return ""


class SentencePieceBPE(SentencePieceTokenizer):
    """The same, of the kind that merges pieces."""

    @cached_property
    def merges(self) -> Merges:
        return merges_of_pieces(read_pieces(self._processor.serialized_model_proto()))


def make_tokenizer(model: bytes, notes: tuple[str, ...] = ()) -> SentencePieceTokenizer:
    """Make the tokenizer of a model, with ``merges`` where it has some."""
    try:
        merges = kind_of(model) is ModelKind.BPE
    except (LookupError, ValueError):
        merges = False  # the library says what is wrong with it
    return (SentencePieceBPE if merges else SentencePieceTokenizer)(model, notes)
