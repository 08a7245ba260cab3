"""The exceptions that tokbench raises on purpose, all below :class:`TokbenchError`."""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_DISK_FIXES: Final = {
    **dict.fromkeys([errno.ENOSPC, errno.EDQUOT, errno.EFBIG], "free some of the disk"),
    errno.ENOENT: "make its folder first",
    errno.EINVAL: "give the name of a file",
    errno.EISDIR: "give the name of a file",
}


class TokbenchError(Exception):
    """The base class of all exceptions of tokbench."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong with the input; a name that the message itself has is not written before it.

    >>> print(Problem("run.yaml:3:5", "unknown key 'metric'; did you mean 'metrics'?"))
    run.yaml:3:5: unknown key 'metric'; did you mean 'metrics'?
    >>> print(Problem("gpt-x", "unknown tokenizer 'gpt-x'; did you mean 'gpt-4'?"))
    unknown tokenizer 'gpt-x'; did you mean 'gpt-4'?
    """

    where: str
    """``file:line:column`` or a file name; may be empty."""
    message: str
    """The fault, and the fix."""

    def __str__(self) -> str:
        cause = self.message.partition(";")[0]
        said = not self.where or repr(self.where) in cause or cause.startswith(f"{self.where}:")
        return self.message if said else f"{self.where}: {self.message}"


class InputError(TokbenchError):
    """The input is refused; ``problems`` lists all its faults in reading order (exit code 2)."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = [Problem("", problems)]
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class BackendUnavailable(TokbenchError):  # noqa: N818 - a state of the machine, not a fault
    """A tokenizer cannot be used on this machine."""


class BackendError(TokbenchError):
    """A tokenizer did not load, train, encode or decode."""


class NoIds(BackendError):  # noqa: N818 - what an engine offers, not a fault
    """A tokenizer counts tokens and gives no ids."""


class NotWritten(TokbenchError, OSError):  # noqa: N818 - a state of the disk, not a fault
    """A file, or standard output, cannot be written; the arguments are those of OSError.

    >>> print(NotWritten(errno.ENOSPC, "No space left on device", "ids.lock"))
    ids.lock: cannot be written: No space left on device; free some of the disk
    """

    def __str__(self) -> str:
        fix = _DISK_FIXES.get(self.errno or 0, "choose another place")
        return f"{self.filename}: cannot be written: {self.strerror}; {fix}"


class ContractError(TokbenchError):
    """A plugin broke a sentence of :mod:`tokbench.tokenizers.contract`."""


class ResultsError(TokbenchError):
    """A results file cannot be read."""


class WorkersLost(TokbenchError):  # noqa: N818 - it stops a run as Ctrl-C does
    """The workers of a run are out of reach for good."""


STOPS: Final = (KeyboardInterrupt, WorkersLost)
"""They end a run early, with the results so far."""


def close_name(name: str, known: Iterable[str]) -> str:
    """Return the most similar known name; empty if none is similar.

    >>> close_name("tiktokn", ["tiktoken", "sentencepiece"]), close_name("xyz", ["tiktoken"])
    ('tiktoken', '')
    """
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name, or all, for an error message.

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
"""Of a plugin's message."""


def shortened(text: str, longest: int) -> str:
    """Cut the middle of a longer text.

    >>> shortened("one two three four", 16)
    'one t [...] four'
    """
    if len(text) <= longest:
        return text
    mark = " [...] "
    head = (longest - len(mark) + 1) // 2
    return text[:head] + mark + text[len(text) - (longest - len(mark) - head) :]


_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


def shown(value: object, longest: int = 60) -> str:
    """Return a plugin's value for a message; its type, if ``repr`` raises.

    >>> shown([1, 2]), shown(10**70)
    ('[1, 2]', '100000000000000000000000000 [...] 00000000000000000000000000')
    """
    try:
        return shortened(_ADDRESS.sub("", repr(value)), longest)
    except Exception:  # noqa: BLE001 - the class may come from anywhere
        return f"an object of {type(value).__name__}"


def one_line(error: BaseException) -> str:
    r"""Return type (unless tokbench's) and message without line breaks, cut to 2,000 characters.

    >>> one_line(ValueError("bad\n  thing"))
    'ValueError: bad thing'
    """
    try:
        text = " ".join(shortened(str.__str__(str(error)), LONGEST_MESSAGE).split()) or "no message"
        return text if isinstance(error, TokbenchError) else f"{type(error).__name__}: {text}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the class may come from anywhere
        return "an exception whose message cannot be shown, because str() of it raises"
