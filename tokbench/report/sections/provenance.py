"""The section on provenance: corpora, tokenizers, times, machine and configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from tokbench.report import document as doc
from tokbench.report.escaping import plain
from tokbench.report.number_format import byte_size, duration
from tokbench.report.sections.what_ran import durations
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, RunConfig, TokenizerInfo
from tokbench.results.model import Results

_CORPUS_COLUMNS: Final = (
    *(doc.Column("corpus"), doc.Column("source"), doc.Column("options"), doc.Column("licence")),
    *(doc.Column("documents", numeric=True), doc.Column("size", numeric=True)),
    *(doc.Column("groups", numeric=True), doc.Column("sha256")),
)
_TOKENIZER_COLUMNS: Final = (
    *(doc.Column("tokenizer"), doc.Column("backend"), doc.Column("options")),
    *(doc.Column("vocabulary", numeric=True), doc.Column("load", numeric=True)),
    *(doc.Column("training"), doc.Column("notes"), doc.Column("sha256")),
)


def provenance_document(tables: CellTables) -> doc.Section:
    """Return the section."""
    results = tables.results
    nodes = [
        _corpora(tables),
        _tokenizers(results.tokenizers),
        *_times(results),
        _environment(results),
        *_configuration(results.config),
    ]
    return doc.Section("provenance", "Provenance", nodes)


def _corpora(tables: CellTables) -> doc.Node:
    rows = [doc.Row(_corpus(tables, name, corpus)) for name, corpus in tables.results.corpora.items()]
    return doc.Table("Corpora", _CORPUS_COLUMNS, rows)


def _corpus(tables: CellTables, name: str, corpus: CorpusInfo) -> list[doc.TableCell]:
    kinds = ["parallel"] if corpus.parallel else []
    kinds += [f"held out: {plain(corpus.holdout)}"] if corpus.holdout else []
    sizes = [] if corpus.limit is None else [f"at most {corpus.limit:,} documents a group measured"]
    sizes += [] if corpus.evaluated_bytes is None else [f"{byte_size(corpus.evaluated_bytes)} evaluated"]
    left_out = tables.left_out(name)
    return [
        name,
        doc.TextCell(line=corpus.source, small=kinds),
        doc.TextCell(line=plain(corpus.options), look="prose"),
        doc.TextCell(line=corpus.licence or "not stated", look="prose"),
        "unknown" if corpus.documents is None else str(corpus.documents),
        doc.TextCell(line="unknown" if corpus.bytes is None else byte_size(corpus.bytes), small=sizes),
        doc.TextCell(line=f"{len(corpus.groups):,}", small=[left_out] if left_out else []),
        doc.Code(corpus.sha256 or "unknown"),
    ]


def _tokenizers(tokenizers: Mapping[str, TokenizerInfo]) -> doc.Table:
    rows = [doc.Row(_tokenizer(name, tokenizer)) for name, tokenizer in tokenizers.items()]
    return doc.Table("Tokenizers", _TOKENIZER_COLUMNS, rows)


def _tokenizer(name: str, tokenizer: TokenizerInfo) -> list[doc.TableCell]:
    origins = [tokenizer.distribution, *(f"{library} {version}" for library, version in tokenizer.libraries.items())]
    origins += [f"engine: {tokenizer.engine}"] if tokenizer.engine else []
    digests = tokenizer.sha256 | ({"artefact": tokenizer.artefact_sha256} if tokenizer.artefact_sha256 else {})
    return [
        name,
        doc.TextCell(line=tokenizer.backend, small=[*filter(None, origins)]),
        doc.TextCell(line=plain(tokenizer.options), look="prose"),
        tokenizer.state.value if tokenizer.vocab_size is None else f"{tokenizer.vocab_size:,}",
        "unknown" if tokenizer.load_s is None else duration(tokenizer.load_s),
        doc.TextCell(line=plain(tokenizer.train) if tokenizer.train else "none here", look="prose"),
        doc.TextCell(line=plain(tokenizer.notes), look="prose"),
        _digests(digests),
    ]


def _digests(by_name: Mapping[str, str]) -> doc.Line:
    pieces: list[doc.Inline] = []
    for name, digest in by_name.items():
        pieces += [" "] if pieces else []
        pieces.append(doc.Code(f"{name} {plain(digest)}"))
    return pieces


def _times(results: Results) -> list[doc.Node]:
    rows = [doc.Row([phase, time]) for phase, time in durations(results)]
    columns = [doc.Column("phase"), doc.Column("time", numeric=True)]
    return [doc.Table("Time that each phase took", columns, rows)] if rows else []


def _environment(results: Results) -> doc.Table:
    values = {field.name: getattr(results.environment, field.name) for field in fields(results.environment)}
    rows = [
        doc.Row([name, doc.TextCell(line=plain(value), look="prose")])
        for name, value in values.items()
        if value not in (None, "", {})
    ]
    return doc.Table("Environment", [doc.Column(""), doc.Column("")], rows, look="pairs")


def _configuration(config: RunConfig) -> list[doc.Node]:
    digest: list[doc.Inline] = [", sha256 ", doc.Code(config.sha256)] if config.sha256 else []
    parts: list[tuple[doc.Line, str]] = [(["Configuration", *digest], config.text)]
    parts += [
        (["It extends ", doc.Name(base.file), ", sha256 ", doc.Code(base.sha256)], base.text) for base in config.bases
    ]
    return [doc.Details(line, [doc.Listing(text)]) for line, text in parts]
