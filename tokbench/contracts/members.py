"""Says what the class of a plugin lacks, and how to write it."""

from __future__ import annotations

from collections.abc import Mapping


def missing_members(made: object, kind: str, members: Mapping[str, str]) -> str:
    """Return what an object of a plugin lacks, and how to write it; an empty string if it lacks nothing.

    Args:
        made: what the plugin returned.
        kind: what it should be, with its article.
        members: by name, the first line of every method and attribute that it needs.

    >>> class Half:
    ...     def encode(self, text):
    ...         return []
    >>> members = {"encode": "def encode(self, text: str, /)", "decode": "def decode(self, ids, /)"}
    >>> missing_members(Half(), "a tokenizer", members)
    "Half is not a tokenizer yet: add 'def decode(self, ids, /)' to the class"
    >>> missing_members(None, "a tokenizer", members)
    'None was returned instead of a tokenizer; is a return missing at the end?'
    >>> missing_members(Half, "a tokenizer", members)
    'the class Half was returned instead of a tokenizer; make an object of it: Half(...)'
    """
    if made is None:
        return f"None was returned instead of {kind}; is a return missing at the end?"
    if isinstance(made, type):
        return f"the class {made.__name__} was returned instead of {kind}; make an object of it: {made.__name__}(...)"
    lines = [line for name, line in members.items() if not hasattr(made, name)]
    lines += [
        line
        for name, line in members.items()
        if line.startswith("def ") and hasattr(made, name) and not callable(getattr(made, name))
    ]
    if not lines:
        return ""
    return f"{type(made).__name__} is not {kind} yet: add {', '.join(map(repr, lines))} to the class"
