"""The command of the hostile plugin."""

import click
from hostile_plugin import fault


@click.command()
def hostile():
    """Say that all is well."""
    fault("command", None)
    click.echo("all is well")
