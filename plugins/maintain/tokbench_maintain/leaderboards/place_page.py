"""A leaderboard as Markdown, as a page, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Final

from tokbench.plugin.report import (
    Bullets,
    Column,
    Heading,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    Strong,
    Table,
    TextCell,
    legend_lines,
    legends,
)
from tokbench.report.escaping import markdown_text
from tokbench.report.markdown_nodes import section_markdown
from tokbench.report.number_format import unit_label
from tokbench_maintain.leaderboards.places import Entry, Leaderboard, Standing

_ARROWS: Final = {"higher": "↑", "lower": "↓", "none": ""}
_MOST_ROWS: Final = 50

_MOST_NAMES: Final = 6

EXPLANATION: Final = (
    "Bold: the best, and all that are not significantly different from it on the same documents. Numbers without such "
    "a comparison, such as speeds, differ if their 95% intervals do not overlap; nothing is bold where no number can "
    "be compared. The number in brackets is the run. Baselines, and tokenizers that lose text or were trained on the "
    "corpus, are not ranked."
)

_NUMERIC: Final = {"best", "place", "number", "95% interval"}


def title(board: Leaderboard) -> str:
    """Return the heading."""
    count = len(board.runs)
    return f"Leaderboard of {count:,} run{'s' * (count != 1)}"


def sections(board: Leaderboard) -> list[Section]:
    """Return the sections."""
    standings = [node for standing in board.standings if standing.headline for node in _standing(standing)]
    return [
        *([Section("notes", "Not compared", [Bullets(board.notes)])] if board.notes else []),
        Section("best", "Best", [_best(board)]),
        Section("standings", "Standings", standings),
        Section("runs", "Runs", [_runs(board), Rich([], plain=[Heading("Texts", 4)]), _texts(board)]),
    ]


def _columns(*heads: str) -> list[Column]:
    return [Column(head, numeric=head in _NUMERIC) for head in heads]


def _best(board: Leaderboard) -> Table:
    rows = [
        Row([
            Name(standing.corpus),
            metric_label(standing),
            standing.best[0].shown.text if standing.best else "–",
            TextCell(line=Name(_winners(standing)), look="prose"),
            TextCell(line=standing.machine, look="prose"),
        ])
        for standing in board.standings
    ]  # fmt: skip
    caption = "The best of each corpus and metric; the run is in brackets"
    return Table(caption, _columns("corpus", "metric", "best", "tokenizer", "machine"), rows)


def _standing(standing: Standing) -> list[Node]:
    parts = [metric_label(standing), standing.corpus, *([standing.machine] if standing.machine else [])]
    heading, more = ", ".join(parts), len(standing.entries) - _MOST_ROWS
    placed = zip(standing.places, standing.entries[:_MOST_ROWS], strict=False)
    rows = [_row(place, entry) for place, entry in placed]
    columns = _columns("place", "tokenizer", "number", "95% interval", "run")
    return [
        Rich([], plain=[Heading(heading, 4)]),
        Table(heading + (f"; and {more} more" if more > 0 else ""), columns, rows),
        *([Rich([], plain=[Paragraph(f"And {more:,} more.")])] if more > 0 else []),
        *legend_lines(legends(entry.shown for entry in standing.entries)),
    ]


def _row(place: int | None, entry: Entry) -> Row:
    shown = entry.shown
    also = f" and {', '.join(map(str, entry.again))}" if entry.again else ""
    text = shown.text + shown.marks
    tokenizer = TextCell(line=Name(entry.tokenizer), names=True)
    rank = "–" if place is None else f"{place:,}"
    cells = rank, tokenizer, Strong(text) if shown.best else text, shown.interval, f"[{entry.run}]{also}"
    return Row(cells, named=False)


def _runs(board: Leaderboard) -> Table:
    texts = (
        (f"[{run.number}]", run.name, run.created, run.tokbench, run.machine, run.path, run.remark)
        for run in board.runs
    )
    rows = [Row([TextCell(line=Name(text), look="prose") for text in row], named=False) for row in texts]
    columns = _columns("run", "name", "begun", "tokbench", "machine", "path", "remark")
    return Table("Every number is from one of these runs", columns, rows)


def _texts(board: Leaderboard) -> Table:
    digests = dict.fromkeys((standing.corpus, standing.sha256 or "unknown") for standing in board.standings)
    rows = [Row([Name(corpus), sha256]) for corpus, sha256 in digests]
    return Table("The texts, by the digests of their documents", _columns("corpus", "sha256"), rows)


def _winners(standing: Standing) -> str:
    names = [f"{entry.tokenizer} [{entry.run}]" for entry in standing.best]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more or standing.without_best


def metric_label(standing: Standing) -> str:
    """Return the name of a metric with its better direction and unit, such as ``compression ↑ (bytes/token)``."""
    unit = unit_label(standing.unit)
    return " ".join(filter(None, [standing.label, _ARROWS[standing.direction], f"({unit})" if unit else ""]))


def markdown(board: Leaderboard) -> str:
    """Return a leaderboard as Markdown."""
    head = f"## {title(board)}\n\n{markdown_text(EXPLANATION)}\n"
    return "\n".join([head, *(section_markdown(section, level=3) for section in sections(board))])


def html(board: Leaderboard) -> str:
    """Return a leaderboard as one self-contained HTML page."""
    from tokbench.report.html_nodes import page

    return page(title(board), EXPLANATION, sections(board))


def as_mapping(board: Leaderboard) -> dict[str, object]:
    """Return a leaderboard as a tree for JSON."""
    standings = [
        {
            **{name: getattr(standing, name) for name in ("corpus", "sha256", "metric", "label", "unit", "direction")},
            "headline": standing.headline,
            "machine": standing.machine,
            "without_best": standing.without_best,
            "entries": [
                {
                    "place": place,
                    "tokenizer": entry.tokenizer,
                    **{name: getattr(entry.cell, name) for name in ("value", "ci_low", "ci_high", "n")},
                    "best": entry.shown.best,
                    "competes": entry.competes,
                    "marks": entry.shown.marks,
                    "run": entry.run,
                    "also_in_runs": list(entry.again),
                }
                for place, entry in zip(standing.places, standing.entries, strict=True)
            ],
        }
        for standing in board.standings
    ]
    return {
        "schema": "tokbench-leaderboard/1",
        "runs": [asdict(run) for run in board.runs],
        "notes": board.notes,
        "standings": standings,
    }


def as_json(board: Leaderboard) -> str:
    """Return a leaderboard as JSON text."""
    return json.dumps(as_mapping(board), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
