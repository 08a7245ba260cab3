"""A report format of a stranger that cannot be used: it lacks a library."""

from tokbench.plugin import hookimpl
from tokbench.plugin.report import ReporterSpec


@hookimpl
def register_reporters(register):
    register(ReporterSpec(name="lacking", summary="", filename="x.txt", render=str, requires=("no-such-library",)))
