"""What a reader of a run must know first."""

from __future__ import annotations

from collections.abc import Iterator

from tokbench.report.answer.words import join as names
from tokbench.report.number_format import Style
from tokbench.report.sections.problems import failing_tokenizers, missing_tokenizers
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, trained_on
from tokbench.results.model import Results
from tokbench.statistics.jackknife import LEAST_UNITS
from tokbench.tokenizers.facts import cautions


def distrust(tables: CellTables) -> Iterator[str]:
    """Yield sentences on what to distrust."""
    results = tables.results
    if results.interrupted:
        yield "The run was stopped early."
    seen = (cell for cell in results.cells if cell.in_sample)
    trained = {cell.tokenizer: cell.in_sample for cell in seen if trained_on(cell.in_sample)}
    if trained:
        share = Style("share", 0).show(max(seen or 0.0 for seen in trained.values()))
        yield f"{names(list(trained))} saw up to {share}% of the documents in training: not ranked there."
    of_counts = {name for name, corpus in results.corpora.items() if corpus.source == "counts"}
    learned = {name: info.train.corpora for name, info in results.tokenizers.items() if info.train}
    if counted := [name for name, corpora in learned.items() if of_counts.intersection(corpora)]:
        yield f"{names(counted)} learned from counts: numbers on texts that are in these are too good."
    if missing := [name for name, _, _ in missing_tokenizers(results)]:
        yield f"{names(missing)} did not run."
    if failing := failing_tokenizers(results):
        yield f"{names(failing)} failed on some texts."
    few = sum(cell.group == WHOLE and bool(cell.caution) and cell.ci_low is None for cell in results.cells)
    if few:
        yield f"{few:,} numbers of whole corpora have no interval, because of too few documents."
    yield from _small_groups(results)
    for name, info in results.tokenizers.items():
        yield from (f"{name}: {note}" for note in cautions(info.notes))


def _small_groups(results: Results) -> Iterator[str]:
    small = []
    for name, corpus in results.corpora.items():
        few = sum(documents < LEAST_UNITS for documents in corpus.groups.values())
        if few and len(corpus.groups) > 1 and not corpus.designed:
            small.append(f"{few:,} of {len(corpus.groups):,} groups of {name}")
    if small:
        yield f"{names(small)} have fewer than {LEAST_UNITS} documents, so that their own numbers have no interval."
