"""Markdown files of the repository as parts of pages of the site.

A page says ``<!-- include FILE -->``, and a Markdown file that a page links has a page of its own. Nothing is copied: a
change of the file is a change of the site. Links are rewritten, and one that leads nowhere ends the build.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
"""The top of the repository."""

DIRECTIVE: Final = re.compile(r"^<!-- (include|families|names|code|answer) (.+?) -->$", re.MULTILINE)
"""A line of a page that stands for something else."""

_FENCE: Final = r"^(?P<fence> *(?:```+|~~~+)).*?^(?P=fence) *$"
_SPAN: Final = r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_LINK: Final = r"(?P<open>!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\()(?P<target>[^)\s]+)\)"
_PARTS: Final = re.compile(f"(?:{_FENCE})|(?:{_LINK})|(?:{_SPAN})", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Heading:
    """A heading of a Markdown file.

    Attributes:
        line: the number of its line, from 0.
        level: the number of its signs ``#``.
        title: its text.
        anchor: the name by which links find it, as GitHub makes it.
    """

    line: int
    level: int
    title: str
    anchor: str


def slug(title: str, separator: str = "-") -> str:
    """Return the anchor of a heading as GitHub makes it; Python-Markdown calls it for the pages of the site.

    >>> slug("What a `run` writes, and why")
    'what-a-run-writes-and-why'
    """
    plain = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", separator)


def headings(lines: list[str]) -> list[Heading]:
    """Return the headings of a file, those in blocks of code left out.

    >>> [heading.anchor for heading in headings(["# A b", "```", "# no heading", "```", "## A b"])]
    ['a-b', 'a-b-1']
    """
    headings_of_file: list[Heading] = []
    seen: dict[str, int] = {}
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        match = re.match(r"(#+) +(.+?)\s*$", line)
        if match and not fenced:
            anchor = slug(match[2])
            seen[anchor] = seen.get(anchor, -1) + 1
            unique = f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
            headings_of_file.append(Heading(number, len(match[1]), match[2], unique))
    return headings_of_file


def read_file(path: Path) -> tuple[list[str], list[Heading]]:
    """Return the lines of a file, and its headings, of which the first is its title."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines, headings(lines)


def included(path: Path) -> str:
    """Return a file as a part of a page: without its title, and each heading with its anchor."""
    lines, inside = read_file(path)
    lines[inside[0].line] = ""
    for heading in inside[1:]:
        lines[heading.line] = f"{'#' * heading.level} {heading.title} {{#{heading.anchor}}}"
    return for_python_markdown(lines)


def for_python_markdown(lines: list[str]) -> str:
    """Write what GitHub reads otherwise than Python-Markdown: lists after a paragraph, bars in code, marks."""
    out: list[str] = []
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            out.append(line)
            continue
        if re.fullmatch(r"<!-- /?[\w ]+ -->", line) and not DIRECTIVE.match(line):
            continue
        item = re.match(r"(?:[-*]|\d+\.) ", line)
        if item and out and out[-1].strip() and not re.match(r"(?:[-*]|\d+\.) | ", out[-1]):
            out.append("")
        if line.startswith("|"):
            line = re.sub(r"`[^`]*`", lambda span: span[0].replace("\\|", "|"), line)  # noqa: PLW2901
        out.append(re.sub(r"^ {2,3}(?=\S)", "    ", line))
    return "\n".join(out) + "\n"


def relinked(text: str, place: Callable[[str], str | None]) -> str:
    """Return a text with other targets of its links.

    Args:
        text: Markdown.
        place: returns the new target for one, or ``None`` if the link becomes plain text.

    >>> relinked("[a](b.md) [c](d.py)", {"b.md": "x.md"}.get)
    '[a](x.md) c'
    """

    def write(match: re.Match[str]) -> str:
        if not match["open"]:
            return match[0]
        target = place(match["target"])
        if target is None:
            return match["open"].lstrip("!")[1:-2]
        return f"{match['open']}{target})"

    return _PARTS.sub(write, text)
