"""The tables in CSV: ``results.csv`` of all cells, ``curve.csv`` of vocabulary sizes, others of pairs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tokbench import plugin
from tokbench.plugin import COLUMNS, VALIDITY, VOCABULARY_SIZES, WHOLE, ReporterSpec, Role, spreadsheet_text

if TYPE_CHECKING:
    from tokbench.plugin import CellTables, Results, SizeLines

CURVE_COLUMNS = (
    "tokenizer", "corpus", "group", "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility",
    "fertility_low", "fertility_high", "word", "entropy", "used", "gain_per_1000", "in_sample",
)  # fmt: skip

_OF_ROW = (
    "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility", "fertility_low", "fertility_high",
    "unit", "entropy", "used", "gain",
)  # fmt: skip

PAIR_COLUMNS = (
    "corpus", "group", "tokenizer", "other", "tokens", "tokens_other", "difference", "ci_low", "ci_high", "n", "p",
    "p_holm", "differ",
)  # fmt: skip


MATRIX_COLUMNS = ("metric", "corpus", "within", "one", "other", "value", "ci_low", "ci_high")

VALIDITY_COLUMNS = (
    "corpus", "family", "class", "metric", "model", "tokenizers", "rho", "ci_low", "ci_high", "fixed_low", "fixed_high",
    "tau", "tau_low", "tau_high", "reason", "hypothesis",
)  # fmt: skip

SIZE_COLUMNS = (
    "line", "body", "vocab_size", "seed", "share", "n_bytes", "bits_per_byte", "tokens", "flops",
    "learning_rate", "seconds",
)  # fmt: skip


def results_csv(results: Results) -> str:
    """Return the cells as a tidy table with the columns :data:`~tokbench.results.cells.COLUMNS`."""
    return table_text(COLUMNS, ([getattr(cell, name) for name in COLUMNS] for cell in results.cells))


def table_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the text of a CSV file.

    Numbers keep every digit, and a missing value is an empty field. Text that a spreadsheet would take for a formula
    gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_field(value) for value in row] for row in rows)
    return file.getvalue()


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):  # such as a status
        return spreadsheet_text(str(value))
    # float() turns a number of numpy into a plain one, as the repr() of the former is not a number.
    return repr(value) if isinstance(value, int) else repr(float(value))


def curve_csv(results: Results) -> str:
    """Return the rows; with ``points: all``, those between the sizes asked for have fewer columns."""
    return table_text(CURVE_COLUMNS, _rows(plugin.SizeLines(results), plugin.Report(results).tables))


def _rows(lines: SizeLines, tables: CellTables) -> Iterator[list[Any]]:
    ratio = tables.with_role(Role.TEXT_PER_TOKEN)
    for line in lines.lines:
        for corpus in lines.corpora:
            for group in [*lines.groups(corpus), WHOLE]:
                cell = tables.cell(ratio, corpus, group, line.tokenizers[0])
                for row in _of_group(lines, line.line, corpus, group):
                    yield [line.line, corpus, group, *row, cell.in_sample if cell else None]


def _of_group(lines: SizeLines, name: str, corpus: str, group: str) -> Iterator[list[Any]]:
    [line] = [line for line in lines.lines if line.line == name]
    rows = {row.vocab_size: [getattr(row, each) for each in _OF_ROW] for row in lines.rows(name, corpus, group)}
    trace = lines.trace(line, corpus, group) if lines.found.points == "all" else None
    if trace is None:
        yield from rows.values()
        return
    unit = lines.rows(name, corpus, group)[0].unit
    for k, (size, tokens) in enumerate(zip(trace.sizes.tolist(), trace.tokens.tolist(), strict=True)):
        fertility = tokens / trace.words if trace.words else None
        entropy = None if trace.entropy is None else float(trace.entropy[k])
        between = [size, tokens, float(trace.ratio[k]), None, None, fertility, None, None, unit, entropy, None, None]
        yield rows.get(size, between)


def pairs_csv(results: Results) -> str:
    """Return the pairs of the results; the tokenizer with fewer tokens comes first."""
    rows = (
        [
            *(pair.corpus, pair.group, pair.tokenizer, pair.other, *pair.tokens),
            *(pair.difference, pair.ci_low, pair.ci_high, pair.n, pair.p, pair.p_holm, str(pair.differ).lower()),
        ]
        for pair in results.pairs
    )
    return table_text(PAIR_COLUMNS, rows)


def overlap_csv(results: Results) -> str:
    """Return the numbers of every two groups under each tokenizer, and of each group beside itself."""
    return table_text(MATRIX_COLUMNS, _matrix_rows(results, "groups"))


def agreement_csv(results: Results) -> str:
    """Return the numbers of every two tokenizers in each group."""
    return table_text(MATRIX_COLUMNS, _matrix_rows(results, "tokenizers"))


def validity_csv(results: Results) -> str:
    """Return the rank correlation of every metric with every model, by class of tokenizers."""
    rows = (
        [
            *(study.corpus, study.family, each.name),
            *(getattr(found, name) for name in VALIDITY_COLUMNS[3:-1]),
            str((each.name, found.metric, found.model) in claimed).lower(),
        ]
        for study in (results.studies.get(VALIDITY) or [])
        for claimed in [{(each.tokenizer_class, each.metric, each.model) for each in study.hypotheses}]
        for each in study.classes
        for found in each.correlations
    )
    return table_text(VALIDITY_COLUMNS, rows)


def sizes_csv(results: Results) -> str:
    """Return every training of the measured sizes."""
    sizes = results.studies.get(VOCABULARY_SIZES)
    found = sizes.measured if sizes else None
    trained = found.trained if found else []
    return table_text(SIZE_COLUMNS, ([getattr(each, name) for name in SIZE_COLUMNS] for each in trained))


def _matrix_rows(results: Results, of: str) -> Iterator[list[Any]]:
    for matrix in results.matrices:
        for row, name in enumerate(matrix.names) if matrix.of == of else ():
            for column, other in enumerate(matrix.names[: row + 1]):
                if row == column and of == "tokenizers":
                    continue
                ends = (each[row][column] if each else None for each in (matrix.ci_low, matrix.ci_high))
                yield [matrix.metric, matrix.corpus, matrix.within, other, name, matrix.values[row][column], *ends]


SPECS: Final = tuple(
    ReporterSpec(name=name, summary=summary, filename=filename, render=render)
    for name, filename, render, summary in (
        ("csv", "results.csv", results_csv, "every cell in one tidy table"),
        ("curve", "curve.csv", curve_csv, "compression over vocabulary sizes, one row for each size"),
        ("pairs", "pairs.csv", pairs_csv, "differences between every two tokenizers, in one tidy table"),
        ("overlap", "overlap.csv", overlap_csv, "numbers of every two groups under each tokenizer, in one tidy table"),
        (
            "agreement",
            "agreement.csv",
            agreement_csv,
            "numbers of every two tokenizers in each group, in one tidy table",
        ),
        (
            "validity",
            "validity.csv",
            validity_csv,
            "rank correlations of metrics with bits per byte, in one tidy table",
        ),
        (
            "sizes",
            "sizes.csv",
            sizes_csv,
            "bits per byte at several vocabulary sizes, one row for each training and amount",
        ),
    )
)
"""The formats of this file: a table each."""
