"""The section on provenance: corpora, tokenizers, times, machine and configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final

from tokbench.report.document import (
    Bullets,
    Column,
    Details,
    Digest,
    Inline,
    Line,
    Listing,
    Name,
    Node,
    Rich,
    Row,
    Section,
    Table,
    TableCell,
    TextCell,
)
from tokbench.report.escaping import plain
from tokbench.report.number_format import byte_size, duration
from tokbench.report.sections.partial import durations
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, RunConfig, TokenizerInfo
from tokbench.results.model import Results

_GROUPS: Final = Column("groups")
_CORPUS_COLUMNS: Final = (
    *(Column("corpus"), Column("source"), Column("options"), Column("licence")),
    *(Column("documents", numeric=True), Column("size", numeric=True), _GROUPS, Column("sha256")),
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
        _configuration(results.config),
    ]
    return Section("provenance", "Provenance", nodes)


def _corpora(tables: CellTables) -> Node:
    rows = [Row(_corpus(tables, name, corpus)) for name, corpus in tables.results.corpora.items()]
    table = Table("Corpora", _CORPUS_COLUMNS, rows)
    return Rich([table], plain=[_without(table, _CORPUS_COLUMNS.index(_GROUPS))])


def _without(table: Table, place: int) -> Table:
    columns = [column for number, column in enumerate(table.columns) if number != place]
    rows = [replace(row, cells=[*row.cells[:place], *row.cells[place + 1 :]]) for row in table.rows]
    return replace(table, columns=columns, rows=rows)


def _corpus(tables: CellTables, name: str, corpus: CorpusInfo) -> list[TableCell]:
    kinds = ["parallel"] if corpus.parallel else []
    kinds += [f"held out: {plain(corpus.holdout)}"] if corpus.holdout else []
    sizes = [] if corpus.limit is None else [f"at most {corpus.limit:,} documents a group measured"]
    sizes += [] if corpus.evaluated_bytes is None else [f"{byte_size(corpus.evaluated_bytes)} evaluated"]
    left_out = tables.left_out(name)
    groups: list[Inline] = []
    for group, documents in corpus.groups.items():
        if tables.is_shown(name, group):
            groups += [", "] if groups else []
            groups += [Name(group), f"\u00a0{documents}"]
    return [
        name,
        TextCell(line=corpus.source, small=kinds),
        TextCell(line=plain(corpus.options), look="prose"),
        TextCell(line=corpus.licence or "not stated", look="prose"),
        "unknown" if corpus.documents is None else str(corpus.documents),
        TextCell(line="unknown" if corpus.bytes is None else byte_size(corpus.bytes), small=sizes),
        TextCell(line=groups, small=[left_out] if left_out else [], look="prose groups"),
        Digest(corpus.sha256 or "unknown"),
    ]


def _tokenizers(tokenizers: Mapping[str, TokenizerInfo]) -> Table:
    rows = [Row(_tokenizer(name, tokenizer)) for name, tokenizer in tokenizers.items()]
    return Table("Tokenizers", _TOKENIZER_COLUMNS, rows, tall=True)


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
        pieces.append(Digest(f"{name} {plain(digest)}"))
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


def _configuration(config: RunConfig) -> Node:
    digest: list[Inline] = [", sha256 ", Digest(config.sha256)] if config.sha256 else []
    bases: list[Line] = [["It extends ", Name(base.file), ", sha256 ", Digest(base.sha256)] for base in config.bases]
    own: Line = ["Configuration", *digest]
    listings = [
        Details(own, [Listing(config.text)]),
        *(Details(line, [Listing(base.text)]) for line, base in zip(bases, config.bases, strict=True)),
    ]
    return Rich(listings, plain=[Bullets([*([own] if digest else []), *bases])])
