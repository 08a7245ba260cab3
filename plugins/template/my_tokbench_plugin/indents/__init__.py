"""A study: how many tokens an indented line needs, by the number of its spaces."""

from my_tokbench_plugin.indents.study import INDENTS, IndentOptions, run
from tokbench.plugin.metrics import StudySpec
from tokbench.plugin.report import SectionSpec

SPEC = StudySpec(
    name="indents", title="indents", summary="the tokens of an indented line",
    key="study.indents", options=IndentOptions, run=run, block=INDENTS,
)  # fmt: skip


def late_specs():
    from my_tokbench_plugin.indents.section import charts, section  # workers need no report

    return (SectionSpec(name="indents", place=145, build=section, charts=charts),)
