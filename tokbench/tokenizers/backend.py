"""The contract of a backend: how it loads or trains tokenizers, and what a plugin registers for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.options import GivenOptions, Options

TrainProgress = Callable[[int, int], None]
"""A trainer calls it with the number of steps done and of steps in all, as often as it likes."""


class GroupedText:
    """Training text whose documents have groups, such as languages, for a trainer that treats these apart.

    A run gives all trainers such text. A trainer that does not care goes through the documents as through any others.
    Like all training text it can be gone through once, one way or the other, if ``documents`` can.

    Args:
        documents: the group and the text of each document.

    >>> text = GroupedText([("en", "hat"), ("de", "Hut")])
    >>> list(text), list(text.grouped())
    (['hat', 'Hut'], [('en', 'hat'), ('de', 'Hut')])
    """

    def __init__(self, documents: Iterable[tuple[str, str]]) -> None:
        self._documents = documents

    @property
    def once(self) -> bool:
        """True if the documents can be gone through only once."""
        return isinstance(self._documents, Iterator)

    @classmethod
    def of(cls, texts: Mapping[str, Iterable[str]]) -> GroupedText:
        """Return the texts of several groups, one group after the other.

        >>> list(GroupedText.of({"en": ["hat"], "de": ["Hut", "Bart"]}).grouped())
        [('en', 'hat'), ('de', 'Hut'), ('de', 'Bart')]
        """
        return cls([(group, text) for group, of_group in texts.items() for text in of_group])

    def __iter__(self) -> Iterator[str]:
        return (text for _, text in self._documents)

    def grouped(self) -> Iterator[tuple[str, str]]:
        """Return the group and the text of each document."""
        return iter(self._documents)


Load = Callable[[Any], Tokenizer]
Train = Callable[[Iterable[str], int, Any, TrainProgress], Tokenizer]


@dataclass(frozen=True)
class FileKind:
    r"""Files that a backend loads, recognized by the end of their names, and by their first bytes if need be.

    >>> ranks = FileKind(".model", marks=r"[A-Za-z0-9+/]+={0,2} [0-9]+\r?\n")
    >>> ranks.fits("tokenizer.model", b"IQ== 0\nIg== 1\n"), ranks.fits("tokenizer.model", b"\n\x0e<unk>")
    (True, False)
    """

    ending: str
    """The end of the name, such as ``.tiktoken``; ``/`` stands for folders."""
    option: str = "path"
    """The option of ``load`` that takes the file."""
    marks: str = ""
    """A regular expression that matches the first bytes; such a kind goes before those that look at the name alone."""
    refusal: str = ""
    """The reason why the backend does not load such files after all: it is said to the user."""

    def fits(self, name: str, head: bytes) -> bool:
        """Return whether a file of this name, with these first bytes, is of this kind."""
        return name.endswith(self.ending) and bool(re.match(self.marks.encode(), head, re.DOTALL))


def _always(_: Any) -> bool:
    return True


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
    """One line for ``tokbench list``."""
    load: Load | None = None
    """``load(options) -> Tokenizer``; ``None`` if the backend cannot load."""
    load_options: type[Options] = Options
    """The options class of ``load``."""
    train: Train | None = None
    """``train(documents, vocab_size, options, progress) -> Tokenizer``; ``None`` if the backend cannot train. The
    documents can be iterated once. In a run they are a :class:`GroupedText`, which also tells their groups."""
    train_options: type[Options] = Options
    """The options class of ``train``."""
    min_vocab_size: int = 1
    """The smallest ``vocab_size`` that training accepts."""
    nested: bool | Callable[[Any], bool] = False
    """``True`` if training to a smaller size gives the first merges of training to a larger one, or a function of the
    options of ``train`` that tells it. A study of sizes then cuts one vocabulary instead of training many. Where the
    function says no, no vocabulary is cut, even if it lists merges."""
    baseline: bool = False
    """``True`` for a bound, such as one token for each byte: reports show it for proportion, and it is never the best
    of a column."""
    requires: tuple[str, ...] = ()
    """The distributions that must be installed; without them the backend is listed as unavailable."""
    install: str = ""
    """The command that installs them; empty for ``pip install`` and their names."""
    repairs: Mapping[str, Mapping[str, bool | str]] = field(default_factory=dict)
    """By the cause of a loss (see the metric family ``roundtrip``), the options of ``train`` and their values that
    prevent it; reports show those that a tokenizer does not have."""
    main: str = ""
    """The option of ``load`` that the value of ``backend:value`` sets; empty if there is none."""
    train_main: str = ""
    """The option of ``train`` that it sets where a tokenizer is trained; empty if there is none."""
    files: tuple[FileKind, ...] = ()
    """The files that it loads where a user names nothing but the file."""
    published: Mapping[str, GivenOptions] = field(default_factory=dict)
    """By the published name, such as ``gpt-4o``, the options that load the vocabulary that has it."""
    verified: Mapping[str, str] = field(default_factory=dict)
    """By the published name, the source that it gave the ids of; names that no backend lists here are shown as
    *unverified*."""
    local: Callable[[Any], bool] = _always
    """Tells of options of ``load`` whether all that they need is on this machine, so that no network is needed."""
    precedence: int = 0
    """The greatest goes first where several backends load the same published name or file."""
    adapts: bool = False
    """``True`` if what it loads can be adapted, see :class:`~tokbench.tokenizers.contract.Adapts`."""

    def is_nested(self, options: Options) -> bool:
        """Tell whether training with these options gives the merges of every smaller size first.

        >>> BackendSpec(name="x", summary="", nested=lambda options: False).is_nested(Options())
        False
        """
        return self.nested(options) if callable(self.nested) else self.nested
