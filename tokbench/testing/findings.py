"""How a rule says what it found."""

from __future__ import annotations

from typing import Any

from tokbench.testing.shown import shown

__all__ = ["Broken", "Elsewhere", "NotApplicable"]


class Broken(Exception):  # noqa: N818 - a finding
    """The tokenizer breaks the rule.

    Args:
        call: the call that shows it.
        expected: what should come, in words.
        got: the value that came.
        words: where no value came, what happened.
    """

    def __init__(self, call: str, expected: str, got: Any = None, *, words: str = "") -> None:
        super().__init__(call)
        self.call = call
        self.expected = expected
        self.got = words or shown(got)


class NotApplicable(Exception):  # noqa: N818 - a finding
    """The rule cannot be asked of this tokenizer, for the reason that is given."""


class Elsewhere(Exception):  # noqa: N818 - a finding
    """A call went wrong that this rule only builds on; another rule is about it, and fails there."""
