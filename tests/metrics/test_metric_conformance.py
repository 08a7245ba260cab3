"""The shipped conformance of metrics: every family that plugins register passes it, and families with a fault do not."""

import math

import pytest
from own_metrics import VALUE, Characters

from tokbench.plugin.metrics import Measured, MetricFamily
from tokbench.testing.metrics import check_metric, families

OPTIONS = {"nsl": {"reference": "bytes"}}


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_family_of_text_metrics_conforms(family):
    check_metric(family, **OPTIONS.get(family.name, {}))


def family_of(kind):
    return MetricFamily(name="mine", summary="", values=(VALUE,), text=kind)


def test_a_family_of_another_plugin_conforms():
    check_metric(family_of(Characters))


class DependsOnOrder(Characters):
    def merge(self, one, other):
        return 2 * one + other


class ChangesItsArgument(Characters):
    def map(self, encoded):
        return [super().map(encoded)]

    def merge(self, one, other):
        one[0] += other[0]
        return one

    def finish(self, state):
        return super().finish(state[0])


class NoNumber(Characters):
    def finish(self, state):
        return {"characters": Measured(math.nan, n=1)}


class OutsideItsInterval(Characters):
    def finish(self, state):
        return {"characters": Measured(state, 1, state + 1, state + 2)}


class NoValue(Characters):
    def finish(self, state):
        return {}


@pytest.mark.parametrize("kind", [DependsOnOrder, ChangesItsArgument, NoNumber, OutsideItsInterval, NoValue])
def test_a_family_with_a_fault_does_not(kind):
    with pytest.raises(AssertionError):
        check_metric(family_of(kind))
