"""A backend, a corpus, a metric and a report format, each as small as it can be."""

from collections.abc import Callable, Iterator

import numpy as np

import tokbench
import tokbench.plugin
from tokbench.plugin import BackendSpec, CorpusSpec, Document
from tokbench.plugin.metrics import Measured, Metric, MetricFamily
from tokbench.plugin.report import ReporterSpec


class Options(tokbench.plugin.Options):
    size: int = 4


class Chunks:
    """Every ``size`` characters are one token; it remembers what it has seen."""

    vocab_size = 1_000

    def __init__(self, options: Options) -> None:
        self._size = options.size
        self._pieces: dict[str, int] = {}

    def encode(self, text: str, /) -> list[int]:
        pieces = [text[i : i + self._size] for i in range(0, len(text), self._size)]
        return [self._pieces.setdefault(piece, len(self._pieces)) for piece in pieces]

    def decode(self, ids, /) -> str:
        known = list(self._pieces)
        return "".join(known[i] for i in ids)


class Haiku:
    licence = "CC0-1.0"

    def documents(self) -> Iterator[Document]:
        for k, line in enumerate(("an old silent pond", "a frog jumps into the pond", "splash, silence again")):
            yield Document(line, "haiku", str(k), f"haiku:{k}")


class Longest:
    """The longest document, in tokens."""

    def map(self, encoded):
        return int(np.max(encoded.tokens))

    def merge(self, one, other):
        return max(one, other)

    def finish(self, state):
        return {"longest_document": Measured(state, n=1)}

    def raw(self, state):
        return state


@tokbench.plugin.hookimpl
def register_backends(register: Callable[[BackendSpec], None]) -> None:
    register(BackendSpec(name="acme_chunks", summary="chunks of characters", load=Chunks, load_options=Options))


@tokbench.plugin.hookimpl
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    register(CorpusSpec(name="acme_haiku", summary="three lines", open=lambda options: Haiku()))


@tokbench.plugin.hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    value = Metric(
        id="longest_document",
        unit="tokens",
        direction="lower",
        formula="max tokens",
        definition="The longest document.",
    )
    register(
        MetricFamily(name="acme_longest", summary="longest document", values=(value,), text=lambda options: Longest())
    )


@tokbench.plugin.hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    register(
        ReporterSpec(
            name="acme_txt",
            summary="cells, counted",
            filename="acme.txt",
            render=lambda results: f"{len(results.cells)} cells\n",
        )
    )
