"""Writes a leaderboard as static pages: one with all entries, and for each entry a page and a badge."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from leaderboard.board import Board
from leaderboard.views import BoardView
from tokbench.foundation.files import naming, read_regular, write_atomically
from tokbench.report.pages import html_environment


def write_site(board: Board, folder: Path, home: str = "") -> Path:
    """Write all pages of a leaderboard, without measuring, and return the first one. They need no network.

    Args:
        board: the leaderboard.
        folder: where the pages go.
        home: the page to which all link back, if there is one.
    """
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    environment = html_environment("leaderboard")
    environment.filters |= {"short": short, "count": count}
    view = BoardView(board)
    script = environment.get_template("script.js.j2").render()
    measured = read_regular(board.measured).decode().strip() if board.measured.exists() else ""
    common = {"view": view, "site": board.settings.site, "home": home, "measured": measured}

    def write(name: str, template: str, **more: object) -> None:
        text = environment.get_template(template).render(**common, **more)
        write_atomically(folder / name, text.encode("utf-8", "backslashreplace"))

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    write("index.html", "index.html.j2", script_hash=digest)
    for entry in view.entries:
        write(f"{entry.name}.html", "entry.html.j2", shown=entry)
        write(f"{entry.name}.svg", "badge.svg.j2", **badge(view, entry.name))
    return folder / "index.html"


def badge(view: BoardView, name: str) -> dict[str, object]:
    """Return the words of a badge, and its widths."""
    site = view.board.settings.site
    [shown] = [entry for entry in view.entries if entry.name == name]
    ratio = shown.number(site.languages, site.ratio)
    number, lost = shown.place(site.languages, site.ratio), shown.number(site.languages, site.lost)
    aside = f"lossy ({lost:.1%} of characters), not ranked" if lost else "baseline"
    place = f", place {number}" if number else f", {aside}"
    left, right = "tokbench", f"{short(ratio)} bytes/token{place}"
    return {"left": left, "right": right, "split": 7 * len(left) + 12, "width": 7 * len(left + right) + 24}


def short(value: float | None, digits: int = 2) -> str:
    """Return a number for readers.

    >>> short(4.56951), short(None), short(1.0, 3)
    ('4.57', '–', '1.000')
    """
    return "–" if value is None else f"{value:.{digits}f}"


def count(value: float | None) -> str:
    """Return a whole number for readers; other numbers keep two digits.

    >>> count(200019.0), count(0.25), count(None)
    ('200,019', '0.25', '–')
    """
    if value is None:
        return "–"
    return f"{int(value):,}" if value == int(value) else f"{value:.2f}"
