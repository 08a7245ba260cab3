"""One tokenizer through all rules; the result is a report, or a pytest test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Final

from tokbench.engine.workers.pool import WorkerDied
from tokbench.foundation.errors import BackendUnavailable, InputError, did_you_mean
from tokbench.testing.findings import Broken, RuleNotApplicable, raised
from tokbench.testing.process import CheckProcess, reason_of
from tokbench.testing.report import ConformanceReport, RuleOutcome, State
from tokbench.testing.rules import RULES
from tokbench.testing.under_test import EXAMPLES, CheckRequest, TokenizerUnderTest
from tokbench.tokenizers.backend import BackendSpec

TIME_LIMIT: Final = 120.0


def _checked(rule: str, subject: TokenizerUnderTest) -> RuleOutcome:
    outcome = partial(RuleOutcome, rule, RULES[rule].sentence)
    try:
        return outcome(State.OK, RULES[rule].of(subject))
    except Broken as broken:
        return outcome(State.FAILED, "", broken.call, broken.expected, broken.got)
    except RuleNotApplicable as reason:
        return outcome(State.NOT_APPLICABLE, str(reason))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - panics are not an Exception
        return outcome(State.FAILED, "", "", "an answer", raised(error))


class Session:
    """One tokenizer under check, in a process of its own; to be closed.

    A call that kills the process breaks its rule, and ends the check: the rules after it are not applicable.
    """

    def __init__(self, request: CheckRequest, time_limit: float, rules: Iterable[str] | None = None) -> None:
        request.check()
        self.request = request
        chosen = list(RULES if rules is None else rules)
        for name in chosen:
            if name not in RULES:
                raise InputError(f"unknown rule {name!r}; {did_you_mean(name, RULES)}")
        self.rules = tuple(rule for rule in RULES if rule in chosen)
        self._limit = time_limit
        self._process: CheckProcess | None = None
        self._unavailable = self._killed_by = ""

    def start(self) -> CheckProcess:
        if self._unavailable:  # it is not asked again for every rule
            raise BackendUnavailable(self._unavailable)
        try:
            self._process = self._process or CheckProcess(self.request, self._limit)
        except BackendUnavailable as error:
            self._unavailable = str(error)
            raise
        return self._process

    def check(self, rule: str) -> RuleOutcome:
        outcome = partial(RuleOutcome, rule, RULES[rule].sentence)
        if self._killed_by:
            return outcome(State.NOT_APPLICABLE, f"{self._killed_by} kills the process")
        answer: RuleOutcome | WorkerDied = self.start().ask(partial(_checked, rule))
        if isinstance(answer, RuleOutcome):
            return answer
        self._process, self._killed_by = None, answer.heartbeat.place
        return outcome(State.FAILED, "", self._killed_by, f"an answer within {self._limit:g} s", reason_of(answer))

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def outcomes(self) -> Iterator[RuleOutcome]:
        self.start()
        yield from map(self.check, self.rules)


def check_backend(
    backend: str | BackendSpec,
    options: Mapping[str, Any] | None = None,
    *,
    train: int = 0,
    examples: int = EXAMPLES,
    time_limit: float = TIME_LIMIT,
    rules: Iterable[str] | None = None,
) -> ConformanceReport:
    """Check one tokenizer of a backend against every sentence of the contract, in a process of its own.

    Args:
        backend: the name of a registered backend, or a spec whose functions another process can import.
        options: of loading, or of training.
        train: a vocabulary size to train to, on shipped text; 0 to load.
        examples: the number of further texts, which are generated.
        time_limit: seconds of loading or training, and of every rule.
        rules: such as ``["lossless", "pickle"]``; ``None`` for all.

    Raises:
        InputError: no such backend, option or rule, or the backend cannot be loaded (or trained).
        BackendUnavailable: it is unavailable here.
        BackendError: it does not load.

    >>> report = check_backend("utf8_bytes", rules=["lossless", "empty_text"], examples=0)
    >>> report.ok, [outcome.rule for outcome in report.outcomes]
    (True, ['empty_text', 'lossless'])
    """
    request = CheckRequest(backend, dict(options or {}), train, examples)
    with closing(Session(request, time_limit, rules)) as session:
        return ConformanceReport(request.name, request.options, train, tuple(session.outcomes()))


def conformance(
    backend: str | BackendSpec,
    /,
    *,
    train: int = 0,
    examples: int = EXAMPLES,
    time_limit: float = TIME_LIMIT,
    rules: Iterable[str] | None = None,
    **options: Any,
) -> Callable[[str], None]:
    """Return a pytest test of one tokenizer, with a case for every rule; see :func:`check_backend`.

    Assign it to a name that begins with ``test``. ``options`` are of loading, or of training. If a backend has several
    tokenizers, slow ``rules`` such as ``long_text`` need only one.

    >>> test_conformance = conformance("utf8_bytes", examples=20)
    >>> test_conformance("empty_text")
    """
    import pytest

    session = Session(CheckRequest(backend, options, train, examples), time_limit, rules)
    waiting = set(session.rules)

    @pytest.mark.parametrize("rule", session.rules)
    def test_conformance(rule: str) -> None:
        __tracebackhide__ = True
        try:
            outcome = session.check(rule)
        except BackendUnavailable as error:
            pytest.skip(str(error))
        waiting.discard(rule)
        if not waiting:
            session.close()
        if outcome.state is State.NOT_APPLICABLE:
            pytest.skip(outcome.note)
        if outcome.state is State.FAILED:
            pytest.fail(f"{session.request.name} breaks the rule {rule}\n{outcome.explanation}", pytrace=False)

    return test_conformance
