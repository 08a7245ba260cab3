"""The entries of a configuration file, without the keys of plugins."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tokbench.config.overrides import Overrides
from tokbench.config.strict_yaml import Located
from tokbench.corpus.contract import DOCUMENT_LIMIT
from tokbench.foundation.errors import Problem, shortened
from tokbench.foundation.parsing import SIZES, parse_size
from tokbench.results.blocks import LEAST_DOCUMENTS, LEAST_SHARE, MARGIN, MOST_LOST, ConfigFile
from tokbench.tokenizers.options import FilesPath, GivenOptions, Options


def _safe_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", name):
        message = "a name has 1 to 64 letters (A-Z, a-z), digits and . _ + - and begins with a letter or digit"
        raise ValueError(f"{message}; {name[:80]!r} does not")
    return name


Name = Annotated[str, AfterValidator(_safe_name)]
"""A safe file name: letters, digits and ``. _ + -``."""


def _one_or_more(value: Any) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, list) else (value,)
    if not values:
        raise ValueError("the list is empty; name at least one")
    return values


class _OneOrMore(BeforeValidator):
    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Mapping[str, Any]:
        many = handler(core)
        return {"anyOf": [many["items"], many]}


_ONE_OR_MORE = _OneOrMore(_one_or_more)


class _SizesOrAuto(_OneOrMore):
    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Mapping[str, Any]:
        sizes = super().__get_pydantic_json_schema__(core, handler)
        return {"anyOf": [*sizes["anyOf"], {"const": "auto"}]}


_SIZES_OR_AUTO = _SizesOrAuto(lambda value: () if value == "auto" else _one_or_more(value))


DEFAULT_FORMATS: Final = ("html", "md", "csv")


class ReportEntry(Options):
    """The reports that are written besides ``results.json``."""

    formats: tuple[str, ...] = Field(default=DEFAULT_FORMATS, description="report formats, by name")


LEAST_MEMORY: Final = 256 * 10**6


def _size(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError(f"{shortened(json.dumps(value), 40)} is not a size; write it as 8GB or 8GiB")  # noqa: TRY004
    return parse_size(value)


def _memory(value: Any) -> Any:
    if value is None:
        return value
    size = _size(value)
    if size < LEAST_MEMORY:
        raise ValueError(f"{value} is less than a worker needs; give {memory_text(LEAST_MEMORY)} or more")
    return size


def _document(value: Any) -> int:
    size = _size(value)
    if size < SIZES["M"]:
        raise ValueError(f"{value} is too small for usual documents; give 1MB or more")
    return size


def memory_text(size: int) -> str:
    """Return an amount of memory as written in a configuration: ``8GB``, ``1GiB``, ``1500MB``."""
    unit = next((unit for unit in ("Gi", "Mi", "T", "G") if size % SIZES[unit] == 0), "M")
    return f"{size / SIZES[unit]:g}{unit}B"


class Limits(Options):
    """The limits of time and memory of tokenizer code; beyond them its process is ended."""

    step: float = Field(
        default=600,
        gt=0,
        le=10_000_000,
        description="seconds of a step without progress: loading, a shard of a million characters, one timed slice",
    )
    train: float = Field(default=86_400, gt=0, le=10_000_000, description="seconds for training one tokenizer")
    memory: Annotated[int | None, BeforeValidator(_memory, json_schema_input_type=str | None)] = Field(
        default=None, description="memory of a worker process with all that it started, such as 8GB (Linux)"
    )

    document: Annotated[int, BeforeValidator(_document, json_schema_input_type=str)] = Field(
        default=memory_text(DOCUMENT_LIMIT),
        validate_default=True,
        description="the size of one document in UTF-8, unpacked, such as 1GB",
    )


class TopLevel(Options):
    """The top level of the file; entries are checked later, and plugins may add keys."""

    model_config: ClassVar[ConfigDict] = Options.model_config | ConfigDict(extra="allow")

    schema_: Literal["tokbench/1"] = Field(alias="schema", description="version of the configuration format")
    name: Name = Field(description="name of the run, and of its folder")
    extends: Annotated[tuple[str, ...], _ONE_OR_MORE] = Field(
        default=(), description="a base or a list of bases, each a file or the name of a shipped suite"
    )
    corpora: dict[Name, Any] = Field(min_length=1, description="texts, by name")
    tokenizers: dict[Name, Any] = Field(min_length=1, description="tokenizers under comparison, by name")
    metrics: tuple[Any, ...] = Field(min_length=1, description="metric families, by name or as {name: options}")
    weights: dict[Name, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="share of each corpus in your text, such as {prose: 70, code: 30}; default: equal for languages",
    )
    practical_margin: float = Field(default=MARGIN, ge=0, lt=1, description="a smaller relative difference is a tie")
    least_share: float = Field(
        default=LEAST_SHARE,
        ge=0,
        le=1,
        description="a group with a smaller share of the bytes counts together with others like it, or not at all",
    )
    least_documents: int = Field(
        default=LEAST_DOCUMENTS, ge=0, description="a group with fewer documents counts in the same way"
    )
    most_lost: float = Field(
        default=MOST_LOST, ge=0, le=1, description="a tokenizer that loses a larger share of characters is not ranked"
    )
    report: dict[str, Any] = Field(default_factory=dict, description="which reports to write")
    limits: dict[str, Any] = Field(default_factory=dict, description="how much time and memory a tokenizer may take")
    study: dict[str, Any] = Field(
        default_factory=dict, description="analyses of the whole run, such as vocabulary sizes"
    )


class _Entry(BaseModel):
    """An entry whose further keys are options of a plugin."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow", frozen=True)

    @property
    def options(self) -> GivenOptions:
        return dict(self.model_extra or {})


_CORPORA = "corpora to measure {} on; default: all that are evaluated"
_NamesOfCorpora = Annotated[tuple[str, ...], _ONE_OR_MORE]


class CorpusEntry(_Entry):
    """One corpus; further keys are options of its source."""

    source: str = Field(description="name of the corpus source")
    holdout: float = Field(default=0.0, ge=0, lt=1, description="share kept from training; only it is evaluated")
    evaluate: bool = Field(default=True, description="measure it; false: for training only")
    parallel: bool = Field(default=False, description="the groups are translations, document by document")
    reference: str = Field(default="", description="group of a parallel corpus that the others are compared with")
    designed: bool = Field(default=False, description="curated texts: no intervals")


class TrainEntry(Options):
    """The training of a tokenizer."""

    corpus: Annotated[tuple[str, ...], _ONE_OR_MORE] = Field(
        default=(), description="the corpus to train on, or a list of them"
    )
    counts: Annotated[tuple[FilesPath, ...], _ONE_OR_MORE] = Field(
        default=(), description="instead: a table of counts that tokbench count made, or its address, or a list of them"
    )
    vocab_size: Annotated[tuple[Annotated[int, Field(ge=1)], ...], _SIZES_OR_AUTO] = Field(
        description="size of the vocabulary; a list makes one tokenizer of each size; auto: as large as a study can use"
    )

    @model_validator(mode="after")
    def _text_or_counts(self) -> Self:
        if bool(self.corpus) == bool(self.counts):
            raise ValueError("needs either 'corpus' or 'counts'")
        return self


class TokenizerEntry(_Entry):
    """One tokenizer, or several; further keys are options of its backend."""

    backend: str = Field(description="name of the backend")
    optional: bool = Field(default=False, description="skip it where it cannot be loaded")
    same_as: str = Field(default="", description="tokenizer whose ids it must reproduce, checked on every document")
    corpora: _NamesOfCorpora = Field(default=(), description=_CORPORA.format("it"))
    train: TrainEntry | None = Field(default=None, description="train it instead of loading it")
    grid: dict[str, tuple[Any, ...]] = Field(
        default_factory=dict, description="options with a list of values; makes one tokenizer of each combination"
    )


class Variant(NamedTuple):
    """One tokenizer of an entry."""

    name: str
    """The name of the entry, with a suffix for every value that varies."""
    options: GivenOptions
    vocab_size: int | None
    """``None`` if it is not trained, or as large as a study can use."""


def expand(name: str, entry: TokenizerEntry) -> Iterator[Variant]:
    """Yield all combinations of the sizes and of the options under ``grid``, in the order of the file.

    >>> keys = {"backend": "sentencepiece", "grid": {"byte_fallback": (True, False)}}
    >>> keys["train"] = {"corpus": "sample", "vocab_size": [1024, 4096]}
    >>> [variant.name for variant in expand("spm", TokenizerEntry.model_validate(keys))][:3]
    ['spm-1024-byte_fallback', 'spm-1024-no-byte_fallback', 'spm-4096-byte_fallback']
    """
    sizes: tuple[int | None, ...] = (entry.train.vocab_size if entry.train else ()) or (None,)
    for size in sizes:
        for values in itertools.product(*entry.grid.values()):
            chosen = dict(zip(entry.grid, values, strict=True))
            suffixes = [str(size)] if len(sizes) > 1 else []
            suffixes += [_suffix(option, value) for option, value in chosen.items()]
            yield Variant("-".join([name, *suffixes]), entry.options | chosen, size)


def _suffix(option: str, value: Any) -> str:
    if isinstance(value, bool):
        return option if value else f"no-{option}"
    text = str(value)
    # A word like 'unigram' speaks for itself; a number or a long pattern does not.
    suffix = text if isinstance(value, str) and text.isidentifier() else f"{option}={text}"
    return re.sub(r"[^A-Za-z0-9._+=-]+", "_", suffix)[:40]


class NamedTokenizerEntry(TokenizerEntry):
    """A tokenizer as a plain string; only plugins know its backend and options."""

    name: str


class MetricKeys(_Entry):
    """The keys of every metric family; further keys are options of the family."""

    corpora: _NamesOfCorpora = Field(default=(), description=_CORPORA.format("the family"))


@dataclass
class MetricEntry:
    """A metric family of the file."""

    name: str
    options: GivenOptions
    path: tuple[str | int, ...]
    corpora: tuple[str, ...] = ()
    """Empty for all evaluated corpora."""


@dataclass
class Config:
    """A configuration file, as far as it can be read without plugins."""

    text: str
    located: Located
    """The data of the file, with the place of each value."""
    path: Path
    base: Path
    """The folder in which relative paths start."""
    name: str = ""
    corpora: dict[str, CorpusEntry] = field(default_factory=dict)
    tokenizers: dict[str, TokenizerEntry] = field(default_factory=dict)
    metrics: list[MetricEntry] = field(default_factory=list)
    """Only well-formed entries."""
    named: frozenset[str] = frozenset()
    """The names of all corpora, malformed entries included."""
    formats: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    weights: dict[str, float] = field(default_factory=dict)
    """By corpus; empty where languages have equal weight."""
    practical_margin: float = MARGIN
    least_share: float = LEAST_SHARE
    least_documents: int = LEAST_DOCUMENTS
    most_lost: float = MOST_LOST
    study: dict[str, Any] = field(default_factory=dict)
    """Options by study, which only plugins can check."""
    further: dict[str, Any] = field(default_factory=dict)
    """Top-level keys that :class:`TopLevel` does not have."""
    bases: list[ConfigFile] = field(default_factory=list)
    """In the order of reading."""
    overrides: Overrides = field(default_factory=Overrides)
    left_out: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)
