"""The section on problems: tokenizers, cells and plugins that did not run, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.report import document as doc
from tokbench.report.tables import CellTables
from tokbench.results.blocks import PluginInfo
from tokbench.results.cells import FAILED, WHOLE, Cell, Status, TokenizerState
from tokbench.results.model import Results


@dataclass(frozen=True, slots=True)
class MissingCells:
    """Cells without a value for the same reason, apart from group, document, or number of documents."""

    status: str
    reason: str
    tokenizers: Sequence[str]
    corpora: Sequence[str]
    metrics: Sequence[str]
    cells: int
    groups: int
    alike: int

    @property
    def count(self) -> str:
        cells = f"{self.cells:,} result{'s' if self.cells > 1 else ''}"
        return f"{cells} in {self.groups:,} groups" if self.groups > 1 else cells

    @property
    def sentence(self) -> str:
        more = f" (the first of {self.alike:,} that differ only in group, document or number)" if self.alike > 1 else ""
        return self.reason + more

    @property
    def applies(self) -> bool:
        return self.status != _word(Status.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class ProblemSection:
    """The whole section."""

    tokenizers: Sequence[tuple[str, str, str]]
    cells: Sequence[MissingCells]
    plugins: Sequence[PluginInfo]


def problems(results: Results) -> ProblemSection:
    """Return the section."""
    plugins = [plugin for plugin in results.plugins if plugin.reason]
    return ProblemSection(missing_tokenizers(results), _missing_cells(results), plugins)


_MOST_NAMES: Final = 6
_BAD: Final = {TokenizerState.FAILED.value, Status.FAILED.value, Status.TIMEOUT.value}


def problems_document(tables: CellTables) -> doc.Section:
    """Return the section as a document."""
    section = problems(tables.results)
    if not (section.tokenizers or section.cells or section.plugins):
        return doc.Section("problems", _TITLE, [doc.Paragraph("Everything ran, and every result has a value.")])
    return doc.Section("problems", _TITLE, _tables(section))


_TITLE: Final = "What did not run, and why"


def _tables(section: ProblemSection) -> list[doc.Node]:
    nodes: list[doc.Node] = []
    if section.tokenizers:
        rows = [
            doc.Row([name, _state(state), doc.TextCell(line=reason, look="prose")])
            for name, state, reason in section.tokenizers
        ]
        columns = [doc.Column(name) for name in ("tokenizer", "state", "reason")]
        nodes.append(doc.Table("Tokenizers without numbers", columns, rows, label="Tokenizers that did not run"))
    if section.cells:
        columns = [
            *(doc.Column("state"), doc.Column("results", numeric=True), doc.Column("groups", numeric=True)),
            *(doc.Column(name) for name in ("reason", "metrics", "tokenizers", "corpora")),
        ]
        rows = [
            doc.Row(
                [
                    *(
                        _state(missing.status),
                        f"{missing.cells:,}",
                        f"{missing.groups:,}" if missing.groups else "none",
                    ),
                    *(
                        doc.TextCell(line=missing.sentence, look="prose"),
                        *map(_names, (missing.metrics, missing.tokenizers, missing.corpora)),
                    ),
                ]
            )
            for missing in section.cells
        ]
        caption = "Results without a value, by reason"
        nodes.append(doc.Table(caption, columns, rows, label="Results without a value"))
    if section.plugins:
        rows = [
            doc.Row(
                [plugin.name, f"{plugin.distribution} {plugin.version}", doc.TextCell(line=plugin.reason, look="prose")]
            )
            for plugin in section.plugins
        ]
        columns = [doc.Column(name) for name in ("plugin", "distribution", "reason")]
        nodes.append(doc.Table("Plugins that cannot be used", columns, rows, label="Broken plugins"))
    return nodes


def _state(state: str) -> doc.TextCell:
    return doc.TextCell(line=doc.StateWord(state, bad=state in _BAD))


def _names(names: Sequence[str]) -> doc.TextCell:
    left = len(names) - _MOST_NAMES
    line = doc.names_line("", names[:_MOST_NAMES], f" and {left} more" if left > 0 else "")
    return doc.TextCell(line=line, look="prose", title=", ".join(names) if left > 0 else "")


def missing_tokenizers(results: Results) -> list[tuple[str, str, str]]:
    """Return name, state and reason of every tokenizer that was not ready, failures first."""
    missing = [
        (name, info.state.value, info.reason or "no reason given")
        for name, info in results.tokenizers.items()
        if info.state != TokenizerState.READY
    ]
    return sorted(missing, key=lambda row: row[1] != TokenizerState.FAILED)


def _missing_cells(results: Results) -> list[MissingCells]:
    gone = {name for name, _, _ in missing_tokenizers(results)}
    pattern = _pattern(group for corpus in results.corpora.values() for group in corpus.groups)
    by_reason: dict[tuple[Status, str], list[Cell]] = {}
    for cell in results.cells:
        if cell.status != Status.OK and cell.tokenizer not in gone:
            by_reason.setdefault((cell.status, pattern(cell.reason)), []).append(cell)
    order = [Status.FAILED, Status.TIMEOUT, Status.UNAVAILABLE, Status.NOT_APPLICABLE]
    return [
        MissingCells(
            status=_word(status),
            reason=cells[0].reason or "no reason given",
            tokenizers=list(dict.fromkeys(cell.tokenizer for cell in cells)),
            corpora=list(dict.fromkeys(cell.corpus for cell in cells)),
            metrics=list(dict.fromkeys(cell.metric for cell in cells)),
            cells=len(cells),
            groups=len({(cell.corpus, cell.group) for cell in cells if cell.group != WHOLE}),
            alike=len({cell.reason for cell in cells}),
        )
        for (status, _), cells in sorted(by_reason.items(), key=lambda item: order.index(item[0][0]))
    ]


_DOCUMENT = re.compile(r", document [^)]*")
_OF = re.compile(r"\d[\d,]* of \d[\d,]*")


def _pattern(groups: Iterable[str]) -> Callable[[str], str]:
    """Return a function that takes groups, documents and numbers of documents out of a reason.

    >>> pattern = _pattern(["de", "fr"])
    >>> pattern("boom (corpus c, group de, document de.txt:3)"), pattern("no premium for de, fr: only 3 of 9 documents")
    ('boom (corpus c, group …)', 'no premium for …: only n of n documents')
    """
    names = "|".join(map(re.escape, sorted({group for group in groups if group}, key=len, reverse=True)))
    one = rf"(?<!\w)(?:{names})(?!\w)"
    places = re.compile(rf"{one}(?:, {one})*") if names else None

    def without(reason: str) -> str:
        reason = _OF.sub("n of n", _DOCUMENT.sub("", reason))
        return places.sub("…", reason) if places else reason

    return without


def short_vocabularies(results: Results) -> list[str]:
    """Return a sentence for each trained tokenizer that is smaller than asked for.

    >>> from tokbench.results.blocks import TokenizerInfo, TrainingInfo
    >>> train = TrainingInfo(corpora=["c"], vocab_size=5000)
    >>> short_vocabularies(Results(name="r", tokenizers={"mine": TokenizerInfo(vocab_size=265, train=train)}))
    ['mine: asked for 5,000, the text gave 265']
    """
    return [
        f"{name}: asked for {info.train.vocab_size:,}, the text gave {info.vocab_size:,}"
        for name, info in results.tokenizers.items()
        if info.train and info.vocab_size is not None and info.vocab_size < info.train.vocab_size
    ]


def failing_tokenizers(results: Results) -> list[str]:
    """Return the ready tokenizers with cells that failed or timed out."""
    bad = {cell.tokenizer for cell in results.cells if cell.status in FAILED}
    return [name for name, info in results.tokenizers.items() if name in bad and info.state == TokenizerState.READY]


def _word(status: Status) -> str:
    return status.value.replace("_", " ")
