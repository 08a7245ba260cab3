"""The charts of bits per byte by model or amount of training text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tokbench.plugin.report import CellTables, Chart, DisplayCell, Drawing, ProfileLine, line_key, line_profile
from tokbench_models.language_models.block import BitsPerByte, TrainedAmount

_BETTER: Final = "less is better"
_DRAWN: Final = 2


def bits_charts(tables: CellTables, study: BitsPerByte) -> list[Chart]:
    """Return the charts of one corpus."""
    names = by_block(study)
    if study.trainings:
        lines = {name: study.trainings[name].amounts for name in names}
        most = max(map(len, lines.values()))
        whole = {name: amounts for name, amounts in lines.items() if len(amounts) == most}
        return _charts(study, whole, [_by_amount(study, whole)] if most >= _DRAWN else [])
    metrics = [tables.series(metric, study.corpus) for metric in study.metrics]
    cells = {name: [metric.cells[name] for metric in metrics] for name in names}
    known = {name: line for name, line in cells.items() if all(cell.value is not None for cell in line)}
    if not known or len(study.metrics) < _DRAWN:
        return []
    return _charts(study, known, [_by_model(study, known)])


def by_block(study: BitsPerByte) -> list[str]:
    """Return the tokenizers with numbers, by comparable block."""
    blocks = list(dict.fromkeys(study.blocks.values()))
    return sorted(study.blocks, key=lambda name: blocks.index(study.blocks[name]))


def _charts(study: BitsPerByte, names: Iterable[str], drawings: Sequence[Drawing]) -> list[Chart]:
    keys = tuple((name, line_key(number)) for number, name in enumerate(names))
    return [Chart(f"bits-per-byte-{study.corpus}", drawing, keys) for drawing in drawings]


def _by_amount(study: BitsPerByte, lines: Mapping[str, Sequence[TrainedAmount]]) -> Drawing:
    places = [f"{amount.n_bytes / 1e6:.2g} MB" for amount in next(iter(lines.values()))]
    drawn = [
        ProfileLine(
            name,
            style,
            [amount.bits_per_byte for amount in amounts],
            [f"{amount.bits_per_byte:.3f}" + (f" ± {amount.error:.3f}" if amount.error else "") for amount in amounts],
        )
        for style, (name, amounts) in enumerate(lines.items())
    ]
    title = f"Bits per byte on {study.corpus} by amount of training text"
    return line_profile(title, places, drawn, upright=f"bits per byte; {_BETTER}")


def _by_model(study: BitsPerByte, lines: Mapping[str, Sequence[DisplayCell]]) -> Drawing:
    drawn = [
        ProfileLine(name, style, _values(cells), [_with_interval(cell) for cell in cells])
        for style, (name, cells) in enumerate(lines.items())
    ]
    return line_profile(f"Bits per byte on {study.corpus}", study.models, drawn, upright=f"bits per byte; {_BETTER}")


def _values(cells: Sequence[DisplayCell]) -> list[float]:
    return [cell.value for cell in cells if cell.value is not None]


def _with_interval(cell: DisplayCell) -> str:
    return f"{cell.text}{cell.marks}" + (f" ({cell.interval})" if cell.interval else "")
