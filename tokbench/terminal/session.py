"""Tokenizers that a user names, each in a process that may die: the session of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

from tokbench.config.model import Limits
from tokbench.engine.workers.executor import Executor
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.foundation.errors import BackendError, InputError, Problem, TokbenchError
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.progress import Progress, silent
from tokbench.foundation.store import Store
from tokbench.measuring.job import JobContext, TokenizerJob
from tokbench.segmentation.segment import NamedTokenizers, brief_limits

T = TypeVar("T")

_FEED: Final = "texts"


@dataclass(frozen=True)
class _JobOnTexts(TokenizerJob):
    """Its step takes the texts that the parent sends, and a progress, too."""

    def run(self, context: JobContext) -> Iterator[Any | Failure]:
        progress = partial(context.progress, self.verb)
        with doing(self.verb, tokenizer=self.names[0], place=self.place):
            yield attempt(lambda: self.step(context.tokenizer(self.names[0]), context.texts(_FEED), progress))


class TokenizerSession(NamedTuple):
    """Tokenizers that are ready in worker processes: a crash or a hang of one is its failure, and no other's.

    Steps are functions of a module, or partials of such: they are sent as pickles, and so are their answers.
    """

    names: list[str]
    """The tokenizers, in the order of the user; a configuration may make several of one."""
    pool: WorkerPool
    named: bool = False
    """Whether the user named them, so that one that cannot be loaded is bad input, and no failure."""

    def ask(
        self,
        step: Callable[..., T],
        verb: str = "encoding",
        texts: Iterable[str] | None = None,
        names: Sequence[str] = (),
    ) -> dict[str, T | Failure]:
        """Return the answer of each tokenizer by its name, or its failure.

        Args:
            step: takes the tokenizer; with ``texts`` also an iterator of these and a progress.
            verb: what is done, for messages such as ``the process crashed while encoding the texts``.
            texts: what the step reads, which is sent in batches; of one tokenizer only if it can be read once.
            names: some of the tokenizers; empty for all.

        Raises:
            InputError: the user named tokenizers that cannot be loaded.
        """
        kind = TokenizerJob if texts is None else _JobOnTexts
        asked = names or self.names
        waiting = iter([kind((name,), verb, "the texts", step) for name in asked])
        feeds = {} if texts is None else {_FEED: texts}
        answers: dict[str, T | Failure] = {}
        for job, answer in self.pool.work(lambda: next(waiting, None), feeds=lambda _: feeds):
            answers[job.loads[0]] = answer.failure if isinstance(answer, WorkerDied) else cast("T | Failure", answer)
            if texts is None:
                self.pool.progress(verb, len(answers), len(asked))
        bad = {
            name: answer
            for name, answer in answers.items()
            if self.named and isinstance(answer, Failure) and answer.loading
        }
        if bad:
            alone = len(self.names) == 1
            error = InputError([Problem("" if alone else name, failure.reason) for name, failure in bad.items()])
            error.add_note("\n".join(failure.traceback for failure in bad.values()))
            raise error
        return {name: answers[name] for name in asked}

    def together(self, step: Callable[..., T], names: Sequence[str], verb: str = "encoding") -> T:
        """Return the answer of a step that takes several tokenizers at once, in one process.

        Raises:
            InputError: tokbench or a backend refuses what was asked, or cannot load a tokenizer.
            BackendError: a tokenizer failed, or its process died.
        """
        answer = self.pool.ask(TokenizerJob(tuple(names), verb, "the texts", step))
        failure = answer.failure if isinstance(answer, WorkerDied) else answer
        if isinstance(failure, Failure):
            error: TokbenchError = (InputError if failure.refused else BackendError)(failure.reason)
            error.add_note(failure.traceback)
            raise error
        return cast("T", answer)


@contextmanager
def session(
    names: Sequence[str],
    config: Path | None = None,
    *,
    prefer: Sequence[str] = (),
    n_bytes: int | None = None,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress = silent,
    options: Mapping[str, Any] | None = None,
    named: bool = False,
) -> Iterator[TokenizerSession]:
    """Yield a session with the tokenizers of some names, which are loaded when they are first asked.

    Args:
        names: names for :func:`tokbench.load`, or of the configuration; empty for all of the configuration.
        config: a configuration, or the name of a suite, whose tokenizers are trained if they are to be.
        prefer: the backends that may load a published name or a file; empty for all.
        n_bytes: of the texts of a command that a person waits for, whose steps have shorter limits.
        workers: processes that work side by side; 0 for none but this one.
        store: the store of trainings.
        progress: called with the steps of trainings, and of what is asked.
        options: further ones of each tokenizer, if there can be no configuration.
        named: whether one that cannot be loaded is bad input, as the user named it, and no failure like others.

    Raises:
        InputError: with all names that are not known or cannot be had here.

    >>> from operator import attrgetter
    >>> with session(["utf8_bytes", "utf16_units"], workers=0) as ready:
    ...     ready.ask(attrgetter("vocab_size"))
    {'utf8_bytes': 256, 'utf16_units': 65536}
    """
    tokenizers = NamedTokenizers(names, config, prefer, options)
    limits = tokenizers.limits or (Limits() if n_bytes is None else brief_limits(n_bytes))
    with Executor(workers).pool(limits, progress) as pool:
        yield TokenizerSession(tokenizers.open(pool, store), pool, named)
