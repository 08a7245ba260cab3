"""The costs of vocabulary sizes to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokbench.report.document import Column, Heading, Name, Node, Paragraph, Raised, Row, Table, TextCell
from tokbench.report.number_format import byte_size
from tokbench.results.cells import WHOLE
from tokbench.studies.vocabulary_size.block import SizeRow, VocabularySizes
from tokbench.studies.vocabulary_size.compute import forward_flops, training_tokens
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.scaling import SOURCE, VALIDITY, ScalingOptimum, law
from tokbench.studies.vocabulary_size.sizes_on_corpus import SizesOnCorpus

_RULE_OF_THREE: Final = 3
"""An id that does not occur in n draws has a share below 3 / n, with 95 % confidence (Hanley and Lippman-Hand 1983)."""

LINE_COLUMN: Final = Column("line", sort="ascending")

_COST_HEADS: Final[Mapping[str, str]] = {
    "size": "tokens",
    "bytes/token": "of the whole corpus",
    "parameters": "of embedding and output layer",
    "share": "of all parameters",
    "FLOPs/byte": ("of a forward pass for a byte of text: attention at half the context, feed-forward, output layer"),
    "output": "share of the output layer in the FLOPs",
    "context": "text that fits the context",
    "unseen": (
        "ids that the measured text does not hold; each is to be expected at most so often in training as the bound "
        "says"
    ),
}
_COST_COLUMNS: Final = [
    Column(head, numeric=True, sort="descending", title=title) for head, title in _COST_HEADS.items()
]


def number_cell(value: float | None, digits: int = 3, *, title: str = "", look: str = "") -> TextCell:
    """Return a sortable number, or the word for none."""
    if value is None:
        return TextCell(line="none", look="none")
    return TextCell(line=f"{value:,.{digits}f}", look=look, title=title, value=value)


def line_cell(line: str, corpus: SizesOnCorpus) -> TextCell:
    """Return the name of a line with its marks."""
    mark = corpus.marks[line]
    return TextCell(line=[line, Raised(mark)] if mark else line, value=line)


def cost_nodes(corpus: SizesOnCorpus) -> list[Node]:
    """Return the cost of each size to the model, if any."""
    if not corpus.lines.study.model:
        return []
    model = Model(**corpus.lines.study.model)
    rows = [
        Row(_cost_cells(model, row, line_cell(line.line, corpus)), aside=line.line in corpus.lost)
        for line in corpus.lines.lines
        for row in corpus.lines.rows(line.line, corpus.name, WHOLE)
    ]
    table = Table(["Costs on ", Name(corpus.name)], [LINE_COLUMN, *_COST_COLUMNS], rows)
    return [Heading("What each size costs the model", 4), table]


def _cost_cells(model: Model, row: SizeRow, line: TextCell) -> list[TextCell]:
    size, ratio = row.vocab_size, row.compression_ratio
    flops, length = forward_flops(model, size), training_tokens(model, ratio)
    bound = "" if length is None else f"each at most {_RULE_OF_THREE * length / row.tokens:,.0f} times"
    return [
        line,
        *(number_cell(size, 0), number_cell(ratio), number_cell(model.vocabulary_parameters(size), 0)),
        _share_cell(model.vocabulary_share(size), 2),
        *(number_cell(float(flops.total) / ratio, 0), _share_cell(float(flops.output / flops.total), 1)),
        _bytes_cell(model.context * ratio),
        number_cell(None if length is None else max(0, size - row.used), 0, title=bound),
    ]


def _share_cell(share: float, digits: int) -> TextCell:
    return TextCell(line=f"{100 * share:,.{digits}f} %", value=share)


def _bytes_cell(n_bytes: float) -> TextCell:
    return TextCell(line=byte_size(n_bytes), value=float(n_bytes))


def model_nodes(study: VocabularySizes) -> list[Node]:
    """Return the model, and what a published law says of its size."""
    if not study.model:
        return []
    facts = ", ".join(f"{name.replace('_', ' ')} {_fact(value)}" for name, value in study.model.items())
    model = Model(**study.model)
    optima = ", ".join(map(_optimum, law(model)))
    return [
        Heading("The model, and what is published about its size"),
        Paragraph(
            f"The model: {facts}, parameters without vocabulary {model.parameters_without_vocabulary:,}. "
            "FLOPs are those of a forward pass, two for a weight; training takes three times as many."
        ),
        Paragraph(f"By the scaling law of {SOURCE} the compute-optimal size is {optima}. {VALIDITY}"),
    ]


def _fact(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _optimum(optimum: ScalingOptimum) -> str:
    budget = f", with {optimum.budget:.1e} FLOPs of training" if optimum.budget else ""
    caution = f"; {optimum.caution}" if optimum.caution else ""
    return f"{optimum.vocab_size:,} ({optimum.approach}{budget}{caution})"
