r"""A lock: the file of pins. It is sorted text with one line per document, made for diffs.

Each section begins at the left margin, so that a diff of git names the tokenizer above every change::

    # Ids of tokenizers, pinned. Check them: tokbench pin --check ids.lock
    format 2
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

    lines 18 4b1d0c6f7a92e385

The line of a text has its place (corpus, group and key), 64 bits of a hash of its ids, the form of its surface and its
cut, see :mod:`tokbench_identity.pins.cut`. The last line has the number of all others, and 64 bits of their hash;
locks of format 1 have none.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tokbench.plugin import BackendError, InputError, Problem, did_you_mean, read_file
from tokbench_identity.pins.cut import is_known, read_cut

_FORMATS: Final = ("1", "2")
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
    """The form of its surface, see :mod:`tokbench_identity.pins.cut`."""
    cut: str


@dataclass(frozen=True)
class PinnedVocabulary:
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
    vocabulary: PinnedVocabulary
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
    lines = [f"{_HEAD} {name}", f"format {_FORMATS[-1]}", f"configuration {_quoted(lock.configuration)}"]
    lines += [f"limit {lock.limit}"] if lock.limit is not None else []
    lines += [*(f"only {tokenizer}" for tokenizer in lock.only), f"python {lock.python}"]
    for corpus, pinned in sorted(lock.corpora.items()):
        lines += ["", f"corpus {corpus}", f"  documents {pinned.documents}", f"  sha256 {pinned.sha256}"]
    for tokenizer in sorted(lock.tokenizers, key=lambda tokenizer: tokenizer.name):
        lines += ["", f"tokenizer {tokenizer.name}", *(f"  {line}" for line in _lines_of(tokenizer))]
    return "\n".join([*lines, "", _seal([*lines, ""]), ""])


def _seal(lines: Sequence[str]) -> str:
    written = "\n".join(lines).encode("utf-8", "backslashreplace")
    return f"lines {len(lines)} {hashlib.sha256(written).hexdigest()[:16]}"


def _lines_of(tokenizer: PinnedTokenizer) -> Iterator[str]:
    vocabulary = tokenizer.vocabulary
    yield f"backend {tokenizer.backend}"
    yield from (f"package {package}" for package in sorted(tokenizer.packages))
    yield f"options {json.dumps(tokenizer.options, sort_keys=True, default=str)}"
    yield f"ids {vocabulary.ids}"
    if vocabulary.bytes:
        yield f"bytes {vocabulary.bytes}"
    yield from (f"special {_quoted(name)} {token}" for name, token in sorted(vocabulary.special.items()))
    yield from (f"stage {_word(name)} {_quoted(text)}" for name, text in sorted(vocabulary.stages.items()))
    yield from (f"text {text.place} {text.digest} {text.form} {text.cut}".rstrip() for text in tokenizer.texts)


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
    head = _Section(path, "this lock")
    sections: dict[str, dict[str, _Section]] = {"corpus": {}, "tokenizer": {}}
    current = head
    for number, line in enumerate(content.split("\n"), 1):
        word, _, rest = line.strip().partition(" ")
        if not word or line.startswith("#"):
            continue
        try:
            if word in sections and not line.startswith(" "):
                if rest in sections[word]:
                    raise ValueError(f"{word} {rest!r} has two sections; is this a merge with conflicts?")  # noqa: TRY301
                current = sections[word][rest] = _Section(path, f"{word} {rest!r}")
            else:
                (current if line.startswith(" ") else head).add(word, rest)
        except (ValueError, RecursionError) as error:
            raise InputError([Problem(f"{path}:{number}", str(error))]) from error
    if (made := head.one("format")) not in _FORMATS:
        message = f"this lock is of format {made}; this version of tokbench reads {' and '.join(_FORMATS)}"
        raise InputError([Problem(str(path), message)])
    *lines, end = [line.rstrip("\r") for line in content.rstrip("\n").split("\n")]
    if made != _FORMATS[0] and end != _seal(lines):
        raise InputError(
            [Problem(str(path), "lines are damaged or lost since it was written; restore it, or pin again")]
        )
    return Lock(
        configuration=head.one("configuration"),
        python=head.one("python"),
        corpora={
            name: PinnedCorpus(section.one("documents"), section.one("sha256"))
            for name, section in sections["corpus"].items()
        },
        tokenizers=tuple(_tokenizer(name, section) for name, section in sections["tokenizer"].items()),
        limit=next(iter(head.all("limit")), None),
        only=tuple(head.all("only")),
    )


class _Section:
    """The values of some lines by first word; ``title`` names them in errors."""

    def __init__(self, path: Path, title: str) -> None:
        self._path, self._title = path, title
        self._values: dict[str, list[Any]] = {}

    def add(self, word: str, rest: str) -> None:
        if word not in _LINES:
            raise ValueError(f"no line of a lock begins with {word[:40]!r}; {did_you_mean(word, _LINES)}")
        try:
            self._values.setdefault(word, []).append(_LINES[word](rest))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not a line '{word}' of a lock: {error}") from error

    def one(self, word: str) -> Any:
        if word not in self._values:
            raise InputError([Problem(str(self._path), f"{self._title} has no line '{word}'; pin again")])
        return self._values[word][-1]

    def all(self, word: str) -> list[Any]:
        return self._values.get(word, [])


def _tokenizer(name: str, section: _Section) -> PinnedTokenizer:
    return PinnedTokenizer(
        name=name,
        backend=section.one("backend"),
        packages=tuple(section.all("package")),
        options=section.one("options"),
        vocabulary=PinnedVocabulary(
            ids=section.one("ids"),
            bytes="".join(section.all("bytes")[:1]),
            special=dict(section.all("special")),
            stages=dict(section.all("stage")),
        ),
        texts=tuple(section.all("text")),
    )


def _number(rest: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", rest):
        raise ValueError(f"{rest[:40]!r} is not a number")
    return int(rest)


def _json(kind: type) -> Callable[[str], Any]:
    def read(rest: str) -> Any:
        value = json.loads(rest)
        if not isinstance(value, kind):
            raise ValueError(f"{rest[:40]!r} is not valid here")  # noqa: TRY004 - the file is wrong, not the code
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
    "lines": str,
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
