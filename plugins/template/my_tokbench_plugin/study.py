"""A study: how many tokens an indented line needs, by the number of its spaces."""

from dataclasses import dataclass

from pydantic import Field, PositiveInt
from tokbench.plugin import Options
from tokbench.plugin.metrics import BlockType, StudySpec, ask_each


class IndentOptions(Options):  # `study: {indents: {widths: [4, 8]}}`
    widths: tuple[PositiveInt, ...] = Field(default=(1, 2, 4, 8, 16), min_length=2, description="spaces of each indent")
    line: str = Field(default="return x", description="the line that is indented")


@dataclass(frozen=True, kw_only=True)
class Indents:  # what results.json keeps of the study
    widths: list[int]
    tokens: dict[str, list[int]]  # by tokenizer, a number for each width
    reasons: dict[str, str]  # by tokenizer, why it has no numbers


INDENTS = BlockType(study="indents", kind=Indents, version=1)  # raise it when older blocks cannot be read any more


def count(tokenizer, texts):  # in a worker; what it raises costs this tokenizer alone
    return [len(tokenizer.encode(text)) for text in texts]


def run(context, options):
    texts = [" " * width + options.line for width in options.widths]
    answers = ask_each(context, "counting indents", count, texts=texts)
    return answers.outcome(Indents(widths=[*options.widths], tokens={**answers.values}, reasons={**answers.reasons}))


def section(tables):  # a tree that every format renders
    from tokbench.plugin.report import Column, Paragraph, Row, Section, Table

    block = tables.results.studies.get(INDENTS)
    if block is None:  # the run has no such study
        return None
    columns = [Column("tokenizer"), *(Column(str(width), numeric=True) for width in block.widths)]
    rows = [Row([name, *map(str, counts)]) for name, counts in block.tokens.items()]
    missing = [Paragraph(f"{name} has no numbers: {reason}") for name, reason in block.reasons.items()]
    said = Paragraph("Tokens of an indented line, by the number of its spaces.")
    return Section("indents", "Indents", [said, Table("Tokens of an indented line", columns, rows), *missing])


SPECS = [
    StudySpec(
        name="indents", title="indents", summary="the tokens of an indented line",
        key="study.indents", options=IndentOptions, run=run, block=INDENTS,
    )
]  # fmt: skip


def late_specs():  # workers need no report
    from tokbench.plugin.report import SectionSpec

    return [SectionSpec(name="indents", place=145, build=section)]
