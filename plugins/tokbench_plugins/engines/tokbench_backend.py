"""The backend ``tokbench_bpe``: any byte-level vocabulary in tokbench's own BPE."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe.engines import BulkEngine
from tokbench_plugins.engines.options import FileOptions

if TYPE_CHECKING:
    from tokbench_plugins.bpe import BPETokenizer


class LoadOptions(FileOptions):
    """Options of a vocabulary that others made; merges are recovered where the file has ranks alone."""

    engine: BulkEngine = Field(default="auto", description="what encodes batches: auto, python, numba or gigatoken")


def _load(options: LoadOptions) -> BPETokenizer:
    from tokbench_plugins.bpe import BPETokenizer
    from tokbench_plugins.engines.options import load_vocabulary

    given = load_vocabulary(options)
    return BPETokenizer(given.vocabulary, given.pattern, given.special, engine=options.engine)


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``tokbench_bpe``."""
    register(
        plugin.BackendSpec(
            name="tokbench_bpe",
            summary="OpenAI's encodings, or any byte-level BPE, in tokbench's own engine",
            load=_load,
            load_options=LoadOptions,
        )
    )
