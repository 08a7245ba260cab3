"""The contract of a backend: how it loads or trains tokenizers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.options import GivenOptions, Options

TrainProgress = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""


class GroupedText:
    """Training text whose documents have groups, such as languages; iterating gives the texts.

    >>> text = GroupedText([("en", "hat"), ("de", "Hut")])
    >>> list(text), list(text.grouped())
    (['hat', 'Hut'], [('en', 'hat'), ('de', 'Hut')])
    """

    def __init__(self, documents: Iterable[tuple[str, str]]) -> None:
        self._documents = documents

    @property
    def once(self) -> bool:
        """Whether ``documents`` can be iterated only once."""
        return isinstance(self._documents, Iterator)

    @classmethod
    def of(cls, texts: Mapping[str, Iterable[str]]) -> GroupedText:
        """Put one group after the other."""
        return cls([(group, text) for group, of_group in texts.items() for text in of_group])

    def __iter__(self) -> Iterator[str]:
        return (text for _, text in self._documents)

    def grouped(self) -> Iterator[tuple[str, str]]:
        return iter(self._documents)


class CountsFile(NamedTuple):
    """A table of counts of pre-tokens, instead of the text that was counted."""

    path: Path
    sha256: str
    pattern: str
    """The regular expression that split the text."""
    documents: int
    bytes: int
    """Of the text, in UTF-8."""
    notes: tuple[str, ...] = ()
    """What the table lacks, for readers of the results."""


Load = Callable[[Any], Tokenizer]
Train = Callable[[Iterable[str], int, Any, TrainProgress], Tokenizer]
TrainCounts = Callable[[Mapping[str, CountsFile], int, Any, TrainProgress], Tokenizer]
"""As :data:`Train`, from tables of counts by the name of their corpus."""


@dataclass(frozen=True)
class FileKind:
    r"""Files that a backend loads, recognized by their first bytes or by name.

    >>> ranks = FileKind(marks=r"[A-Za-z0-9+/]+={0,2} [0-9]+\r?\n")
    >>> ranks.fits("tokenizer.model", b"IQ== 0\nIg== 1\n"), ranks.fits("tokenizer.model", b"\n\x0e<unk>")
    (True, False)
    """

    ending: str = ""
    """Such as ``.tiktoken``; ``/`` for folders; empty for any name with the marks."""
    option: str = "path"
    """The option of ``load`` that takes the file."""
    marks: str = ""
    """A regular expression for the first bytes; precedes kinds without."""
    refusal: str = ""
    """Why the backend does not load such files after all."""
    also: bool = False
    """Another backend is made for such files, and goes first."""

    def fits(self, name: str, head: bytes) -> bool:
        return name.endswith(self.ending) and bool(re.match(self.marks.encode(), head, re.DOTALL))


def _always(_: Any) -> bool:
    return True


def _no_alias(_: str) -> None:
    return None


def _no_problem(*_: object) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class BackendSpec:
    """The description of a backend, which a plugin registers.

    Raises (by ``load`` and ``train``):
        BackendUnavailable: the tokenizer cannot be used on this machine, for example without network.
        BackendError: loading or training failed: the file is damaged, the text is too short, …

    >>> from tokbench.plugin import Options
    >>> class Letters:
    ...     vocab_size = 128
    ...
    ...     def __init__(self, options: Options) -> None: ...
    ...
    ...     def encode(self, text: str, /) -> list[int]:
    ...         return list(text.encode("ascii"))
    ...
    ...     def decode(self, ids, /) -> str:
    ...         return bytes(ids).decode("ascii")
    >>> spec = BackendSpec(name="letters", summary="ASCII alone", load=Letters)
    >>> spec.load(Options()).encode("hat")
    [104, 97, 116]
    """

    name: str
    """The word after ``backend:`` in a configuration."""
    summary: str
    """For ``tokbench list``."""
    load: Load | None = None
    """``load(options) -> Tokenizer``."""
    load_options: type[Options] = Options
    train: Train | None = None
    """``train(documents, vocab_size, options, progress) -> Tokenizer``; runs give a :class:`GroupedText`."""
    train_counts: TrainCounts | None = None
    """``train_counts(tables, vocab_size, options, progress) -> Tokenizer``."""
    check_counts: Callable[[Any, Mapping[str, CountsFile]], str] = _no_problem
    """``check_counts(options, tables)`` returns why it cannot be trained on them, such as another split."""
    train_options: type[Options] = Options
    min_vocab_size: int = 1
    """For training."""
    nested: bool | Callable[[Any], bool] = False
    """Whether training gives the merges of every smaller size first, so that a study of sizes cuts one vocabulary; or a
    function of the ``train`` options.
    """
    baseline: bool = False
    """A bound, such as one token for each byte: never ranked."""
    requires: tuple[str, ...] = ()
    """Distributions that must be installed."""
    install: str = ""
    """Empty for ``pip install`` and ``requires``."""
    main: str = ""
    """The option of ``load`` that ``backend:value`` sets."""
    train_main: str = ""
    """The option of ``train`` that it sets."""
    save_object: Callable[[Any, Path], GivenOptions] | None = None
    """``save_object(tokenizer, folder)`` writes a tokenizer of the first library that it ``requires``, and returns the
    options that load it; ``path`` starts in the folder.
    """
    files: tuple[FileKind, ...] = ()
    """Files that it loads by name alone."""
    names: str = ""
    """A regular expression for names that are values of the main option, such as ``org/name``."""
    published: Mapping[str, GivenOptions] = field(default_factory=dict)
    """Options by published name, such as ``gpt-4o``."""
    alias: Callable[[str], GivenOptions | None] = _no_alias
    """``alias(name)`` returns the options of a name that a library's own table has for a published vocabulary."""
    verified: Mapping[str, str] = field(default_factory=dict)
    """By published name, the source whose ids it reproduced; others are *unverified*."""
    local: Callable[[Any], bool] = _always
    """Tells whether ``load`` options need no network."""
    precedence: int = 0
    """Decides where several backends load the same: the greatest first."""
    wraps: bool = False
    """Whether it loads tokenizers of other backends."""

    def is_nested(self, options: Options) -> bool:
        """Tell whether training with these options gives the merges of every smaller size first."""
        return self.nested(options) if callable(self.nested) else self.nested
