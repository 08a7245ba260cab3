"""Cells of the tables of sizes, and the model for which a size is chosen."""

from __future__ import annotations

from typing import Any, Final

from tokbench.report.document import Column, Heading, Node, Paragraph, Raised, TextCell
from tokbench.studies.vocabulary_size.block import VocabularySizes
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.scaling import SOURCE, VALIDITY, ScalingOptimum, law
from tokbench.studies.vocabulary_size.sizes_on_corpus import SizesOnCorpus

LINE_COLUMN: Final = Column("line", sort="ascending")


def number_cell(value: float | None, digits: int = 3, *, title: str = "", look: str = "") -> TextCell:
    """Return a sortable number, or the word for none."""
    if value is None:
        return TextCell(line="none", look="none")
    return TextCell(line=f"{value:,.{digits}f}", look=look, title=title, value=value)


def line_cell(line: str, corpus: SizesOnCorpus) -> TextCell:
    """Return the name of a line with its marks."""
    mark = corpus.marks[line]
    return TextCell(line=[line, Raised(mark)] if mark else line, value=line)


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
