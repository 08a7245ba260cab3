"""Cells of the tables of sizes, and the model for which a size is chosen."""

from __future__ import annotations

from typing import Any, Final

from tokbench.report.document import Column, Heading, Node, Paragraph, Raised, TextCell
from tokbench.studies.vocabulary_size.block import VocabularySizes
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.scaling import SOURCE, VALIDITY, ScalingOptimum, law
from tokbench.studies.vocabulary_size.sizes_on_corpus import SizesOnCorpus

LINE_COLUMN: Final = Column("line", sort="ascending")


def number_cell(value: float | None, *, title: str = "", look: str = "") -> TextCell:
    """Return a sortable number, or the word for none."""
    if value is None:
        return TextCell(line="none", look="none")
    return TextCell(line=f"{value:,.3f}", look=look, title=title, value=value)


def line_cell(line: str, corpus: SizesOnCorpus) -> TextCell:
    """Return the name of a line with its marks."""
    mark = corpus.marks[line]
    return TextCell(line=[line, Raised(mark)] if mark else line, value=line)


def model_nodes(study: VocabularySizes) -> list[Node]:
    """Return the models, and what a published law says of their sizes."""
    nodes: list[Node] = [Heading("The models, and what is published about their sizes")] if study.models else []
    for name, shape in study.models.items():
        model = Model(**shape)
        facts = ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in shape.items())
        optima = ", ".join(map(_optimum, law(model)))
        outside = model.parameters_without_vocabulary
        nodes.append(Paragraph(f"{name}: {facts}, parameters without vocabulary {outside:,}; by the law {optima}."))
    if study.left_out:
        reasons = "; ".join(f"{line} ({why})" for line, why in study.left_out.items())
        nodes.append(Paragraph(f"No size is advised for: {reasons}."))
    if study.models:
        flops = "FLOPs are those of a forward pass, two for a weight; training takes three times as many."
        nodes.append(Paragraph(f"{flops} The law is that of {SOURCE}. {VALIDITY}"))
    return nodes


def _fact(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _optimum(optimum: ScalingOptimum) -> str:
    budget = f", with {optimum.budget:.1e} FLOPs of training" if optimum.budget else ""
    caution = f"; {optimum.caution}" if optimum.caution else ""
    return f"{optimum.vocab_size:,} ({optimum.approach}{budget}{caution})"
