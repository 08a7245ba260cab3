"""The section on bits per byte: a table, and verdicts."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import report as doc
from tokbench_models.language_models.block import (
    BITS_PER_BYTE,
    BitsComparison,
    BitsPerByte,
    ModelTraining,
    TrainedIds,
)
from tokbench_models.language_models.verdicts import depends, differences, explanation, sentence, summary, words

_WHOLE: Final = 10
_WORDS: Final = {"level": "=", "depends": "depends", "unknown": "unknown"}
BEST_AT_END: Final = "the best one is the smallest or largest tried, so a better one may lie beyond"

_TRAINING_COLUMNS: Final = (
    *("learning rate", "parameters", "tokens of a window", "10⁹ operations", "bits per byte of each seed"),
    *("seconds of all seeds", "memory, MB"),
)
TRAINED_IDS_COLUMNS: Final = (
    *("training tokens an id", "held-out tokens never trained"),
    *("bytes per token, training", "bytes per token, held out"),
)


def bits_per_byte_document(tables: doc.CellTables) -> doc.Section | None:
    """Return the section."""
    nodes = [node for study in (tables.results.studies.get(BITS_PER_BYTE) or []) for node in _study(tables, study)]
    return doc.Section("bits-per-byte", "Bits per byte", nodes) if nodes else None


def by_block(study: BitsPerByte) -> list[str]:
    """Return the tokenizers with numbers, by comparable block."""
    blocks = list(dict.fromkeys(study.blocks.values()))
    return sorted(study.blocks, key=lambda name: blocks.index(study.blocks[name]))


def _study(tables: doc.CellTables, study: BitsPerByte) -> list[doc.Node]:
    model = [f": {words(study).model}"] if study.trainings else []
    return [
        doc.Heading(["On ", doc.Name(study.corpus), *model]),
        doc.Paragraph(explanation(study)),
        doc.Paragraph(doc.Strong(summary(study)), "advice"),
        *_numbers(tables, study),
        *_verdicts(study),
        *_trainings(study),
        doc.Paragraph(words(study).limits, "legend"),
    ]


def _numbers(tables: doc.CellTables, study: BitsPerByte) -> list[doc.Node]:
    metrics = [tables.series(metric, study.corpus) for metric in study.metrics]
    absent = [name for name, cell in metrics[0].cells.items() if name not in study.blocks and not cell.unbound]
    names = [*by_block(study), *absent]
    columns = [
        doc.Column("tokenizer", sort="ascending"),
        doc.Column("learned from", sort="ascending"),
        *(
            doc.Column(
                model,
                numeric=True,
                sort="ascending",
                unit=doc.Term(metric.metric, metric.unit_label or "definition"),
                key=f"{metric.metric}@{metric.corpus}",
            )
            for model, metric in zip(study.models, metrics, strict=True)
        ),
        *(doc.Column(head, numeric=True) for head in TRAINED_IDS_COLUMNS),
    ]
    rows = [
        doc.Row(
            [
                doc.TextCell(line=name, title=name),
                study.blocks.get(name, "no number"),
                *(doc.MeasuredCell(cell=metric.cells[name], interval=True) for metric in metrics),
                *trained_ids_cells(study.trained_ids.get(name)),
            ]
        )
        for name in names
    ]
    corpus = doc.Name(study.corpus)
    rest = " by model; less is better under one model, and 95% intervals are below the numbers"
    table = doc.Table(["Bits per byte on ", corpus, rest], columns, rows, label=f"Bits per byte on {study.corpus}")
    return [table, *doc.legend_lines(doc.legends(metric.cells[name] for metric in metrics for name in names))]


def trained_ids_cells(trained: TrainedIds | None) -> list[str]:
    """Return the cells below :data:`TRAINED_IDS_COLUMNS`.

    >>> trained_ids_cells(TrainedIds(ids=8, training_tokens=10, tokens_per_id=1.25, never_trained=0.5,
    ...     training_bytes_per_token=7.77, scored_bytes_per_token=4.614))
    ['1.2', '50.0%', '7.77', '4.61']
    >>> trained_ids_cells(None)
    ['not known', 'not known', 'not known', 'not known']
    """
    if trained is None:
        return ["not known"] * len(TRAINED_IDS_COLUMNS)
    digits = 0 if trained.tokens_per_id >= _WHOLE else 1
    return [
        f"{trained.tokens_per_id:,.{digits}f}",
        f"{100 * trained.never_trained:.1f}%",
        f"{trained.training_bytes_per_token:.2f}",
        f"{trained.scored_bytes_per_token:.2f}",
    ]


def _verdicts(study: BitsPerByte) -> list[doc.Node]:
    pairs = {frozenset((pair.tokenizer, pair.other)): pair for pair in study.comparisons}
    names = [name for name in by_block(study) if any(name in pair for pair in pairs)]
    if not names:
        return []
    rows = [
        doc.Row(
            [
                doc.TextCell(line=name, title=name),
                *(_verdict(study, pairs.get(frozenset((name, other))), name) for other in names),
            ]
        )
        for name in names
    ]
    columns = [doc.Column("tokenizer"), *(doc.Column(name, upright=True, title=name) for name in names)]
    caption = (
        f"The tokenizer of the row against the one of the column: “depends” is short for “{depends(study)}”, = for no "
        "difference; no word where two may not be compared"
    )
    table = doc.Table(caption, columns, rows, label=f"Verdicts on {study.corpus}", look="heat neutral")
    return [doc.Rich([], plain=[doc.Paragraph(f"{caption}.")]), table]


def _verdict(study: BitsPerByte, pair: BitsComparison | None, name: str) -> doc.TextCell:
    if pair is None:
        return doc.TextCell()
    text = _WORDS.get(pair.verdict) or ("better" if pair.tokenizer == name else "worse")
    title = f"{sentence(study, pair)}: {differences(study, pair)}"
    return doc.TextCell(line=text, look="" if pair.verdict == "better" else "pale", title=title)


def _trainings(study: BitsPerByte) -> list[doc.Node]:
    names = [name for name in by_block(study) if name in study.trainings]
    if not names:
        return []
    columns = [
        doc.Column("tokenizer", sort="ascending"),
        *(doc.Column(head, numeric=True) for head in _TRAINING_COLUMNS),
        doc.Column("bits per byte by rate"),
    ]
    rows = [[doc.TextCell(line=name, title=name), *_training(study.trainings[name])] for name in names]
    table = doc.Table(
        "How the models were trained; the learning rate was chosen on a tenth of the text where several were tried",
        columns,
        [doc.Row(cells) for cells in rows],
        label=f"Trainings on {study.corpus}",
    )
    return [table]


def _training(training: ModelTraining) -> list[doc.TableCell]:
    return [
        f"{training.learning_rate:g}",
        f"{training.parameters:,}",
        f"{training.window:,}",
        f"{training.amounts[-1].flops / 1e9:,.0f}",
        ", ".join(f"{bits:.3f}" for bits in training.seeds),
        f"{training.seconds:,.0f}",
        f"{training.memory / 1e6:,.0f}",
        doc.TextCell(line=_tried(training), look="prose"),
    ]


def _tried(training: ModelTraining) -> str:
    """Return the search for a learning rate: bits per byte by rate, on a tenth of the text."""
    rates = list(training.rates)
    numbers = ", ".join(f"{rate}: {bits:.3f}" for rate, bits in training.rates.items())
    at_end = rates and f"{training.learning_rate:g}" in (rates[0], rates[-1])
    return f"{numbers}; {BEST_AT_END}" if at_end else numbers


BITS: Final = doc.SectionSpec(name="bits_per_byte", place=60, study=BITS_PER_BYTE.study, build=bits_per_byte_document)
