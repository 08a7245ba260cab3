"""Says what the class of a plugin lacks, and how to write it."""

from __future__ import annotations

import inspect


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
