"""The section on provenance: corpora, tokenizers, times, machine and configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from tokbench.report.document import (
    Code,
    Column,
    Details,
    Inline,
    Line,
    Listing,
    Name,
    Node,
    Row,
    Section,
    Table,
    TableCell,
    TextCell,
)
from tokbench.report.escaping import plain
from tokbench.report.number_format import byte_size, duration
from tokbench.report.sections.what_ran import durations
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, RunConfig, TokenizerInfo
from tokbench.results.model import Results

_CORPUS_COLUMNS: Final = (
    *(Column("corpus"), Column("source"), Column("options"), Column("licence")),
    *(Column("documents", numeric=True), Column("size", numeric=True)),
    *(Column("groups", numeric=True), Column("sha256")),
)
_TOKENIZER_COLUMNS: Final = (
    *(Column("tokenizer"), Column("backend"), Column("options")),
    *(Column("vocabulary", numeric=True), Column("load", numeric=True)),
    *(Column("training"), Column("notes"), Column("sha256")),
)


def provenance_document(tables: CellTables) -> Section:
    """Return the section."""
    results = tables.results
    nodes = [
        _corpora(tables),
        _tokenizers(results.tokenizers),
        *_times(results),
        _environment(results),
        *_configuration(results.config),
    ]
    return Section("provenance", "Provenance", nodes)


def _corpora(tables: CellTables) -> Node:
    rows = [Row(_corpus(tables, name, corpus)) for name, corpus in tables.results.corpora.items()]
    return Table("Corpora", _CORPUS_COLUMNS, rows)


def _corpus(tables: CellTables, name: str, corpus: CorpusInfo) -> list[TableCell]:
    kinds = ["parallel"] if corpus.parallel else []
    kinds += [f"held out: {plain(corpus.holdout)}"] if corpus.holdout else []
    sizes = [] if corpus.limit is None else [f"at most {corpus.limit:,} documents a group measured"]
    sizes += [] if corpus.evaluated_bytes is None else [f"{byte_size(corpus.evaluated_bytes)} evaluated"]
    left_out = tables.left_out(name)
    return [
        name,
        TextCell(line=corpus.source, small=kinds),
        TextCell(line=plain(corpus.options), look="prose"),
        TextCell(line=corpus.licence or "not stated", look="prose"),
        "unknown" if corpus.documents is None else str(corpus.documents),
        TextCell(line="unknown" if corpus.bytes is None else byte_size(corpus.bytes), small=sizes),
        TextCell(line=f"{len(corpus.groups):,}", small=[left_out] if left_out else []),
        Code(corpus.sha256 or "unknown"),
    ]


def _tokenizers(tokenizers: Mapping[str, TokenizerInfo]) -> Table:
    rows = [Row(_tokenizer(name, tokenizer)) for name, tokenizer in tokenizers.items()]
    return Table("Tokenizers", _TOKENIZER_COLUMNS, rows)


def _tokenizer(name: str, tokenizer: TokenizerInfo) -> list[TableCell]:
    origins = [tokenizer.distribution, *(f"{library} {version}" for library, version in tokenizer.libraries.items())]
    origins += [f"engine: {tokenizer.engine}"] if tokenizer.engine else []
    digests = tokenizer.sha256 | ({"artefact": tokenizer.artefact_sha256} if tokenizer.artefact_sha256 else {})
    return [
        name,
        TextCell(line=tokenizer.backend, small=[*filter(None, origins)]),
        TextCell(line=plain(tokenizer.options), look="prose"),
        tokenizer.state.value if tokenizer.vocab_size is None else f"{tokenizer.vocab_size:,}",
        "unknown" if tokenizer.load_s is None else duration(tokenizer.load_s),
        TextCell(line=plain(tokenizer.train) if tokenizer.train else "none here", look="prose"),
        TextCell(line=plain(tokenizer.notes), look="prose"),
        _digests(digests),
    ]


def _digests(by_name: Mapping[str, str]) -> Line:
    pieces: list[Inline] = []
    for name, digest in by_name.items():
        pieces += [" "] if pieces else []
        pieces.append(Code(f"{name} {plain(digest)}"))
    return pieces


def _times(results: Results) -> list[Node]:
    rows = [Row([phase, time]) for phase, time in durations(results)]
    columns = [Column("phase"), Column("time", numeric=True)]
    return [Table("Time that each phase took", columns, rows)] if rows else []


def _environment(results: Results) -> Table:
    values = {field.name: getattr(results.environment, field.name) for field in fields(results.environment)}
    rows = [
        Row([name, TextCell(line=plain(value), look="prose")])
        for name, value in values.items()
        if value not in (None, "", {})
    ]
    return Table("Environment", [Column(""), Column("")], rows, look="pairs")


def _configuration(config: RunConfig) -> list[Node]:
    digest: list[Inline] = [", sha256 ", Code(config.sha256)] if config.sha256 else []
    parts: list[tuple[Line, str]] = [(["Configuration", *digest], config.text)]
    parts += [(["It extends ", Name(base.file), ", sha256 ", Code(base.sha256)], base.text) for base in config.bases]
    return [Details(line, [Listing(text)]) for line, text in parts]
