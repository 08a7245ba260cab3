r"""A lock: the file of pins. It is sorted text with one line per document, made for diffs.

Each section begins at the left margin, so that a diff of git names the tokenizer above every change::

    # Ids of tokenizers, pinned. Check them: tokbench pin --check ids.lock
    format 1
    configuration "mine.yaml"
    python 3.11.7

    corpus sample
      documents 1
      sha256 1d8f7d6c...

    tokenizer gpt-2
      backend tiktoken
      package tiktoken 0.12.0
      options {"encoding": "gpt2"}
      ids 50257
      bytes 5f0d3c1e9f6a2b47
      special "<|endoftext|>" 50256
      stage split "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+|..."
      text sample/en/1 8a1f3c7a55d0e9b2 = 45613

The line of a text has its place (corpus, group and key), 64 bits of a hash of its ids, the form of its surface and its
cut, see :mod:`tokbench_maintain.pins.cut`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tokbench.plugin import BackendError, InputError, Problem, did_you_mean, read_file
from tokbench_maintain.pins.cut import is_known, read_cut

_FORMAT: Final = "1"
_HEAD: Final = "# Ids of tokenizers, pinned. Check them: tokbench pin --check"
_DIGEST: Final = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class PinnedText:
    """One text under one tokenizer."""

    place: str
    """Corpus, group and key of the document, separated by slashes."""
    digest: str
    """64 bits of a hash of its ids, in hexadecimal."""
    form: str
    """The form of its surface, see :mod:`tokbench_maintain.pins.cut`."""
    cut: str


@dataclass(frozen=True)
class Vocabulary:
    """What a lock records of a tokenizer, except texts."""

    ids: int
    bytes: str = ""
    """64 bits of a hash of the bytes of every id; empty if unknown."""
    special: Mapping[str, int] = field(default_factory=dict)
    stages: Mapping[str, str] = field(default_factory=dict)
    """The settings of each stage, see :class:`tokbench.tokenizers.contract.DescribesStages`."""


@dataclass(frozen=True)
class PinnedTokenizer:
    """One tokenizer, and the texts under it."""

    name: str
    backend: str
    packages: tuple[str, ...]
    options: Mapping[str, Any]
    vocabulary: Vocabulary
    texts: tuple[PinnedText, ...]


@dataclass(frozen=True)
class PinnedCorpus:
    """The text of a corpus."""

    documents: int
    sha256: str
    """Over all of them, with groups and keys."""


@dataclass(frozen=True)
class Lock:
    """The content of a lock."""

    configuration: str
    """The name of a suite, or a path from the folder of the lock."""
    python: str
    corpora: Mapping[str, PinnedCorpus]
    tokenizers: tuple[PinnedTokenizer, ...]
    limit: int | None = None
    """Per group; ``None`` for all."""
    only: tuple[str, ...] = ()


def place_of(corpus: str, group: str, key: str) -> str:
    r"""Return the place of a document as a word without white space.

    >>> place_of("sample", "en", "two words\n")
    'sample/en/two\\x20words\\n'
    """
    return "/".join(_word(part) for part in (corpus, group, key))


def _word(text: str) -> str:
    escaped = text.encode("unicode_escape").decode("ascii") if not text.isprintable() or "\\" in text else text
    return re.sub(r"\s", lambda match: f"\\x{ord(match[0]):02x}", escaped)


def write_lock(lock: Lock, name: str = "ids.lock") -> str:
    """Return the content of a lock's file; ``name`` is its name, for the advice at its head."""
    return "\n".join([*_head(lock, name), *_sections(lock), ""])


def _head(lock: Lock, name: str) -> Iterator[str]:
    yield f"{_HEAD} {name}"
    yield f"format {_FORMAT}"
    yield f"configuration {_quoted(lock.configuration)}"
    if lock.limit is not None:
        yield f"limit {lock.limit}"
    for tokenizer in lock.only:
        yield f"only {tokenizer}"
    yield f"python {lock.python}"


def _sections(lock: Lock) -> Iterator[str]:
    for name, corpus in sorted(lock.corpora.items()):
        yield from ("", f"corpus {name}", f"  documents {corpus.documents}", f"  sha256 {corpus.sha256}")
    for tokenizer in sorted(lock.tokenizers, key=lambda tokenizer: tokenizer.name):
        vocabulary = tokenizer.vocabulary
        yield from ("", f"tokenizer {tokenizer.name}", f"  backend {tokenizer.backend}")
        yield from (f"  package {package}" for package in sorted(tokenizer.packages))
        yield f"  options {json.dumps(tokenizer.options, sort_keys=True, default=str)}"
        yield f"  ids {vocabulary.ids}"
        if vocabulary.bytes:
            yield f"  bytes {vocabulary.bytes}"
        yield from (f"  special {_quoted(name)} {token}" for name, token in sorted(vocabulary.special.items()))
        yield from (f"  stage {_word(name)} {_quoted(text)}" for name, text in sorted(vocabulary.stages.items()))
        yield from (f"  text {text.place} {text.digest} {text.form} {text.cut}".rstrip() for text in tokenizer.texts)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def read_lock(path: Path) -> Lock:
    """Read a lock.

    Raises:
        InputError: no such file, or it is not a lock; with the line.
    """
    try:
        content = read_file(path, text=True).decode()
    except BackendError as error:
        advice = "" if path.exists() else f"; write it first: tokbench pin CONFIG -o {path}"
        raise InputError(f"{error}{advice}") from error
    except UnicodeDecodeError as error:
        raise InputError([Problem(str(path), f"byte {error.start:,} is not UTF-8; is this a lock?")]) from error
    return _Reader(path).read(content.split("\n"))


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = 0

    def read(self, lines: list[str]) -> Lock:
        head = _Section()
        sections: dict[str, dict[str, _Section]] = {"corpus": {}, "tokenizer": {}}
        current = head
        for self._number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            word, _, rest = line.strip().partition(" ")
            if line.startswith(" "):
                if current is head:
                    raise self._problem("this line belongs to no corpus and no tokenizer")
                self._add(current, word, rest)
            elif word in sections:
                if rest in sections[word]:
                    raise self._problem(f"{word} {rest!r} has two sections; is this a merge with conflicts?")
                current = sections[word][rest] = _Section()
            else:
                self._add(head, word, rest)
        self._number = 0
        if head.one("format") != _FORMAT:
            made = f"is of format {head.one('format')}" if head.one("format") else "says no format"
            raise self._problem(f"this lock {made}; this version of tokbench reads format {_FORMAT}")
        for name in ("configuration", "python"):
            if not head.one(name):
                raise self._problem(f"this lock has no line '{name}'; pin again")
        return Lock(
            configuration=head.one("configuration"),
            python=head.one("python"),
            corpora={name: self._corpus(name, section) for name, section in sections["corpus"].items()},
            tokenizers=tuple(self._tokenizer(name, section) for name, section in sections["tokenizer"].items()),
            limit=int(head.one("limit")) if head.one("limit") else None,
            only=tuple(head.all("only")),
        )

    def _problem(self, message: str) -> InputError:
        return InputError([Problem(f"{self._path}:{self._number}" if self._number else str(self._path), message)])

    def _add(self, section: _Section, word: str, rest: str) -> None:
        if word not in _LINES:
            raise self._problem(f"no line of a lock begins with {word[:40]!r}; {did_you_mean(word, _LINES)}")
        try:
            section.values.setdefault(word, []).append(_LINES[word](rest))
        except (ValueError, RecursionError) as error:
            raise self._problem(f"this is no line '{word}' of a lock: {error}") from error

    def _corpus(self, name: str, section: _Section) -> PinnedCorpus:
        for word in ("documents", "sha256"):
            if not section.all(word):
                raise self._problem(f"corpus {name!r} has no line '{word}'; pin again")
        return PinnedCorpus(section.one("documents"), section.one("sha256"))

    def _tokenizer(self, name: str, section: _Section) -> PinnedTokenizer:
        for word in ("backend", "options", "ids"):
            if not section.all(word):
                raise self._problem(f"tokenizer {name!r} has no line '{word}'; pin again")
        return PinnedTokenizer(
            name=name,
            backend=section.one("backend"),
            packages=tuple(section.all("package")),
            options=section.one("options"),
            vocabulary=Vocabulary(
                ids=section.one("ids"),
                bytes=section.one("bytes"),
                special=dict(section.all("special")),
                stages=dict(section.all("stage")),
            ),
            texts=tuple(section.all("text")),
        )


class _Section:
    """The lines of a section by their first word."""

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = {}

    def one(self, word: str) -> Any:
        """Return the rest of the only line with this word, or an empty string."""
        return self.values.get(word, [""])[-1]

    def all(self, word: str) -> list[Any]:
        return self.values.get(word, [])


def _number(rest: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", rest):
        raise ValueError(f"{rest[:40]!r} is no number")
    return int(rest)


def _json(kind: type) -> Callable[[str], Any]:
    def read(rest: str) -> Any:
        value = json.loads(rest)
        if not isinstance(value, kind):
            raise ValueError(f"{rest[:40]!r} is not what stands here")  # noqa: TRY004 - the file is wrong, not the code
        return value

    return read


def _text(rest: str) -> PinnedText:
    place, digest, form, cut = (*rest.split(" "), "")[:4]
    if rest.count(" ") not in (2, 3) or not _DIGEST.fullmatch(digest) or not is_known(form):
        raise ValueError("it needs a place, 16 digits of a hash, a form and a cut")
    read_cut(cut)
    return PinnedText(place, digest, form, cut)


def _special(rest: str) -> tuple[str, int]:
    name, _, token = rest.rpartition(" ")
    return _json(str)(name), _number(token)


def _stage(rest: str) -> tuple[str, str]:
    name, _, text = rest.partition(" ")
    return name.encode().decode("unicode_escape") if "\\" in name else name, _json(str)(text)


_LINES: Final[Mapping[str, Callable[[str], Any]]] = {
    "format": str,
    "configuration": _json(str),
    "limit": _number,
    "only": str,
    "python": str,
    "documents": _number,
    "sha256": str,
    "backend": str,
    "package": str,
    "options": _json(dict),
    "ids": _number,
    "bytes": str,
    "special": _special,
    "stage": _stage,
    "text": _text,
}
"""The parser of each line's rest, by first word; it raises ValueError."""
