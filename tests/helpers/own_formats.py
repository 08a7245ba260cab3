"""A report format of a stranger that cannot be used: it lacks a library."""

from tokbench.plugin import ReporterSpec, hookimpl


@hookimpl
def register_reporters(register):
    register(ReporterSpec(name="lacking", summary="", filename="x.txt", render=str, requires=("no-such-library",)))
