"""The command ``tokbench schema``."""

from __future__ import annotations

import click

from tokbench.terminal.options import common_options, examples, print_json


@click.command(epilog=examples("tokbench schema"))
@common_options
def schema() -> None:
    """Print the JSON Schema of a configuration, with which editors complete and check its keys.

    It has the options of all installed plugins. Write it to a file, which an editor takes from the first line of the
    configuration: # yaml-language-server: $schema=tokbench.schema.json
    """
    from tokbench.registry.plugins import load_registry
    from tokbench.terminal.config_schema import config_schema

    print_json(config_schema(load_registry()))
