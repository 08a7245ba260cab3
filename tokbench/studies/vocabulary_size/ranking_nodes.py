"""The ranking of published vocabularies and of one's own as reports show it, and what is not ranked, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tokbench.plugin import Column, Name, Node, Paragraph, Results, Row, Strong, Table, TextCell, byte_size, captioned
from tokbench.studies.vocabulary_size.block import RankedSize, SizeRecommendation, VocabularySizes
from tokbench.studies.vocabulary_size.plateau import NEAR

_CAPTION: Final = "Published vocabularies and one's own in one ranking"
_COLUMNS: Final = (
    *(Column("rank", numeric=True), Column("vocabulary"), Column("size", numeric=True), Column("which")),
    *(Column("bytes/token", numeric=True), Column("FLOPs/byte", numeric=True), Column("beside the best", numeric=True)),
    Column("note"),
)
_BY_COST: Final = (
    "Ordered by the cost of a byte of text over all corpora by their weights. Bold costs at most 2 % more than the "
    "least. Published vocabularies have the size as they were made; one that was trained here has the ends of the "
    "sizes to take."
)
_BY_RATIO: Final = "Ordered by bytes per token over all corpora by their weights: without a model no cost is known."
_APART: Final = "Not in the ranking"


def ranking_nodes(results: Results, study: VocabularySizes) -> list[Node]:
    """Return the table of all that is ranked, and one of what is not; nothing in files of earlier versions."""
    advice = study.recommendation
    if advice is None or not advice.ranking:
        return []
    least = advice.ranking[0].flops_per_byte
    rows = [_row(rank, size, least, _note(size, advice)) for rank, size in enumerate(advice.ranking, 1)]
    nodes: list[Node] = [
        captioned(Table(_CAPTION, _COLUMNS, rows)),
        Paragraph(_BY_COST if least else _BY_RATIO, "legend"),
    ]
    apart = {**advice.left_out, **dict(_unmeasured(results, study))}
    if apart:
        columns = Column("vocabulary"), Column("reason")
        nodes.append(captioned(Table(_APART, columns, [Row([Name(name), why]) for name, why in apart.items()])))
    return nodes


def _row(rank: int, size: RankedSize, least: float | None, note: str) -> Row:
    """Return a size as a row."""
    cost, beyond = "", TextCell()
    if least and size.flops_per_byte:
        more = size.flops_per_byte / least - 1
        text = "best" if rank == 1 else f"+{100 * more:.1f} %"
        cost, beyond = f"{size.flops_per_byte:,.0f}", TextCell(line=Strong(text) if more <= NEAR else text, value=more)
    which = str(rank), Name(size.line), f"{size.vocab_size:,}", ", ".join(size.kinds)
    return Row([*which, f"{size.compression_ratio:.3f}", cost, beyond, note])


def _note(size: RankedSize, advice: SizeRecommendation) -> str:
    """Return what keeps a size from being taken, or its range from being known."""
    of_line = next((sizes for sizes in advice.ranges if sizes.line == size.line), None)
    if of_line is None:
        return ""
    if of_line.refused:
        return "not recommended"
    if of_line.enough_bytes is not None:
        return f"trained on too small a text: about {byte_size(of_line.enough_bytes)} would decide its size"
    return ""


def _unmeasured(results: Results, study: VocabularySizes) -> Iterator[tuple[str, str]]:
    """Yield the tokenizers of which no size is known, with the reason."""
    known = {name for line in study.lines for name in (line.line, *line.tokenizers)}
    reasons: Mapping[str, str] = {name: reason for name, _, reason in (text.partition(": ") for text in study.failures)}
    for name in results.tokenizers:
        if name not in known:
            yield name, reasons.get(name, "no size of it is known")
