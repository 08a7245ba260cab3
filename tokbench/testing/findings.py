"""The exceptions by which a rule says what it found."""

from __future__ import annotations

from typing import Any

from tokbench.testing.shown import shown


class Broken(Exception):  # noqa: N818 - a finding
    """The tokenizer breaks the rule.

    Args:
        call: the call that shows it.
        expected: what should come, in words.
        got: the value that came.
        words: what happened, if no value came.
    """

    def __init__(self, call: str, expected: str, got: Any = None, *, words: str = "") -> None:
        super().__init__(call)
        self.call = call
        self.expected = expected
        self.got = words or shown(got)


class RuleNotApplicable(Exception):  # noqa: N818 - a finding
    """The rule does not apply to this tokenizer, for the reason that is given."""


class Elsewhere(Exception):  # noqa: N818 - a finding
    """A call went wrong that this rule only builds on; another rule is about it, and reports it."""
