"""A BPE vocabulary as tokbench's :class:`~tokbench.plugin.Tokenizer`, with all its capabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tokbench.foundation.errors import BackendError
from tokbench.tokenizers.batch import from_lists
from tokbench.tokenizers.contract import Encoded
from tokbench_plugins.bpe.artefact import FILE_SUFFIX, TrainingRecord, write_artefact
from tokbench_plugins.bpe.decode import Decoder
from tokbench_plugins.bpe.engines import BulkEngine, bulk_encoder, check_engine, engine_version, is_compiled
from tokbench_plugins.bpe.fast.encode import Encoder
from tokbench_plugins.bpe.recovery.order import Merges, merges_of_vocabulary
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.special import EncodesAroundSpecial, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Pair, Vocabulary

if TYPE_CHECKING:
    from tokbench_plugins.bpe.compiled.encode import CompiledEncoder

# Characters encoded in all; below, Python is faster.
_WORTH_LOADING: Final = 500_000
_WORTH_COMPILING: Final = 8_000_000  # once on each machine

_LONG: Final = 4096  # characters from which on a text is a batch while the engine of batches is not there yet


class BPETokenizer(EncodesAroundSpecial):
    r"""Byte-level BPE: every text can be encoded, and decodes to itself; lone surrogates become U+FFFD.

    Args:
        vocabulary: a vocabulary, or the merges of a trained one in order of rank.
        pattern: a split's name or regular expression; ``None`` for naive BPE.
        special_tokens: names and ids, which ordinary text does not give.
        engine: see :mod:`tokbench_plugins.bpe.engines`.
        training: for the artefact.

    >>> tokenizer = BPETokenizer([(104, 105), (256, 33)], pattern=None)
    >>> tokenizer.encode("hi! é")
    [257, 32, 195, 169]
    >>> tokenizer.decode([257, 32, 195])
    'hi! \ufffd'
    >>> tokenizer.vocab_size
    258
    >>> BPETokenizer([], None, {"<end>": 256}).encode_with_special("a<end>", allowed_special={"<end>"})
    [97, 256]
    """

    identity: str
    """The split, if the file does not name it; see :class:`tokbench.plugin.HasIdentity`."""
    file_suffix = FILE_SUFFIX
    lossless = True
    thread_safe = True
    python_only: ClassVar[bool] = False
    file_notes: tuple[str, ...] = ()
    """Notes on the loaded file."""
    roles: Mapping[str, str] = MappingProxyType({})
    """For files: special tokens by ``eos``, ``bos``, ``pad`` and ``unk``."""

    def __init__(
        self,
        vocabulary: Vocabulary | Iterable[Pair],
        pattern: str | None = None,
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        engine: BulkEngine = "auto",
        training: TrainingRecord | None = None,
    ) -> None:
        check_engine(engine)
        self.vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary.trained(vocabulary)
        tokens = list(self.vocabulary.tokens)
        if not isinstance(special_tokens, SpecialTokens):
            special_tokens = SpecialTokens(special_tokens or {}, tokens)
        self.special_tokens = special_tokens
        self.special_ids: Mapping[str, int] = special_tokens.ids
        self.training = training or TrainingRecord()
        self.engine: BulkEngine = engine
        self._encoder = self._new_encoder(pattern)
        tokens += [b""] * (max(special_tokens.names, default=-1) + 1 - len(tokens))
        for token_id, name in special_tokens.names.items():
            tokens[token_id] = name.encode()
        self.vocab_size = len(tokens)
        """Gaps and special tokens included."""
        self._decoder = Decoder(tokens)
        self._bulk: CompiledEncoder | None = None
        self._may_load = not self.python_only and engine != "python"  # the engine for batches, later
        self._in_python = 0 if engine == "auto" else _WORTH_COMPILING  # characters of batches so far

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        pattern: str | None = None,
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        engine: BulkEngine = "auto",
    ) -> BPETokenizer:
        """Make a tokenizer with the ranks of a ``.tiktoken`` file; a smaller id is merged first."""
        return cls(vocabulary_of_ranks(ranks), pattern, special_tokens, engine=engine)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.file_notes

    @property
    def encoded_by(self) -> str:
        """The engine that encodes batches, with its version; short texts and first ones are encoded in Python."""
        return engine_version(self.engine if self._may_load or self._bulk else "python")

    def _new_encoder(self, pattern: str | None) -> Any:
        return Encoder(self.vocabulary, pattern)

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(type(self), engine=self.engine, training=self.training)
        return made, (self.vocabulary, self.pattern, self.special_tokens), {"file_notes": self.file_notes}

    @cached_property
    def merges(self) -> Merges:
        """The parts of each merge in order of rank: (left id, right id), or more for a whole chunk.

        Raises:
            NoMergesError: they are not in order of rank.
        """
        return merges_of_vocabulary(self.vocabulary)

    @property
    def split(self) -> str | None:
        """The regular expression of its split."""
        return self.pattern

    @property
    def pattern(self) -> str | None:
        pattern: str | None = self._encoder.split.pattern
        return pattern

    @property
    def stages(self) -> Mapping[str, str]:
        """The regular expression of the split, and the merges in order of rank, two tokens in hexadecimal a line."""
        tokens = self.vocabulary.tokens
        merges = (f"{tokens[left].hex()} {tokens[right].hex()}" for left, right, _ in self.vocabulary.merges)
        return {"split": self.pattern or "none", "merges": "\n".join(merges)}

    def encode(self, text: str, /) -> list[int]:
        shortest = _LONG if self._bulk is None else self._bulk.shortest
        ids: list[int] = self._encoder(text) if len(text) < shortest else self.encode_batch([text]).ids.tolist()
        return ids

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        """Encode all texts into two arrays."""
        if self._may_load:
            self._in_python += sum(map(len, texts))
            if self._in_python >= _WORTH_COMPILING or (self._in_python >= _WORTH_LOADING and is_compiled()):
                self.warm_up()
        return from_lists(list(map(self._encoder, texts))) if self._bulk is None else self._bulk.encode_batch(texts)

    def token_bytes(self, token_id: int, /) -> bytes:
        """Return the bytes of one id; of a special token, its name's."""
        return self._decoder.token_bytes(token_id)

    def decode(self, ids: Sequence[int], /) -> str:
        return self._decoder(ids)

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        """Decode all documents."""
        return self._decoder.decode_batch(encoded)

    def warm_up(self) -> None:
        if self._may_load:
            self._bulk = bulk_encoder(self.engine, self.vocabulary, self.pattern)
        self._may_load = False

    def save(self, path: Path, /) -> None:
        """Write the artefact, or raise BackendError if the vocabulary was not trained here."""
        if not self.vocabulary.is_trained:
            raise BackendError("only a vocabulary that was trained here is saved in this format; export it")
        pairs = [(left, right) for left, right, _ in self.vocabulary.merges]
        write_artefact(path, pairs, self.pattern, self.special_tokens, self.training)

    @property
    def exports(self) -> Mapping[str, str]:
        from tokbench_plugins.bpe.formats import EXPORTS  # late: 30 ms that few runs need

        return {name: suffix for name, (suffix, _) in EXPORTS.items()}

    def export(self, name: str, path: Path, /) -> None:
        """Write files, or raise BackendError if the format cannot hold the tokenizer."""
        if reason := self._not_written_as(name):
            raise BackendError(f"{path}: {reason}")
        from tokbench_plugins.bpe.formats import EXPORTS, Parts

        _, write = EXPORTS[name]
        write(path, Parts(self.vocabulary, self.pattern, self.special_tokens, roles=self.roles))

    def _not_written_as(self, name: str) -> str:
        del name
        return ""
