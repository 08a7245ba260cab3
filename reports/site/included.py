"""Markdown files of the repository as parts of pages of the site.

A page says ``<!-- include FILE -->`` or names one section, ``<!-- include FILE#anchor -->``. Nothing
is copied: a change of the file is a change of the site. Links are rewritten: a link to an included section leads to the
page that has it, any other to the page of that file, and one that leads nowhere ends the build.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
"""The top of the repository."""

DIRECTIVE: Final = re.compile(r"^<!-- (include|stands for|families|names|code|answer) (.+?) -->$", re.MULTILINE)
"""A line of a page that stands for something else."""

_FENCE: Final = r"^(?P<fence> *(?:```+|~~~+)).*?^(?P=fence) *$"
_SPAN: Final = r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_LINK: Final = r"(?P<open>!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\()(?P<target>[^)\s]+)\)"
_PARTS: Final = re.compile(f"(?:{_FENCE})|(?:{_LINK})|(?:{_SPAN})", re.MULTILINE | re.DOTALL)


class BrokenLinkError(Exception):
    """A link of a page, or a line that includes a file, names what is not there."""


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


def section(path: Path, anchor: str = "") -> tuple[list[str], list[Heading]]:
    """Return the lines of a section with its subsections, and its headings by their place in these lines.

    Args:
        path: the Markdown file.
        anchor: the section; empty for the whole file.

    Raises:
        BrokenLinkError: the file or the section is not there.
    """
    if not path.is_file():
        msg = f"{path}: there is no such file to include"
        raise BrokenLinkError(msg)
    lines = path.read_text(encoding="utf-8").splitlines()
    every = headings(lines)
    if not anchor:
        return lines, every
    first = next((heading for heading in every if heading.anchor == anchor), None)
    if first is None:
        msg = f"{path} has no section #{anchor}; it has {', '.join(heading.anchor for heading in every)}"
        raise BrokenLinkError(msg)
    later = [heading.line for heading in every if heading.line > first.line and heading.level <= first.level]
    end = later[0] if later else len(lines)
    inside = [heading for heading in every if first.line <= heading.line < end]
    moved = [Heading(heading.line - first.line, heading.level, heading.title, heading.anchor) for heading in inside]
    return lines[first.line : end], moved


def included(path: Path, anchor: str = "", title: str = "") -> str:
    """Return a section as a part of a page: below the page's title, each heading with its own anchor.

    The title of a whole file is left out, because the page has its own, and so is a heading that repeats that title.

    Args:
        path: the Markdown file.
        anchor: the section; empty for the whole file.
        title: the title of the page.
    """
    lines, inside = section(path, anchor)
    if inside and (inside[0].title == title or (not anchor and inside[0].level == 1)):
        lines[inside[0].line] = ""
        inside = inside[1:]
    shift = min((heading.level for heading in inside), default=2) - 2
    for heading in inside:
        lines[heading.line] = f"{'#' * (heading.level - shift)} {heading.title} {{#{heading.anchor}}}"
    return _for_python_markdown(lines)


def _for_python_markdown(lines: list[str]) -> str:
    """Write what GitHub reads otherwise than Python-Markdown: lists after a paragraph, bars in code, marks."""
    out: list[str] = []
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            out.append(line)
            continue
        if re.fullmatch(r"<!-- /?[\w ]+ -->", line):
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
