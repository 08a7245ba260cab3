"""Says what the class of a plugin lacks, and how to write it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.foundation.errors import ContractError, shown
from tokbench.tokenizers import contract


def _members(protocol: type) -> dict[str, str]:
    """Return the first line of every method and attribute of a protocol, by name, those of its bases first."""
    lines = {}
    for base in reversed(protocol.__mro__):
        for name, member in vars(base).items() if getattr(base, "_is_protocol", False) else ():
            if isinstance(member, property) and member.fget:
                lines[name] = f"{name}: {inspect.signature(member.fget).return_annotation}"
            elif inspect.isfunction(member) and not name.startswith("_"):
                lines[name] = f"def {name}{inspect.signature(member)}".replace("'", "")
    return lines


def missing_members(made: object, kind: str, protocol: type) -> str:
    """Return what an object of a plugin lacks, and how to write it; an empty string if it lacks nothing.

    Args:
        made: what the plugin returned.
        kind: what it should be, with its article.
        protocol: has every method and attribute that it needs.

    >>> from tokbench.tokenizers.contract import Tokenizer
    >>> class Half:
    ...     vocab_size = 256
    ...     def encode(self, text):
    ...         return []
    >>> missing_members(Half(), "a tokenizer", Tokenizer)
    "Half is not a tokenizer yet: add 'def decode(self, ids: Sequence[int], /) -> str' to the class"
    >>> missing_members(None, "a tokenizer", Tokenizer)
    'None was returned instead of a tokenizer; is a return missing at the end?'
    >>> missing_members(Half, "a tokenizer", Tokenizer)
    'the class Half was returned instead of a tokenizer; make an object of it: Half(...)'
    """
    if made is None:
        return f"None was returned instead of {kind}; is a return missing at the end?"
    if isinstance(made, type):
        return f"the class {made.__name__} was returned instead of {kind}; make an object of it: {made.__name__}(...)"
    members = _members(protocol)
    lines = [line for name, line in members.items() if not hasattr(made, name)]
    lines += [
        line
        for name, line in members.items()
        if line.startswith("def ") and hasattr(made, name) and not callable(getattr(made, name))
    ]
    if not lines:
        return ""
    return f"{type(made).__name__} is not {kind} yet: add {', '.join(map(repr, lines))} to the class"


class _Member(NamedTuple):
    """A member that has a value, and the values that it may have."""

    capability: type
    """The tokenizers that have it."""
    name: str
    may_be: Callable[[Any, int], bool]
    """Tells it of a value, given the size of the vocabulary."""
    values: str
    """They in words."""


def _is_id(value: object, vocab_size: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < vocab_size


def _is_text(value: object, _: int) -> bool:
    return isinstance(value, str)


def _is_truth(value: object, _: int) -> bool:
    return isinstance(value, bool | np.bool_)


def _are_notes(value: object, _: int) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(note, str) for note in value)


def _are_special(value: object, vocab_size: int) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and _is_id(token, vocab_size) for name, token in value.items()
    )


_MEMBERS: Final = (
    _Member(
        contract.HasUnknown,
        "unk_id",
        lambda value, size: value is None or _is_id(value, size),
        "None or an integer in range(vocab_size)",
    ),
    _Member(contract.HasSpecialTokens, "special_ids", _are_special, "names with integers in range(vocab_size)"),
    _Member(contract.HasDummyPrefix, "dummy_prefix", lambda value, _: isinstance(value, bytes), "bytes"),
    _Member(contract.HasNotes, "notes", _are_notes, "a sequence of texts"),
    _Member(contract.HasIdentity, "identity", _is_text, "text"),
    _Member(contract.NamesEngine, "encoded_by", _is_text, "text"),
    _Member(contract.Saves, "file_suffix", _is_text, "text"),
    _Member(contract.ClaimsLossless, "lossless", _is_truth, "True or False"),
    _Member(contract.ThreadSafe, "thread_safe", _is_truth, "True or False"),
)


def check_members(tokenizer: contract.Tokenizer, vocab_size: int) -> None:
    """Refuse a tokenizer one of whose optional members has a value that it may not have.

    Args:
        tokenizer: the tokenizer.
        vocab_size: its number of ids.

    Raises:
        ContractError: with the first such member.

    >>> class Letters:
    ...     vocab_size, encode, decode = 128, str.encode, bytes.decode
    ...     unk_id = 128
    >>> check_members(Letters(), 128)
    Traceback (most recent call last):
    tokbench.foundation.errors.ContractError: unk_id is 128, but must be None or an integer in range(vocab_size)
    """
    for capability, name, may_be, values in _MEMBERS:
        if isinstance(tokenizer, capability) and not may_be(value := getattr(tokenizer, name), vocab_size):
            raise ContractError(f"{name} is {shown(value)}, but must be {values}")
