"""A trained BPE as one JSON file, and the checks of such a file.

::

    {"format": "tokbench-bpe/2", "tokbench": "0.1.0", "kind": "regex_bpe",
     "options": {"pattern": "...", "tie": "first", "vocab_size": 32000},
     "corpus": {"sha256": "...", "documents": 1000, "bytes": 1000000},
     "special_tokens": {"<|endoftext|>": 32000}, "merges": [[104, 105], ...], "sha256": "..."}

Another rule than plain BPE has ``"format": "tokbench-bpe/4"``, its backend as ``"kind"`` and, before ``sha256``,
``"rule"``: its options and what encoding needs besides the merges.

``options`` are those that the ids depend on, with the requested ``vocab_size``; ``pattern`` is the regular expression,
``null`` for naive BPE. Unknown values are ``null``. ``sha256`` covers everything before it, written as compact JSON.
The same tokenizer always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file, write_atomically
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.foundation.version import __version__
from tokbench.tokenizers.facts import TRAINED_BEFORE
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import resolve_pattern
from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Pair

FILE_SUFFIX: Final = ".bpe.json"
_FORMAT: Final = "tokbench-bpe/2"
_FORMAT_WITH_RULE: Final = "tokbench-bpe/4"
_OPTIONS: Final = {"pattern", "tie", "vocab_size"}


class TrainingText(NamedTuple):
    """The text that a tokenizer was trained on; its size is in bytes of UTF-8."""

    sha256: str

    documents: int

    bytes: int

    left_out: str = ""
    """What counts lacked, because it was too rare."""


class CorpusDigest:
    """Passes documents on, then describes them; the digest covers each document's size and bytes, in order."""

    def __init__(self, documents: Iterable[str] = ()) -> None:
        self._source = documents
        self._sha256 = hashlib.sha256()
        self._documents = self._bytes = 0

    def __iter__(self) -> Iterator[str]:
        for document in self._source:
            self.add(document)
            yield document

    def add(self, document: str) -> None:
        data = document.encode("utf-8", errors="surrogatepass")
        self._sha256.update(b"%d\n" % len(data))
        self._sha256.update(data)
        self._documents += 1
        self._bytes += len(data)

    @property
    def corpus(self) -> TrainingText:
        return TrainingText(self._sha256.hexdigest(), self._documents, self._bytes)


class TrainingRecord(NamedTuple):
    """The training of a tokenizer, as far as its ids depend on it; ``None`` where unknown."""

    vocab_size: int | None = None
    """The requested number of ids."""

    tie: Tie | None = None

    corpus: TrainingText | None = None

    kind: str = ""
    """The backend; empty for plain BPE."""

    rule: Mapping[str, Any] | None = None
    """``None`` for plain BPE."""


_UNKNOWN: Final = TrainingRecord()


class Artefact(NamedTuple):
    """The content of the file."""

    merges: list[Pair]
    """In order of rank."""

    pattern: str | None
    """The regular expression of the split, ``None`` for naive BPE."""

    special: SpecialTokens = NO_SPECIAL

    training: TrainingRecord = _UNKNOWN

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its numbers must know."""
        if not (text := self.training.corpus):
            return ()
        amount = f"{text.documents:,} documents, {text.bytes:,} bytes"
        return (f"{TRAINED_BEFORE} on {amount}: on these its numbers are too good",)


def _compact(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"))


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(_compact(content).encode()).hexdigest()


def write_artefact(
    path: Path,
    merges: Sequence[Pair],
    pattern: str | None,
    special: SpecialTokens = NO_SPECIAL,
    training: TrainingRecord = _UNKNOWN,
) -> None:
    """Write the file whole or not at all, replacing an existing one."""
    corpus = training.corpus
    content = {
        "format": _FORMAT if training.rule is None else _FORMAT_WITH_RULE,
        "tokbench": __version__,
        "kind": training.kind or ("naive_bpe" if pattern is None else "regex_bpe"),
        "options": {"pattern": pattern, "tie": training.tie, "vocab_size": training.vocab_size},
        "corpus": corpus and {name: value for name, value in corpus._asdict().items() if value != ""},
        "special_tokens": dict(special.ids),
        "merges": list(map(list, merges)),
        **({} if training.rule is None else {"rule": dict(training.rule)}),
    }
    text = _compact({**content, "sha256": _digest(content)}) + "\n"
    write_atomically(path, text.encode("ascii"))


def read_artefact(path: Path, kind: str) -> Artefact:
    """Read a file that the backend ``kind`` saved."""
    try:
        content = parse_json(read_file(path, text=True))
    except TextError as error:
        raise BackendError(f"{error.at(path)}; train again or restore the file") from error
    try:
        return _checked(content, kind)
    except (ValueError, KeyError, TypeError) as error:
        raise BackendError(f"{path}: {error}") from error


def _checked(content: Any, kind: str) -> Artefact:
    if not isinstance(content, dict) or "format" not in content:
        raise ValueError("not a file saved by tokbench's BPE: it has no 'format'")
    if content["format"] not in {_FORMAT, _FORMAT_WITH_RULE}:
        raise ValueError(f"not a file saved by this tokbench's BPE: its format is {content['format']!r}; train again")
    body = {key: value for key, value in content.items() if key != "sha256"}
    if _digest(body) != content.get("sha256"):
        raise ValueError("damaged: its content does not match its sha256; train again or restore the file")
    if content["kind"] != kind:
        raise ValueError(f"saved by another backend; load it with 'backend: {content['kind']}'")
    options, corpus, rule = content["options"], content["corpus"], content.get("rule")
    if options.keys() != _OPTIONS:  # of a trainer that is a backend of its own now
        raise ValueError(f"its options are {', '.join(options)}, not {', '.join(sorted(_OPTIONS))}; train again")
    if options["pattern"] is not None:
        resolve_pattern(options["pattern"])
    merges = [(left, right) for left, right in content["merges"]]
    training = TrainingRecord(options["vocab_size"], options["tie"], corpus and TrainingText(**corpus))
    training = training if rule is None else training._replace(kind=kind, rule=rule)
    return Artefact(merges, options["pattern"], SpecialTokens(content["special_tokens"]), training)
