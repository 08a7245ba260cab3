"""Bits per byte at the sizes of one vocabulary: the sizes than which no other is better."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.plugin import report as doc
from tokbench.plugin.metrics import WHOLE, Cell
from tokbench_models.language_models.block import BITS_PER_BYTE, BitsPerByte
from tokbench_models.language_models.verdicts import listed

FEWEST_TOKENS: Final = 50
"""With fewer training tokens for an id, more text favours larger sizes."""

LIMITS: Final = "Small models on little text say nothing of larger models or of more text."
_SIZE_OPTIONS: Final = ("size", "vocab_size")
_SIZE_IN_NAME: Final = re.compile(r"(-size=|-)\d+$")


@dataclass(frozen=True)
class BestSize:
    """The models of one family on one corpus, at the sizes of one vocabulary.

    Attributes:
        line: the common part of the tokenizers' names.
        tokenizers: by vocabulary size, rising.
        values: by metric, the cell of each size.
    """

    line: str
    models: BitsPerByte
    tokenizers: Mapping[int, str]
    values: Mapping[str, Sequence[Cell]]

    @property
    def sizes(self) -> list[int]:
        return list(self.tokenizers)

    @property
    def unbeaten(self) -> list[int]:
        """The sizes than which no other size of the line is better."""
        own = set(self.tokenizers.values())
        beaten = {
            pair.other for pair in self.models.comparisons if pair.verdict == "better" and own >= {pair.tokenizer}
        }
        return [size for size, name in self.tokenizers.items() if name not in beaten]

    @property
    def place(self) -> str:
        return f"{self.line}, {self.models.family} on {self.models.corpus}"

    def sentences(self) -> Iterator[str]:
        """Yield which sizes are best, and what limits that."""
        best = self.unbeaten
        measured = f"By bits per byte of models ({self.models.family} on {self.models.corpus})"
        if len(best) == len(self.sizes):
            yield f"{measured}, all sizes of {self.line} tie."
            return
        yield f"{measured}, no size of {self.line} is better than {listed([f'{size:,}' for size in best])}."
        for edge, beyond in ((self.sizes[0], "smaller"), (self.sizes[-1], "larger")):
            if edge in best:
                yield f"No {beyond} size was tried, and one may be better."
        trained = {size: self.models.trained_ids.get(name) for size, name in self.tokenizers.items()}
        few = [
            f"{size:,}" for size, ids in trained.items() if ids and ids.tokens_per_id < FEWEST_TOKENS and size in best
        ]
        if few:
            yield f"{listed(few)}: fewer than {FEWEST_TOKENS} training tokens per entry; more text may change this."

    def nodes(self) -> list[doc.Node]:
        columns = [doc.Column("model"), *(doc.Column(f"{size:,}", numeric=True) for size in self.sizes)]
        rows = [_row(model, [cell.value or 0.0 for cell in cells]) for model, cells in self.values.items()]
        return [
            doc.Heading(["Sizes of ", doc.Name(self.place)]),
            doc.Paragraph(" ".join(self.sentences())),
            doc.Table(["Bits per byte by size, ", doc.Name(self.place)], columns, rows, look="tight"),
        ]


def _row(model: str, values: Sequence[float]) -> doc.Row:
    cells = [doc.TextCell(line=f"{value:.3f}", value=value, look="best" * (value == min(values))) for value in values]
    return doc.Row([model, *cells])


def best_sizes(results: doc.Results) -> list[BestSize]:
    """Return the models at several sizes of each vocabulary; the tokenizers of one line must be comparable."""
    known = {
        (cell.tokenizer, cell.corpus, cell.metric): cell
        for cell in results.cells
        if cell.group == WHOLE and cell.value is not None
    }
    found = []
    for models in results.studies.get(BITS_PER_BYTE) or []:
        compared = {name for pair in models.comparisons for name in (pair.tokenizer, pair.other)}
        metrics = dict(zip(models.metrics, models.models, strict=True))
        for tokenizers in _lines(results, compared):
            cells = {
                model: [known.get((name, models.corpus, metric)) for name in tokenizers.values()]
                for metric, model in metrics.items()
            }
            values = {model: [cell for cell in some if cell] for model, some in cells.items() if all(some)}
            if values:
                found.append(BestSize(_line_name([*tokenizers.values()]), models, tokenizers, values))
    return found


def _lines(results: doc.Results, compared: set[str]) -> list[dict[int, str]]:
    """Return the tokenizers by size that differ in size alone."""
    lines: dict[str, dict[int, str]] = {}
    for name, info in results.tokenizers.items():
        if name in compared and info.vocab_size and not info.baseline:
            rest = sorted((key, repr(value)) for key, value in info.options.items() if key not in _SIZE_OPTIONS)
            same = info.backend, rest, info.train and info.train.corpora
            lines.setdefault(repr(same), {})[info.vocab_size] = name
    return [dict(sorted(line.items())) for line in lines.values() if len(line) > 1]


def _line_name(names: Sequence[str]) -> str:
    """Return the name of an entry of which several sizes were made, or else the first name."""
    stem, *others = {_SIZE_IN_NAME.sub("", name) for name in names}
    return names[0] if others else stem


def best_size_document(tables: doc.CellTables) -> doc.Section | None:
    """Return the section; ``None`` without a vocabulary of several sizes."""
    nodes = [node for best in best_sizes(tables.results) for node in best.nodes()]
    return doc.Section("best-size", "Best size", [*nodes, doc.Paragraph(LIMITS, "legend")]) if nodes else None


def best_size_lead(tables: doc.CellTables) -> list[doc.Node]:
    """Return the best sizes for the answer."""
    sentences = [sentence for best in best_sizes(tables.results) for sentence in best.sentences()]
    return (
        [doc.Cards([[doc.Heading("Best size"), *doc.sentence_paragraphs([*sentences, LIMITS])]])] if sentences else []
    )


BEST_SIZE: Final = doc.SectionSpec(
    name="best_size",
    place=65,
    study=BITS_PER_BYTE.study,
    build=best_size_document,
    lead=best_size_lead,
)
