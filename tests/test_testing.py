"""The conformance suite catches every broken backend by the rule that it breaks, and by no other."""

import broken_backends as broken
import pytest

from tokbench.testing import State, check_backend
from tokbench.testing.contract import SENTENCES
from tokbench.testing.job import Job
from tokbench.testing.rules import RULES
from tokbench.testing.run import Session

LIMITS = {broken.Hangs: 15, broken.NeverEnds: 15}
CASES = [
    pytest.param(*case, id=case[0].__name__, marks=[pytest.mark.slow] if case[0] in LIMITS else [])
    for case in broken.BROKEN
]


def spec_of(kind):
    return broken.spec(kind, trained=kind in broken.TRAIN)


def job(kind):
    return Job(spec_of(kind), {}, train=int(kind in broken.TRAIN), examples=0)


@pytest.mark.parametrize(("kind", "rule", "shown"), CASES)
def test_a_broken_backend_is_caught(kind, rule, shown):
    with Session(job(kind), LIMITS.get(kind, 60)) as session:
        outcome = session.check(rule)
    assert outcome.state is State.FAILED, outcome
    assert outcome.quote == f"{RULES[rule].sentence}. {SENTENCES[RULES[rule].sentence]}"
    assert outcome.verdict.expected
    assert outcome.verdict.got
    if shown is not None:
        assert outcome.verdict.input == shown


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rule", "shown"), CASES)
def test_and_by_no_other_rule(kind, rule, shown):
    report = check_backend(spec_of(kind), train=int(kind in broken.TRAIN), examples=0, time_limit=LIMITS.get(kind, 60))
    assert [outcome.rule for outcome in report.failed] == [rule], str(report)
    assert not report.ok
    assert len(report.outcomes) == len(RULES)


def test_every_rule_has_a_broken_backend():
    assert {rule for _, rule, _ in broken.BROKEN} == set(RULES)
