"""A timed metric: the median time of encoding a document, in microseconds."""

import statistics
import time

from tokbench.plugin import Failure, attempt
from tokbench.plugin.metrics import Cell, Metric, MetricFamily, Outcome

MEDIAN = Metric("document_us", "us", "lower").means(
    "median over documents of the time of one call of encode", "Microseconds for the median document, seen once."
)


def microseconds(tokenizer, text):
    start = time.perf_counter()
    tokenizer.encode(text)
    return 1e6 * (time.perf_counter() - start)


class Documents:
    def __init__(self, options):
        pass

    def measure(self, tokenizers, texts, progress):  # tokenizers by name; the text of each corpus
        outcome = Outcome()
        for text in texts:
            documents = list(text.documents)
            for name, tokenizer in tokenizers.items():
                times = attempt(lambda t=tokenizer, d=documents: [microseconds(t, each) for each in d])
                place = (name, text.corpus, text.group, MEDIAN.id)
                if isinstance(times, Failure):
                    outcome.cells.append(Cell(*place, unit="us", status="failed", reason=times.reason))
                else:
                    outcome.cells.append(Cell(*place, statistics.median(times), "us", n=len(times)))
        return outcome


SPEC = MetricFamily(name="document_time", summary="time of a document", values=(MEDIAN,), study="speed", make=Documents)
