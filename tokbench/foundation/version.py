"""The version of tokbench, also of the package."""

__version__ = "0.3.0"
