"""Options of a backend on the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

__all__ = ["parse_options"]


def parse_options(options: Sequence[str]) -> dict[str, Any]:
    """Options as they follow ``-O``: a plain value as YAML has it, a list or mapping as JSON.

    Raises:
        click.UsageError: one has no equals sign.

    >>> parse_options(["pattern=gpt4", "character_coverage=0.9995", 'user_defined_symbols=["<a>"]'])
    {'pattern': 'gpt4', 'character_coverage': 0.9995, 'user_defined_symbols': ['<a>']}
    """
    from tokbench.config.strict_yaml import plain_scalar

    found: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise click.UsageError(f"-O {option}: write it as KEY=VALUE")
        try:
            found[key] = json.loads(value) if value.startswith(("[", "{")) else plain_scalar(value)
        except ValueError:  # a regular expression may begin like that
            found[key] = value
    return found
