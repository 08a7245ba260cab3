"""What runs in the process that has the tokenizer: it makes it, and answers requests until nobody asks."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from tokbench.contracts.tokenizer import Tokenizer
from tokbench.errors import BackendUnavailable, TokbenchError
from tokbench.testing.findings import Broken, Elsewhere, NotApplicable
from tokbench.testing.report import State, Verdict
from tokbench.testing.rules import RULES
from tokbench.testing.shown import Note, write_note
from tokbench.testing.subject import TokenizerUnderTest, why

__all__ = ["main"]


def main() -> None:
    """Answer what :class:`tokbench.testing.process.Process` asks over the inherited pipe."""
    connection, notes = Connection(int(sys.argv[2])), int(sys.argv[3])
    try:
        _serve(connection, notes)
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)


def _serve(connection: Connection, notes: int) -> None:
    job, avoid, limit = connection.recv()
    write_note(notes, Note("load"))
    try:
        job = pickle.loads(job)  # noqa: S301 - our parent process made it
        tokenizer = job.make()
    except BackendUnavailable as error:
        connection.send(("unavailable", str(error)))
        return
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - panics are no Exception
        reason = str(error) if isinstance(error, TokbenchError) else f"loading it {why(error)}"
        connection.send(("broken", f"backend {job.name!r}: {reason}"))
        return
    if not isinstance(tokenizer, Tokenizer):
        what = f"made {type(tokenizer).__name__}, which lacks encode, decode or vocab_size"
        connection.send(("broken", f"backend {job.name!r} {what}"))
        return
    subject = TokenizerUnderTest(job, tokenizer, limit, partial(write_note, notes), avoid)
    connection.send(("ready", ""))
    answers: dict[str, Callable[[TokenizerUnderTest, Any], Any]] = {
        "rule": _verdict,
        "ids": TokenizerUnderTest.ids_or_words,
    }
    while True:
        kind, argument = connection.recv()
        connection.send(answers[kind](subject, argument))


def _verdict(subject: TokenizerUnderTest, name: str) -> Verdict:
    """One rule."""
    try:
        return Verdict(State.OK, RULES[name].check(subject))
    except Broken as broken:
        return Verdict(State.FAILED, "", broken.call, broken.expected, broken.got)
    except NotApplicable as reason:
        return Verdict(State.NOT_APPLICABLE, str(reason))
    except Elsewhere:
        return Verdict(State.NOT_APPLICABLE, "what it builds on fails; see the other rules")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - panics are no Exception
        return Verdict(State.FAILED, "", "", "an answer", why(error))
