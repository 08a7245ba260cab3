"""The backend ``pretokenized``: ids or pieces of another program, from JSON Lines or Parquet."""

from __future__ import annotations

from tokbench import plugin
from tokbench_plugins.pretokenized.ids import Ids, PieceIds, shown
from tokbench_plugins.pretokenized.options import LoadOptions
from tokbench_plugins.pretokenized.pieces import read_vocabulary
from tokbench_plugins.pretokenized.rows import read_rows
from tokbench_plugins.pretokenized.tokenizer import LookUp, Pretokenized
from tokbench_plugins.registration import registers


def _load(options: LoadOptions) -> Pretokenized:
    field = options.pieces or options.ids or "ids"
    known, tokens = ({}, []) if options.vocab is None else read_vocabulary(options.vocab, options.spelling)
    ids_of = PieceIds(options, known, tokens) if options.pieces else Ids(options, tokens)
    table = LookUp()
    for where, (text, found) in read_rows(options.path, (options.text, field)):
        if not isinstance(text, str):
            raise plugin.BackendError(f"{where}: {options.text!r} is {shown(text)}, not a text")
        if not isinstance(found, list):
            raise plugin.BackendError(f"{where}: {field!r} is {shown(found)}, not a list")
        if not table.add(text, ids_of(where, found)):
            raise plugin.BackendError(f"{where}: the text {shown(text)} was there before, with other {field}")
    if not len(table):
        raise plugin.BackendError(f"{options.path}: has no rows")
    return ids_of.tokenizer(table)


SPEC = plugin.BackendSpec(
    name="pretokenized",
    summary="ids or pieces computed by another program, in any language, looked up text by text",
    load=_load,
    load_options=LoadOptions,
)
register_backends = registers(SPEC)
