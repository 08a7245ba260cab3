"""Metrics of one's own; a test puts them on the path as a plugin."""

from tokbench.plugin import Options, hookimpl
from tokbench.plugin.metrics import Measured, Metric, MetricFamily


class Characters:
    """Counts characters."""

    def __init__(self, options):
        self.options = options

    def map(self, shard):
        return sum(map(len, shard.shard.texts))

    def merge(self, one, other):
        return one + other

    def finish(self, state):
        return {"characters": Measured(state, n=1)}

    def raw(self, state):
        return state


class Stops(Characters):
    def map(self, shard):
        breakpoint()  # noqa: T100 - what is tested
        return super().map(shard)


class Raises(Characters):
    def map(self, shard):
        raise ValueError("no idea how to count")


class Referring(Options):
    reference: str = "en"


VALUE = Metric(id="characters", unit="characters", direction="none", formula="sum", definition="Characters.")


@hookimpl
def register_metrics(register):
    for name, kind, options in (
        ("characters", Characters, Referring), ("stops", Stops, Options), ("raises", Raises, Options)
    ):  # fmt: skip
        register(MetricFamily(name=name, summary="characters", values=(VALUE,), options=options, text=kind))
