"""Plugins of one's own, some of which lack something; a test puts them on the path as a plugin."""

from tokbench.engine.workers.pool import InProcessPool
from tokbench.plugin import BackendSpec, CorpusSpec, Document, ExecutorSpec, Options, hookimpl
from tokbench.plugin.metrics import Measured, Metric, MetricFamily
from tokbench.tokenizers.options import CorpusName


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


class NoLicence:
    def __init__(self, options):
        pass

    def documents(self):
        yield Document("text", "en", "1", "here:1")


class NoMerge:
    def __init__(self, options):
        pass

    map = Characters.map
    finish = Characters.finish
    raw = Characters.raw


class Chosen(Options):
    corpora: tuple[CorpusName, ...] = ()


class NumberOfChosen(Characters):
    """Says how many corpora its own option names."""

    def finish(self, state):
        return {"characters": Measured(len(self.options.corpora), n=1)}


def alone(scheduler, workers, limits, progress):
    assert (scheduler, workers) == ("", 1)
    pool = InProcessPool(progress)
    pool.notes.append("the executor alone has done it")
    return pool


FAMILIES = (
    {"name": "characters", "text": Characters, "options": Referring},
    {"name": "stops", "text": Stops},
    {"name": "raises", "text": Raises},
    {"name": "chosen", "text": NumberOfChosen, "options": Chosen},
    {"name": "no_merge", "text": NoMerge},
    {"name": "no_return", "text": lambda _: None},
    {"name": "no_measure", "study": "speed", "make": Characters},
)


@hookimpl
def register_metrics(register):
    for facts in FAMILIES:
        register(MetricFamily(summary="x", values=(VALUE,), **facts))


@hookimpl
def register_corpora(register):
    register(CorpusSpec(name="no_licence", summary="x", open=NoLicence))
    register(CorpusSpec(name="a_class", summary="x", open=lambda _: NoLicence))


@hookimpl
def register_backends(register):
    register(BackendSpec(name="no_object", summary="x", load=lambda _: Characters))


@hookimpl
def register_executors(register):
    register(ExecutorSpec(name="alone", summary="this process", open=alone))
    register(ExecutorSpec(name="lacking", summary="never", open=alone, requires=("no-such-library",)))
