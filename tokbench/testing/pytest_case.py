"""The conformance suite as a pytest test: one line in a plugin author's test file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokbench.contracts.backend import BackendSpec
from tokbench.errors import BackendUnavailable
from tokbench.testing.report import State
from tokbench.testing.request import EXAMPLES, CheckRequest
from tokbench.testing.rules import RULES
from tokbench.testing.run import TIME_LIMIT, Session


def conformance(
    backend: str | BackendSpec,
    /,
    *,
    train: int = 0,
    examples: int = EXAMPLES,
    time_limit: float = TIME_LIMIT,
    **options: Any,
) -> Callable[[str], None]:
    """Return a pytest test of one tokenizer, with a case for every rule; see :func:`check_backend`.

    A test file is two lines; the name on the left must start with ``test``::

        import tokbench.testing
        test_conformance = tokbench.testing.conformance("my_backend", size=1)

    Args:
        backend: the name of a registered backend, or a spec whose functions another process can import.
        train: a vocabulary size to train to, on text that ships with tokbench; 0 to load.
        examples: how many texts hypothesis generates, besides those that ship with tokbench.
        time_limit: seconds that loading or training may take, and every rule.
        options: of loading, or of training.

    Raises:
        InputError: no such backend or option, or the backend cannot be loaded (or trained).

    >>> test_conformance = conformance("utf8_bytes")
    >>> test_conformance("empty_text")
    """
    import pytest

    session = Session(CheckRequest(backend, options, train, examples), time_limit)
    waiting = set(RULES)

    @pytest.mark.parametrize("rule", list(RULES))
    def test_conformance(rule: str) -> None:
        """The tokenizer keeps one rule of tokbench's contract."""
        __tracebackhide__ = True
        try:
            outcome = session.check(rule)
        except BackendUnavailable as error:
            pytest.skip(str(error))
        waiting.discard(rule)
        if not waiting:
            session.close()
        if outcome.state is State.NOT_APPLICABLE:
            pytest.skip(outcome.verdict.note)
        if outcome.state is State.FAILED:
            pytest.fail(f"{session.request.name} breaks the rule {rule}\n{outcome.explanation}", pytrace=False)

    return test_conformance
