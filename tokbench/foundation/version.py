"""The version of tokbench, from which the package takes its own."""

__version__ = "0.1.0"
