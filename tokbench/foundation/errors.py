"""The exceptions that tokbench raises on purpose.

::

    TokbenchError
    ├── InputError           the input is refused, before anything is measured (exit code 2)
    ├── BackendUnavailable   a tokenizer cannot be used on this machine: no library, no network
    ├── BackendError         a tokenizer did not load, train, encode or decode
    │   └── NoIds            it counts tokens and gives no ids
    ├── ContractError        a plugin broke a sentence of the contract
    ├── WorkersLost          the workers of a run are out of reach for good; what there is is written
    └── ResultsError         a results file cannot be read

A message says what happened, where, and what to type next.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final


class TokbenchError(Exception):
    """The base class of all exceptions of tokbench."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong with the input.

    >>> print(Problem("run.yaml:3:5", "unknown key 'metric'; did you mean 'metrics'?"))
    run.yaml:3:5: unknown key 'metric'; did you mean 'metrics'?
    """

    where: str
    """``file:line:column`` or the name of a file; empty if there is no such place."""
    message: str
    """The fault, and the words to type instead."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class InputError(TokbenchError):
    """The input is refused; ``problems`` lists everything that is wrong with it, in reading order."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = [Problem("", problems)]
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class BackendUnavailable(TokbenchError):  # noqa: N818 - a state of the machine, not a fault
    """A tokenizer cannot be used on this machine; the message gives the reason and the remedy."""


class BackendError(TokbenchError):
    """A tokenizer did not load, train, encode or decode."""


class NoIds(BackendError):  # noqa: N818 - what an engine offers, not a fault
    """A tokenizer counts tokens and gives no ids: what needs them does not apply to it."""


class ContractError(TokbenchError):
    """A plugin broke a sentence of the contract in :mod:`tokbench.tokenizers.contract`."""


class ResultsError(TokbenchError):
    """A results file cannot be read."""


class WorkersLost(TokbenchError):  # noqa: N818 - it stops a run as Ctrl-C does
    """The workers of a run are out of reach for good; the run ends as if it had been stopped, with what there is."""


STOPS: Final = (KeyboardInterrupt, WorkersLost)
"""The exceptions that end a run early, with the results of what was measured."""


def close_name(name: str, known: Iterable[str]) -> str:
    """Return the known name that looks most like a name, or an empty string if none looks like it.

    >>> close_name("tiktokn", ["tiktoken", "sentencepiece"]), close_name("xyz", ["tiktoken"])
    ('tiktoken', '')
    """
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name: the nearest known name, or all of them.

    >>> did_you_mean("tiktokn", ["tiktoken", "sentencepiece"])
    "did you mean 'tiktoken'?"
    >>> did_you_mean("xyz", ["tiktoken", "sentencepiece"])
    'known: sentencepiece, tiktoken'
    """
    names = sorted(known)
    close = close_name(name, names)
    if close:
        return f"did you mean {close!r}?"
    return "known: " + ", ".join(names) if names else "none are known"


LONGEST_MESSAGE: Final = 2_000
"""Characters of a message of foreign code that are kept."""


def shortened(text: str, longest: int) -> str:
    """Return a text of at most ``longest`` characters: the middle of a longer one is left out.

    >>> shortened("one two three four", 16)
    'one t [...] four'
    """
    if len(text) <= longest:
        return text
    mark = " [...] "
    head = (longest - len(mark) + 1) // 2
    return text[:head] + mark + text[len(text) - (longest - len(mark) - head) :]


_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
"""The place in memory, which is another one in every run."""


def shown(value: object, longest: int = 60) -> str:
    """Return a value of foreign code as a message shows it; its type, if its own ``repr`` raises.

    >>> shown([1, 2]), shown(10**70)
    ('[1, 2]', '100000000000000000000000000 [...] 00000000000000000000000000')
    """
    try:
        return shortened(_ADDRESS.sub("", repr(value)), longest)
    except Exception:  # noqa: BLE001 - the class may come from anywhere
        return f"an object of {type(value).__name__}"


def one_line(error: BaseException) -> str:
    r"""Return an exception as one line: its type, unless it is one of tokbench, and its message without line breaks.

    A message of more than 2,000 characters loses its middle. An exception that cannot be shown, because its own
    ``str`` raises, gets a message that says so.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed while the message was made.

    >>> one_line(ValueError("bad\n  thing"))
    'ValueError: bad thing'
    >>> class Broken(Exception):
    ...     def __str__(self):
    ...         raise ValueError
    >>> one_line(Broken())
    'an exception whose message cannot be shown, because str() of it raises'
    """
    try:
        text = " ".join(shortened(str.__str__(str(error)), LONGEST_MESSAGE).split()) or "no message"
        return text if isinstance(error, TokbenchError) else f"{type(error).__name__}: {text}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the class may come from anywhere
        return "an exception whose message cannot be shown, because str() of it raises"
