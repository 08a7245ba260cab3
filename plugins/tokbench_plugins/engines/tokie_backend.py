r"""The backend ``tokie``: any byte-level vocabulary in tokie.

tokie takes a ``tokenizer.json``, written here without special tokens. Its splits are hand-written and differ
from the regular expressions that it is given; a note of the tokenizer says how, for those that were measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tokbench import plugin
from tokbench_plugins.engines.options import FileOptions

if TYPE_CHECKING:
    from tokbench_plugins.engines.tokenizer import EngineTokenizer

_NOTE: Final = (
    "its ids are not tiktoken's everywhere: tokie cuts texts of more than 65,536 bytes where no split is, breaks white "
    "space between line breaks ('\\n \\n'), takes letter-like numbers (U+2167, U+24B6) for other classes, with o200k "
    "takes variation selectors for symbols (' \u2764\ufe0f'), and follows another version of Unicode"
)


def _load(options: FileOptions) -> EngineTokenizer:
    from tokie import Tokenizer

    from tokbench_plugins.engines.options import load_vocabulary
    from tokbench_plugins.engines.tokenizer import Engine, EngineTokenizer, calling

    vocabulary = load_vocabulary(options)
    native = calling("tokie", lambda: vocabulary.through_json(Tokenizer.from_json))

    def encode(text: str) -> list[int]:
        ids: list[int] = native.encode(text, add_special_tokens=False).ids
        return ids

    engine = Engine("tokie", encode, native.decode_bytes, notes=(_NOTE,))
    return EngineTokenizer(engine, vocabulary, (_load, (options,)))


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``tokie``."""
    register(
        plugin.BackendSpec(
            name="tokie",
            summary="OpenAI's encodings, or any byte-level BPE, in tokie",
            load=_load,
            load_options=FileOptions,
            requires=("tokie",),
            install="pip install 'tokbench[engines]'",
        )
    )
