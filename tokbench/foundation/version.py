"""The version of tokbench, from which the package takes its own."""

__version__ = "0.2.0"
