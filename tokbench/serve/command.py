"""The command ``tokbench serve``: the playground."""

from __future__ import annotations

from pathlib import Path

import click

from tokbench.terminal.options import common_options, examples, say, tokenizer_options


@click.command(epilog=examples("tokbench serve", "tokbench serve -t gpt-4o -t tokenizer.json"))
@click.option("--port", default=8420, show_default=True, type=click.IntRange(0, 65535), help="0 for any free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@tokenizer_options("Tokenizers that the page shows at first, as for 'tokbench show', with commas between them.")
@click.option("--no-store", is_flag=True, help="Train again: read nothing from the cache, and keep nothing.")
@common_options
def serve(
    port: int,
    host: str,
    names: tuple[str, ...],
    config: Path | None,
    *,
    no_store: bool,
) -> None:
    """Show text as tokens while you type, on a local page.

    Nothing leaves this machine. Open the printed address with its token; requests without the token are refused.
    Ctrl-C ends the server. Exit code 2 for bad input.
    """
    from contextlib import closing

    from tokbench.foundation.errors import InputError

    try:
        from tokbench.serve.server import address_of, listen
        from tokbench.serve.server import serve as serve_page
    except ImportError as error:
        needed = "the playground needs Starlette and uvicorn; install them with: pip install 'tokbench[serve]'"
        raise InputError(needed) from error
    from tokbench.foundation.store import open_store
    from tokbench.segmentation.segment import brief_limits
    from tokbench.serve.app import Playground
    from tokbench.serve.catalogue import TokenizerCatalogue
    from tokbench.serve.guard import Rules

    rules = Rules(host=host)
    with listen(host, port) as listening, closing(TokenizerCatalogue()) as catalogue:
        if names or config:
            catalogue.take_named(names, config, None if no_store else open_store())
        playground = Playground(catalogue, rules=rules, limits=brief_limits(step_s=10))
        say(f"{address_of(listening, rules)}  (Ctrl-C ends it)", err=True)
        serve_page(playground, listening)
