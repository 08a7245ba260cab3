"""The source ``sample``: texts written for tokbench.

``languages/``: the same 66 sentences in 28 languages, line by line. ``code.jsonl``: five programs in each of 12
programming languages. ``hostile.jsonl``: texts that break careless tokenizers. ``conversations.jsonl``: JSON messages with an assistant, which are not a part of ``all``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.corpus.languages import did_you_mean_group
from tokbench.foundation.errors import InputError
from tokbench.tokenizers.options import Options
from tokbench.sources.rows import RowFileOptions, RowFiles
from tokbench.sources.text import TextOptions, TextSource

__all__ = ["SampleOptions", "SampleSource", "SPEC"]

_HERE = Path(__file__).parent


class SampleOptions(Options):
    """Options of ``source: sample``."""

    part: Literal["all", "languages", "code", "hostile", "conversations"] = Field(
        default="all", description="languages (aligned sentences), code, hostile (stress tests), all of these, or conversations (JSON)"
    )
    groups: tuple[str, ...] = Field(default=(), description="groups to read, such as [en, de]; default: all")


class SampleSource:
    """The shipped texts, in groups by ISO 639-1 code, programming language, or kind."""

    licence = "CC0-1.0"

    def __init__(self, options: SampleOptions) -> None:
        self._part = options.part
        self._groups = frozenset(options.groups)
        known = {document.group for document in self._all()}
        for name in options.groups:
            if name not in known:
                raise InputError(f"the sample has no group {name!r}; {did_you_mean_group(name, known)}")

    def documents(self) -> Iterator[Document]:
        for document in self._all():
            if not self._groups or document.group in self._groups:
                yield document

    def _all(self) -> Iterator[Document]:
        if self._part in {"all", "languages"}:
            for sentence in TextSource(TextOptions(path=_HERE / "languages/*.txt", document="line")).documents():
                yield sentence._replace(line_end="")
        if self._part in {"all", "code"}:
            options = RowFileOptions(path=_HERE / "code.jsonl", group="{language}", key="name")
            for document in RowFiles("jsonl", options).documents():
                yield document._replace(origin=f"{document.key}:1")
        if self._part in {"all", "hostile"}:
            options = RowFileOptions(path=_HERE / "hostile.jsonl", group="{kind}", key="name")
            for document in RowFiles("jsonl", options).documents():
                yield document._replace(group=f"hostile-{document.group}")
        if self._part == "conversations":
            yield from _conversations()


def _conversations() -> Iterator[Document]:
    """Yield the JSON of the messages, without names."""
    lines = (_HERE / "conversations.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    for number, line in enumerate(lines, 1):
        row = json.loads(line)
        text = json.dumps({"messages": row["messages"]}, ensure_ascii=False)
        yield Document(text, f"chat-{row['kind']}", row["name"], f"conversations.jsonl:{number}")


SPEC: Final = CorpusSpec(
    name="sample",
    summary="shipped: 66 sentences in 28 languages, 60 programs in 12 languages, stress tests, conversations; CC0",
    open=SampleSource,
    options=SampleOptions,
)
