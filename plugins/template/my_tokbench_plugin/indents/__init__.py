"""A study: how many tokens an indented line needs, by the number of its spaces."""

from my_tokbench_plugin.indents.study import INDENTS, IndentOptions, run
from tokbench.plugin import hookimpl
from tokbench.plugin.metrics import StudySpec
from tokbench.plugin.report import SectionSpec


@hookimpl
def register_studies(register):
    register(
        StudySpec(
            name="indents", title="indents", summary="the tokens of an indented line",
            key="study.indents", options=IndentOptions, run=run, block=INDENTS,
        )
    )  # fmt: skip


@hookimpl
def register_sections(register):
    from my_tokbench_plugin.indents.section import charts, section  # workers need no report

    register(SectionSpec(name="indents", place=145, build=section, charts=charts))
