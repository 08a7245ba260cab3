"""A trained BPE as one JSON file, and the checks of such a file.

::

    {"format": "tokbench-bpe/2", "tokbench": "0.1.0", "kind": "regex_bpe",
     "options": {"pattern": "...", "tie": "first", "vocab_size": 32000},
     "corpus": {"sha256": "...", "documents": 1000, "bytes": 1000000},
     "special_tokens": {"<|endoftext|>": 32000}, "merges": [[104, 105], ...], "sha256": "..."}

Another rule than plain BPE has ``"format": "tokbench-bpe/3"`` and, before ``sha256``, ``"rule"``: its name, its options
and what encoding needs besides the merges.

``options`` are those that the ids depend on, with the requested ``vocab_size``; ``pattern`` is the regular expression,
``null`` for naive BPE. Unknown values are ``null``. ``sha256`` covers everything before it, written as compact JSON.
The same tokenizer always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file, write_atomically
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.foundation.version import __version__
from tokbench_plugins.bpe.fast.sample import SEEDS, Sampling
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import resolve_pattern
from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Pair, check_merges, token_bytes_of

Kind = Literal["naive_bpe", "regex_bpe"]

FILE_SUFFIX: Final = ".bpe.json"
_FORMAT: Final = "tokbench-bpe/2"
_FORMAT_WITH_RULE: Final = "tokbench-bpe/3"
_VERSION: Final = re.compile("tokbench-bpe/([1-9][0-9]{0,3})")
_KEYS: Final = ("format", "tokbench", "kind", "options", "corpus", "special_tokens", "merges", "sha256")
_OPTIONS: Final = {"pattern", "tie", "vocab_size"}
_MORE_OPTIONS: Final = {"parity", "sampling"}
_SHA256: Final = re.compile("[0-9a-f]{64}")


class TrainingText(NamedTuple):
    """The text that a tokenizer was trained on; its size is in bytes of UTF-8."""

    sha256: str

    documents: int

    bytes: int


class CorpusDigest:
    """Passes documents on, then describes them; the digest covers each document's size and bytes, in order.

    >>> digest = CorpusDigest(["low lower", "été"])
    >>> sum(map(len, digest))
    12
    >>> digest.corpus.documents, digest.corpus.bytes, digest.corpus.sha256[:8]
    (2, 14, '9bdf0a52')
    """

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

    parity: tuple[tuple[str, str | int | float], ...] = ()

    rule: Mapping[str, Any] | None = None
    """``None`` for plain BPE."""


_UNKNOWN: Final = TrainingRecord()
_NO_SAMPLING: Final = Sampling()


class Artefact(NamedTuple):
    """The content of the file."""

    merges: list[Pair]
    """In order of rank."""

    pattern: str | None
    """The regular expression of the split, ``None`` for naive BPE."""

    special: SpecialTokens = NO_SPECIAL

    training: TrainingRecord = _UNKNOWN

    sampling: Sampling = _NO_SAMPLING


def _kind(pattern: str | None) -> Kind:
    return "naive_bpe" if pattern is None else "regex_bpe"


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
    sampling: Sampling = _NO_SAMPLING,
) -> None:
    """Write the file whole or not at all, replacing an existing one."""
    corpus = training.corpus
    content = {
        "format": _FORMAT if training.rule is None else _FORMAT_WITH_RULE,
        "tokbench": __version__,
        "kind": _kind(pattern),
        "options": {
            "pattern": pattern,
            "tie": training.tie,
            "vocab_size": training.vocab_size,
            **({"parity": dict(training.parity)} if training.parity else {}),
            **({"sampling": sampling._asdict()} if sampling else {}),
        },
        "corpus": None if corpus is None else corpus._asdict(),
        "special_tokens": dict(special.ids),
        "merges": list(map(list, merges)),
        **({} if training.rule is None else {"rule": dict(training.rule)}),
    }
    text = _compact({**content, "sha256": _digest(content)}) + "\n"
    write_atomically(path, text.encode("ascii"))


def read_artefact(path: Path, kind: Kind) -> Artefact:
    """Read a file that the backend ``kind`` saved.

    >>> read_artefact(Path("nowhere.bpe.json"), "naive_bpe")
    Traceback (most recent call last):
    tokbench.foundation.errors.BackendError: nowhere.bpe.json: No such file or directory
    """
    try:
        content = parse_json(read_file(path, text=True))
    except TextError as error:
        raise BackendError(f"{error.at(path)}; train again or restore the file") from error
    try:
        return _checked(content, kind)
    except ValueError as error:
        raise BackendError(f"{path}: {error}") from error


def _checked(content: Any, kind: Kind) -> Artefact:
    if not isinstance(content, dict) or "format" not in content:
        raise ValueError("not a file saved by tokbench's BPE: it has no 'format'")
    _check_format(content["format"])
    keys = _KEYS if content["format"] == _FORMAT else (*_KEYS[:-1], "rule", _KEYS[-1])
    if tuple(content) != keys:
        raise ValueError(f"damaged: its keys are {', '.join(content)} instead of {', '.join(keys)}")
    body = {key: content[key] for key in keys[:-1]}
    if _digest(body) != content["sha256"]:
        raise ValueError("damaged: its content does not match its sha256; train again or restore the file")
    options = content["options"]
    if not isinstance(options, dict) or options.keys() - _MORE_OPTIONS != _OPTIONS:
        raise ValueError(f"its options are {options!r}, not {', '.join(sorted(_OPTIONS))}")
    pattern = options["pattern"]
    if not (pattern is None or isinstance(pattern, str)) or content["kind"] != _kind(pattern):
        raise ValueError(f"kind {content['kind']!r} does not go with pattern {pattern!r}")
    if content["kind"] != kind:
        raise ValueError(f"saved by another backend; load it with 'backend: {content['kind']}'")
    if pattern is not None:
        resolve_pattern(pattern)
    merges = _pairs(content["merges"])
    training = _training(options, content["corpus"])._replace(parity=_parity(options.get("parity", {})))
    sampling = _sampling(options.get("sampling", {}))
    if "rule" not in content:
        special = _special(content["special_tokens"], token_bytes_of(merges))
        return Artefact(merges, pattern, special, training, sampling)
    rule = content["rule"]
    if not isinstance(rule, dict) or not isinstance(rule.get("name"), str):
        raise ValueError(f"its rule is {rule!r}, not a name and what belongs to it")  # noqa: TRY004 - a fault of the file
    # The rule decides which ids are ordinary, and the tokenizer checks that no special token has one of them.
    special = _special(content["special_tokens"], ())
    return Artefact(merges, pattern, special, training._replace(rule=rule), sampling)


def _check_format(written: Any) -> None:
    if isinstance(written, str) and written in {_FORMAT, _FORMAT_WITH_RULE}:
        return
    version = _VERSION.fullmatch(written) if isinstance(written, str) else None
    if version is None:
        raise ValueError(f"not a file saved by tokbench's BPE: its format is {written!r}")
    if int(version[1]) < int(_FORMAT.rpartition("/")[2]):
        raise ValueError(
            f"format {written!r} is of an older tokbench, this one reads {_FORMAT!r}; train again: "
            "the same text and options give the same merges"
        )
    raise ValueError(
        f"format {written!r} is of a newer tokbench, this one reads up to {_FORMAT_WITH_RULE!r}; "
        "pip install --upgrade tokbench, or train again"
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _training(options: dict[str, Any], corpus: Any) -> TrainingRecord:
    size, tie = options["vocab_size"], options["tie"]
    if not (size is None or _is_count(size)):
        raise ValueError(f"vocab_size is {size!r}, not a number of ids")
    if not (tie is None or tie in get_args(Tie)):
        raise ValueError(f"tie is {tie!r}, not {' or '.join(get_args(Tie))}")
    match corpus:
        case None:
            return TrainingRecord(size, tie)
        case {"sha256": str(sha256), "documents": documents, "bytes": size_in_bytes, **rest} if (
            not rest and _SHA256.fullmatch(sha256) and _is_count(documents) and _is_count(size_in_bytes)
        ):
            return TrainingRecord(size, tie, TrainingText(sha256, documents, size_in_bytes))
        case _:
            raise ValueError(f"its corpus is {corpus!r}, not sha256, documents and bytes")


def _parity(written: Any) -> tuple[tuple[str, str | int | float], ...]:
    if not isinstance(written, dict) or not all(isinstance(value, str | int | float) for value in written.values()):
        raise ValueError(f"its options of parity are {written!r}, not names and values")
    return tuple(written.items())


def _sampling(written: Any) -> Sampling:
    match written:
        case {} if not written:
            return _NO_SAMPLING
        case {"dropout": int() | float() as dropout, "stochastok": int() | float() as stochastok, "seed": seed} if (
            len(written) == len(Sampling._fields)
            and 0 <= dropout <= 1
            and 0 <= stochastok <= 1
            and _is_count(seed)
            and seed < SEEDS
        ):
            return Sampling(dropout, stochastok, seed)
        case _:
            raise ValueError(f"its options of sampling are {written!r}, not dropout, stochastok and seed")


def _special(ids: Any, ordinary: Sequence[bytes]) -> SpecialTokens:
    if not isinstance(ids, dict) or not all(type(token_id) is int for token_id in ids.values()):
        raise ValueError(f"its special tokens are {ids!r}, not names and ids")
    return SpecialTokens(ids, ordinary)


def _pairs(merges: Any) -> list[Pair]:
    if not isinstance(merges, list):
        raise ValueError("its merges are not a list")  # noqa: TRY004 - a fault of the file, not of a caller
    pairs: list[Pair] = []
    for rank, pair in enumerate(merges):
        match pair:
            case [int(left), int(right)] if not isinstance(left, bool) and not isinstance(right, bool):
                pairs.append((left, right))
            case _:
                raise ValueError(f"merge {rank} is {pair!r}, not two ids")
    check_merges(pairs)
    return pairs
