"""Bits per byte of language models at the sizes of a line that the run has as tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.report.charts.line_profile import WIDE, ProfileLine, line_key, line_profile
from tokbench.report.charts.svg import Drawing
from tokbench.report.document import (
    ChartKey,
    Column,
    Figure,
    Heading,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Table,
    captioned,
)
from tokbench.report.sections.answer_subject import names
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import VocabularySizes
from tokbench.studies.vocabulary_size.section_costs import number_cell
from tokbench_models.language_models.block import BITS_PER_BYTE, BitsPerByte

FEWEST_TOKENS: Final = 50
"""With fewer training tokens for an id, more text favours larger sizes."""

_RINGS: Final = "Rings: no other size is better under every model that decides. Upright strokes: 95\u00a0% intervals."
LIMITS: Final = "Small models on little text say nothing of larger models or of more text."


@dataclass(frozen=True)
class SizeBits:
    """The models of one family on one corpus, at the sizes of one line.

    Attributes:
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

    def sentences(self, taken: tuple[str, int] | None = None) -> Iterator[str]:
        """Yield which sizes are best, what limits that, and how a recommended line and size compare."""
        best = self.unbeaten
        measured = f"Measured here, by bits per byte of models ({self.models.family} on {self.models.corpus})"
        if len(best) == len(self.sizes):
            yield f"{measured}, no size of {self.line} is better than another."
            return
        yield f"{measured}, no size of {self.line} is better than {names([f'{size:,}' for size in best])}."
        for edge, beyond in ((self.sizes[0], "smaller"), (self.sizes[-1], "larger")):
            if edge in best:
                yield f"No {beyond} size was tried, and one may be better."
        tokens = {size: self.models.trained_ids.get(name) for size, name in self.tokenizers.items()}
        few = [
            f"{size:,}" for size, ids in tokens.items() if ids and ids.tokens_per_id < FEWEST_TOKENS and size in best
        ]
        if few:
            yield f"With {names(few)} an id has fewer than {FEWEST_TOKENS} training tokens: more text may change this."
        if taken and taken[0] == self.line:
            where = "inside" if best[0] <= taken[1] <= best[-1] else "outside"
            yield f"The size taken lies {where} of this range; it follows from compression and FLOPs."

    def chart(self) -> Drawing:
        lines = [
            ProfileLine(
                model,
                style,
                [cell.value or 0.0 for cell in cells],
                [f"{cell.value:.3f}" for cell in cells],
                [None if cell.ci_low is None else (cell.ci_low, cell.ci_high or 0.0) for cell in cells],
                rings=[self.sizes.index(size) for size in self.unbeaten],
            )
            for style, (model, cells) in enumerate(self.values.items())
        ]
        title = f"Bits per byte by vocabulary size, {self.place}"
        places = [f"{size:,}" for size in self.sizes]
        return line_profile(title, places, lines, upright="bits per byte", heading=self.place, size=WIDE)

    @property
    def keys(self) -> list[tuple[str, Drawing]]:
        return [(model, line_key(style)) for style, model in enumerate(self.values)]

    def nodes(self) -> list[Node]:
        keys = Paragraph([ChartKey(key, model) for model, key in self.keys], "legend")
        figure = Figure(self.chart(), label=f"Bits per byte by size, {self.place}")
        rows = []
        for model, cells in self.values.items():
            least = min(cell.value or 0.0 for cell in cells)
            rows.append(Row([model, *(number_cell(cell.value, look="best" * (cell.value == least)) for cell in cells)]))
        columns = [Column("model"), *(Column(f"{size:,}", numeric=True) for size in self.sizes)]
        table = Table(["Bits per byte by size, ", Name(self.place)], columns, rows, look="tight")
        return [
            Rich([keys, figure, Paragraph(_RINGS, "legend")]),
            captioned(table),
            Paragraph(" ".join(self.sentences())),
        ]


def size_bits(results: Results, sizes: VocabularySizes) -> list[SizeBits]:
    """Return the models at several sizes of each line; the tokenizers of one size must be comparable."""
    known = {
        (cell.tokenizer, cell.corpus, cell.metric): cell
        for cell in results.cells
        if cell.group == WHOLE and cell.value is not None
    }
    measured = []
    for models in results.studies.get(BITS_PER_BYTE) or []:
        compared = {name for pair in models.comparisons for name in (pair.tokenizer, pair.other)}
        metrics = dict(zip(models.metrics, models.models, strict=True))
        for line in sizes.lines:
            own = [name for name in line.tokenizers if name in compared]
            tokenizers = dict(sorted((results.tokenizers[name].vocab_size or 0, name) for name in own))
            cells = {
                model: [known.get((name, models.corpus, metric)) for name in tokenizers.values()]
                for metric, model in metrics.items()
            }
            values = {model: [cell for cell in some if cell] for model, some in cells.items() if all(some)}
            if len(tokenizers) > 1 and values:
                measured.append(SizeBits(line.line, models, tokenizers, values))
    return measured


def size_bits_nodes(measured: Sequence[SizeBits]) -> list[Node]:
    """Return bits per byte at several sizes for every format."""
    if not measured:
        return []
    heading = Heading("Bits per byte, measured here", id="measured-sizes")
    return [heading, *(node for bits in measured for node in bits.nodes()), Paragraph(LIMITS, "legend")]
