"""The source ``probes``: the texts of ``texts.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokbench.plugin import CorpusSpec, Document, Options

_TEXTS: Final = Path(__file__).with_name("texts.jsonl")


class ProbeTexts:
    """A document for each text."""

    licence = "CC0-1.0"

    def __init__(self, _: Options) -> None:
        self.files = (_TEXTS,)

    def documents(self) -> Iterator[Document]:
        for number, line in enumerate(_TEXTS.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            yield Document(row["text"], row["group"], row["key"], f"{_TEXTS.name}:{number}")


SPEC: Final = CorpusSpec(
    name="probes",
    summary="short texts for the family probes: case, spaces, spelling, sums, dates, formats, addresses, emoji",
    open=ProbeTexts,
)
