"""Report formats of a stranger that cannot be used: one lacks a library, one would replace the results."""

from tokbench.plugin import ReporterSpec, hookimpl


@hookimpl
def register_reporters(register):
    register(ReporterSpec(name="lacking", summary="", filename="x.txt", render=str, requires=("no-such-library",)))
    register(ReporterSpec(name="greedy", summary="", filename="results.json", render=str))
