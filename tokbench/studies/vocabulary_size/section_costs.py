"""The costs of vocabulary sizes to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokbench.report.document import Column, Heading, Name, Node, Paragraph, Raised, Row, Table, TextCell
from tokbench.report.number_format import byte_size
from tokbench.studies.vocabulary_size.block import ScalingLaw, ScalingOptimum, SizeCost, VocabularySizes
from tokbench.studies.vocabulary_size.sizes_on_corpus import SizesOnCorpus

LINE_COLUMN: Final = Column("line", sort="ascending")

_COST_HEADS: Final[Mapping[str, str]] = {
    "size": "tokens",
    "bytes/token": "of the whole corpus",
    "parameters": "of embedding and output layer",
    "share": "of all parameters",
    "memory": "of embedding and output layer",
    "FLOPs/byte": ("of a forward pass for a byte of text: attention at half the context, feed-forward, output layer"),
    "output": "share of the output layer in the FLOPs",
    "cache/byte": "bytes of keys and values for a byte of text",
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
    if not corpus.costs:
        return []
    table = Table(
        ["Costs on ", Name(corpus.name)],
        [LINE_COLUMN, *_COST_COLUMNS],
        [_cost_row(cost, corpus) for cost in corpus.costs],
    )
    return [Heading("What each size costs the model", 4), table]


def _cost_row(cost: SizeCost, corpus: SizesOnCorpus) -> Row:
    cells = [
        line_cell(cost.line, corpus),
        *(number_cell(cost.vocab_size, 0), number_cell(cost.compression_ratio), number_cell(cost.parameters, 0)),
        *(_share_cell(cost.share, 2), _bytes_cell(cost.memory_bytes), number_cell(cost.flops_per_byte, 0)),
        *(_share_cell(cost.output_share, 1), number_cell(cost.cache_per_byte, 0), _bytes_cell(cost.context_bytes)),
    ]
    bound = "" if cost.bound is None else f"each at most {cost.bound:,.0f} times, by the rule of three"
    cells.append(number_cell(cost.unseen, 0, title=bound))
    return Row(cells, aside=cost.line in corpus.lost)


def _share_cell(share: float, digits: int) -> TextCell:
    return TextCell(line=f"{100 * share:,.{digits}f} %", value=share)


def _bytes_cell(n_bytes: float) -> TextCell:
    return TextCell(line=byte_size(n_bytes), value=float(n_bytes))


def model_nodes(study: VocabularySizes) -> list[Node]:
    """Return the model, and publications about its size."""
    if not study.model or not study.law:
        return []
    return [
        Heading("The model, and what is published about its size"),
        Paragraph(_model(study.model)),
        Paragraph(_law(study.law)),
    ]


def _model(model: Mapping[str, Any]) -> str:
    facts = ", ".join(f"{name.replace('_', ' ')} {_fact(value)}" for name, value in model.items())
    return (
        f"The model: {facts}. FLOPs are those of a forward pass, two for a weight; training takes three times as many. "
        "Memory is in the precision of the model."
    )


def _fact(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _law(law: ScalingLaw) -> str:
    optima = ", ".join(map(_optimum, law.optima))
    return f"By the scaling law of {law.source} the compute-optimal size is {optima}. {law.validity}"


def _optimum(optimum: ScalingOptimum) -> str:
    budget = f", with {optimum.budget:.1e} FLOPs of training" if optimum.budget else ""
    caution = f"; {optimum.caution}" if optimum.caution else ""
    return f"{optimum.vocab_size:,} ({optimum.approach}{budget}{caution})"
