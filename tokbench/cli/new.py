"""The command ``tokbench new``: it writes a shipped suite to a file, or asks three questions and writes a draft."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.cli.options import common_options
from tokbench.foundation.errors import InputError, Problem

if TYPE_CHECKING:
    from tokbench.tokenizers.options import GivenOptions

_CANDIDATES = "quickstart"
"""The suite whose loaded tokenizers can be named by the name that they have there."""

_DEFAULT = "gpt-4o, llama-3, gemma-3, qwen-3"


@click.command()
@click.argument("suite", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file [default: SUITE.yaml, or mine.yaml].")
@common_options
def new(suite: str | None, output: Path | None) -> None:
    """Write the shipped SUITE to a file, as the start of a configuration; a file that exists is left alone.

    Without SUITE, answer three questions, and a commented configuration is written that runs. 'tokbench list suites'
    names the suites.
    """
    from tokbench.config.suites import find_suite

    if suite:
        chosen = find_suite(suite)
        path, text = output or Path(chosen.path.name), chosen.path.read_bytes()
    else:
        path = output or Path("mine.yaml")
        text = _asked(path).encode()
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError as error:
        message = "exists already and is left alone; choose another file with -o"
        raise InputError([Problem(str(path), message)]) from error
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written: {error.strerror}")]) from error
    click.echo(f"written: {path}; run it with: tokbench run {path}")


def _asked(path: Path) -> str:
    """Ask what is to be compared on what, and return the configuration."""
    from tokbench.cli.draft import PURPOSES, draft

    for name, question in PURPOSES.items():
        click.echo(f"  {name:<10} {question}")
    purpose = click.prompt("What for?", type=click.Choice(list(PURPOSES)), default="choose", show_choices=False)
    texts = click.prompt("Your texts: a file, a folder or a glob pattern (empty: a shipped sample)", default="").strip()
    known = _known()
    click.echo(f"  by name: {', '.join(known)}; or backend:value, such as tiktoken:gpt2 or sentencepiece:my.model")
    names = click.prompt("Which tokenizers?", default=_DEFAULT)
    tokenizers = _tokenizers([name.strip() for name in names.split(",") if name.strip()], known)
    return draft(path.stem, purpose, texts, tokenizers)


def _known() -> dict[str, GivenOptions]:
    """Return the tokenizers that have a name of their own, with their keys."""
    from tokbench.config.read import read_config

    entries = read_config(Path(_CANDIDATES)).tokenizers.items()
    return {name: {"backend": entry.backend, **entry.options} for name, entry in entries if not entry.train}


def _tokenizers(names: list[str], known: Mapping[str, GivenOptions]) -> dict[str, GivenOptions]:
    """Return the keys of each named tokenizer.

    Raises:
        InputError: a name is not known.
    """
    from tokbench.engine.segment import backend_value
    from tokbench.foundation.errors import did_you_mean
    from tokbench.registry.plugins import load_registry

    registry, tokenizers = load_registry(), {}
    for name in names:
        recipe = None if name in known else backend_value(name, registry)
        if name not in known and recipe is None:
            raise InputError(f"no tokenizer is called {name!r}; {did_you_mean(name, known)}")
        key = name if recipe is None else Path(name.partition(":")[2]).stem or name
        given = recipe.options.model_dump(exclude_unset=True, mode="json") if recipe else {}
        tokenizers[key] = known[name] if recipe is None else {"backend": recipe.backend, **given}
    return tokenizers
