"""The findings of rules as exceptions, and values as short text."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

_LONGEST: Final = 160
_LONGEST_TEXT: Final = 1_000


class Broken(Exception):  # noqa: N818 - a finding
    """The tokenizer breaks the rule: a call, what it should return, and what it returned or what happened."""

    def __init__(self, call: str, expected: str, got: Any = None, *, words: str = "") -> None:
        super().__init__(call)
        self.call = call
        self.expected = expected
        self.got = words or shown(got)


class RuleNotApplicable(Exception):  # noqa: N818 - a finding
    """The rule does not apply to this tokenizer, with the reason."""


class PrerequisiteFailed(RuleNotApplicable):
    """A call failed that another rule checks."""

    def __str__(self) -> str:
        return "what it builds on fails; see the other rules"


def shown(value: Any) -> str:
    r"""Return a value as Python writes it, or the beginning and the length of a long one.

    >>> shown("né"), shown("ne\u0301"), shown([1, 2])
    ("'né'", "'ne\\u0301'", '[1, 2]')
    >>> shown("a" * 1000)[-30:]
    "aaaaaaaaaaa'... (1,000 in all)"
    """
    if isinstance(value, str | bytes | list | tuple) and len(value) > _LONGEST:
        return f"{shown(value[:_LONGEST])}... ({len(value):,} in all)"
    text = repr(value)
    if not unicodedata.is_normalized("NFC", text):
        text = ascii(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def call_of(method: str, *arguments: Any, **settings: Any) -> str:
    """Return a call as Python writes it.

    >>> call_of("encode_chat", [1, 2], reply=True)
    'encode_chat([1, 2], reply=True)'
    """
    named = (f"{name}={shown(value)}" for name, value in settings.items())
    return f"{method}({', '.join([*map(shown, arguments), *named])})"


def raised(error: BaseException) -> str:
    """Return what was raised, on one line, with its type.

    >>> raised(KeyError("a"))
    "raised KeyError: 'a'"
    """
    return f"raised {type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"[:500]
