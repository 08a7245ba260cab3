"""Says what a plugin's class lacks, and how to write it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from tokbench.foundation.errors import ContractError, shown
from tokbench.foundation.plain_values import plain
from tokbench.tokenizers import contract


def _members(protocol: type) -> dict[str, str]:
    lines = {}
    for base in reversed(protocol.__mro__):
        for name, member in vars(base).items() if getattr(base, "_is_protocol", False) else ():
            if isinstance(member, property) and member.fget:
                lines[name] = f"{name}: {inspect.signature(member.fget).return_annotation}"
            elif inspect.isfunction(member) and not name.startswith("_"):
                lines[name] = f"def {name}{inspect.signature(member)}".replace("'", "")
    return lines


def missing_members(made: object, kind: str, protocol: type) -> str:
    """Return what ``made`` by a plugin lacks to be a ``kind``, and how to write it; empty if nothing.

    >>> from tokbench.tokenizers.contract import Tokenizer
    >>> class Half:
    ...     vocab_size = 256
    ...     def encode(self, text):
    ...         return []
    >>> missing_members(Half(), "a tokenizer", Tokenizer)
    "Half is not a tokenizer yet: add 'def decode(self, ids: Sequence[int], /) -> str' to the class"
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


_MEMBERS: Final[Mapping[str, tuple[type, Any]]] = {
    "unk_id": (contract.HasUnknown, int | None),
    "special_ids": (contract.HasSpecialTokens, dict[str, int]),
    "dummy_prefix": (contract.HasDummyPrefix, bytes),
    "notes": (contract.HasNotes, list[str]),
    "identity": (contract.HasIdentity, str),
    "encoded_by": (contract.NamesEngine, str),
    "file_suffix": (contract.Saves, str),
    "lossless": (contract.ClaimsLossless, bool),
    "thread_safe": (contract.ThreadSafe, bool),
}
"""Capability and type of each member with a value."""


def plain_members(tokenizer: contract.Tokenizer, vocab_size: int) -> Mapping[str, Any]:
    """Return the optional members of a tokenizer as plain values.

    Raises:
        ContractError: a value has another type, or an id is out of range.
    """
    members = {
        name: plain(getattr(tokenizer, name), expected, name)
        for name, (capability, expected) in _MEMBERS.items()
        if isinstance(tokenizer, capability)
    }
    for name, ids in (("unk_id", [members.get("unk_id")]), ("special_ids", members.get("special_ids", {}).values())):
        if wrong := [token for token in ids if token is not None and not 0 <= token < vocab_size]:
            raise ContractError(f"{name} is {shown(wrong[0])}, but must be in range(vocab_size)")
    return members
