"""Plugins whose classes lack something; a test puts them on the path as a plugin."""

from own_metrics import VALUE, Characters

from tokbench.plugin import BackendSpec, CorpusSpec, Document, Options, hookimpl
from tokbench.plugin.metrics import Measured, MetricFamily
from tokbench.tokenizers.options import CorpusName


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


@hookimpl
def register_metrics(register):
    register(MetricFamily(name="no_merge", summary="x", values=(VALUE,), text=NoMerge))
    register(MetricFamily(name="no_return", summary="x", values=(VALUE,), text=lambda _: None))
    register(MetricFamily(name="no_measure", summary="x", values=(VALUE,), study="speed", make=Characters))
    register(MetricFamily(name="chosen", summary="x", values=(VALUE,), text=NumberOfChosen, options=Chosen))


@hookimpl
def register_corpora(register):
    register(CorpusSpec(name="no_licence", summary="x", open=NoLicence))
    register(CorpusSpec(name="a_class", summary="x", open=lambda _: NoLicence))


@hookimpl
def register_backends(register):
    register(BackendSpec(name="no_object", summary="x", load=lambda _: Characters))
