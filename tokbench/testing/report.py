"""The report of a check: an outcome for every rule."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from tokbench.tokenizers import contract


def _read(docstring: str) -> dict[int, str]:
    r"""Return the numbered sentences of a docstring, each on one line.

    >>> _read("A title.\n\n1. One\n   thing.\n2. Another.\n\nThe end.")
    {1: 'One thing.', 2: 'Another.'}
    """
    matches = re.finditer(r"^(\d+)\. (.+(?:\n +\S.*)*)", docstring, re.MULTILINE)
    return {int(match[1]): " ".join(match[2].split()).replace("``", "`") for match in matches}


SENTENCES: Final = _read(contract.__doc__ or "")


class State(StrEnum):
    """The state of a rule."""

    OK = "ok"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True)
class RuleOutcome:
    """The finding of a rule.

    >>> print(RuleOutcome("empty_text", 1, State.OK, "1 text"))
    ok      empty_text          1 text
    """

    rule: str
    sentence: int
    """The number of the contract's sentence."""
    state: State
    note: str = ""
    input: str = ""
    """The smallest input that was found to break the rule."""
    expected: str = ""
    got: str = ""

    @property
    def quote(self) -> str:
        return f"{self.sentence}. {SENTENCES.get(self.sentence, '')}"

    def __str__(self) -> str:
        shown = {State.OK: "ok", State.FAILED: "FAILED", State.NOT_APPLICABLE: "-"}[self.state]
        head = f"{shown:<7} {self.rule:<18}  {self.note}".rstrip()
        return f"{head}\n{self.explanation}" if self.state is State.FAILED else head

    @property
    def explanation(self) -> str:
        rows = (("contract", self.quote), ("input", self.input), ("expected", self.expected), ("got", self.got))
        return "\n".join(f"    {name:<9} {text}" for name, text in rows if text)


@dataclass(frozen=True)
class ConformanceReport:
    """All outcomes of one tokenizer."""

    backend: str
    options: Mapping[str, Any]
    train: int
    """The vocabulary size of training; 0 if it was loaded."""
    outcomes: tuple[RuleOutcome, ...]

    @property
    def failed(self) -> tuple[RuleOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.state is State.FAILED)

    @property
    def ok(self) -> bool:
        return not self.failed

    def __str__(self) -> str:
        return "\n".join([*map(str, self.outcomes), self.summary])

    @property
    def summary(self) -> str:
        counts = {state: sum(outcome.state is state for outcome in self.outcomes) for state in State}
        return (
            f"{self.backend}: {counts[State.OK]} rules kept, {counts[State.FAILED]} broken, "
            f"{counts[State.NOT_APPLICABLE]} not applicable"
        )

    def to_json(self) -> str:
        outcomes = [{**asdict(outcome), "contract": outcome.quote} for outcome in self.outcomes]
        whole = asdict(self) | {"options": dict(self.options), "ok": self.ok, "outcomes": outcomes}
        return json.dumps(whole, ensure_ascii=True, indent=1, default=str)
