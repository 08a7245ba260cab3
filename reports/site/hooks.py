"""Hooks of MkDocs: pages made of the repository's own files, with links that hold.

``mkdocs build -f reports/site/mkdocs.yml --strict`` calls them. :mod:`included` reads the files, :mod:`definitions`
describes the metrics.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

sys.path.extend([str(Path(__file__).parent), str(Path(__file__).parents[1] / "tools")])
import definitions
import live_report
from included import DIRECTIVE, ROOT, BrokenLinkError, included, relinked, section, slug
from leaderboard.board import read_board
from leaderboard.site import write_site
from public_names import reference

METRICS: Final = "tokbench/metrics/README.md"
"""The file in which links look for a family of metrics; the pages of the site have definitions instead."""

SHOWN: Final = {
    ".py": "python",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".txt": "text",
    ".ipynb": "json",
    ".toml": "toml",
    ".tsv": "text",
    ".csv": "text",
    ".json": "json",
    ".lock": "text",
    "": "text",
}
"""The endings of files that have a page of their own when they are linked, and their languages."""

LARGEST: Final = 60_000
"""Bytes of a file that has a page; a larger one is handed out as it is."""


class Site:
    """The places of the repository's files on the site.

    Attributes:
        owners: the page and the anchor by file and anchor; an empty anchor stands for the whole.
        linked: the files that have no page of their own and are linked: their place on the site.
        broken: the links that lead nowhere, each with its file.
    """

    def __init__(self, pages: dict[str, str]) -> None:
        """Find what each page includes.

        Args:
            pages: the text of each page, by its path in the folder of pages.
        """
        self.owners: dict[tuple[str, str], tuple[str, str]] = {}
        self.linked: dict[str, str] = {}
        self.broken: set[str] = set()
        directives = [
            (page, match[1], *match[2].partition("#")[::2])
            for page, text in pages.items()
            for match in DIRECTIVE.finditer(text)
        ]
        for page, kind, path, anchor in directives:
            if kind == "stands for":
                self.owners[path, anchor] = (page, "")
        parts = [
            (len(inside), path, anchor, page, inside)
            for page, kind, path, anchor in directives
            if kind == "include"
            for inside in [section(ROOT / path, anchor)[1]]
        ]
        for _, path, anchor, page, inside in sorted(parts, key=lambda part: part[0]):
            for heading in inside:
                title = not anchor and heading.level == 1
                self.owners.setdefault((path, heading.anchor), (page, "" if title else heading.anchor))
        for _, path, anchor, page, _inside in sorted(parts, key=lambda part: bool(part[2])):
            self.owners.setdefault((path, ""), (page, anchor))
        for page, kind, names, _ in directives:
            for name in names.split() if kind == "families" else ():
                self.owners.setdefault((METRICS, name), (page, f"family-{name}"))

    def place(self, target: str, file: str, page: str) -> str | None:
        """Return the target of a link as a page has it.

        Args:
            target: the target as the file has it.
            file: the path of the file in the repository.
            page: the page that shows it.

        Returns:
            A path from the page, or ``None`` if the link is to a folder that no page shows, or is broken.
        """
        if re.match(r"[a-z]+:", target):
            return target
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        if (ROOT / path).is_dir():
            path = next((p for p in (path, f"{path}/README.md") if (p, anchor) in self.owners), path)
        if (path, anchor) in self.owners:
            owner, place = self.owners[path, anchor]
            return posixpath.relpath(owner, posixpath.dirname(page)) + (f"#{place}" if place else "")
        if (ROOT / path).is_dir():
            return None
        if not (ROOT / path).is_file() or path.endswith(".md"):
            self.broken.add(f"{file}: the link to {target} leads to no page; include the file or the section in one")
            return None
        shown = Path(path).suffix in SHOWN and (ROOT / path).stat().st_size <= LARGEST
        self.linked[path] = f"source/{path}.md" if shown else f"files/{path}"
        self.linked[path] = self.linked[path].replace("/.", "/")  # MkDocs leaves out what begins with a dot
        return posixpath.relpath(self.linked[path], posixpath.dirname(page))

    def text(self, page: str, written: str) -> str:
        """Return the text of a page with all that it includes."""
        title = next(iter(re.findall(r"^# (.+)$", written, re.MULTILINE)), "")

        def expand(match: re.Match[str]) -> str:
            kind, what = match[1], match[2]
            if kind == "stands for":
                return ""
            if kind == "answer":
                return live_report.answer()
            if kind == "code":
                return _code(what)
            if kind == "names":
                module, *rooms = what.split()
                return reference(module, rooms)
            if kind == "families":
                return self._relinked(definitions.families(what.split()), METRICS, page)
            path, _, anchor = what.partition("#")
            return self._relinked(included(ROOT / path, anchor, title), path, page)

        def own(target: str) -> str | None:
            return self.place(target.removeprefix("repo:"), "", page) if target.startswith("repo:") else target

        return DIRECTIVE.sub(expand, relinked(written, own))

    def _relinked(self, text: str, file: str, page: str) -> str:
        return relinked(text, lambda target: self.place(target, file, page))


def _code(what: str) -> str:
    """Return a file of the repository as a block of code; nothing if it is not there yet."""
    path, _, language = what.partition(" ")
    content = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
    return f"````{language}\n{content}\n````" if content else ""


class Current:
    """The site that is being built."""

    site: Site


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let anchors be those that GitHub makes of headings."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Find the places of all files, and add those that are linked."""
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    try:
        site = Site(pages)
        for page, text in pages.items():
            site.text(page, text)
    except BrokenLinkError as error:
        raise PluginError(str(error)) from error
    if site.broken:
        raise PluginError("\n".join(sorted(site.broken)))
    for path, place in sorted(site.linked.items()):
        if place.endswith(".md"):
            language = SHOWN[Path(path).suffix]
            content = (ROOT / path).read_text(encoding="utf-8")
            text = (
                f"---\ntitle: {path}\nsearch: {{exclude: true}}\n---\n# `{path}`\n\n````{language}\n{content}\n````\n"
            )
            made = File.generated(config, place, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
        else:
            made = File.generated(config, place, abs_src_path=str(ROOT / path))
        files.append(made)
    Current.site = site
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs names them
    """Return the text of a page with all that it includes."""
    if page.file.src_uri.startswith("source/"):
        return markdown
    return Current.site.text(page.file.src_uri, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the leaderboard and the report of the home page beside the pages."""
    live = Path(config.site_dir) / "live" / "report.html"
    live.parent.mkdir(exist_ok=True)
    live.write_bytes(live_report.page())
    write_site(read_board(ROOT / "reports" / "leaderboard"), Path(config.site_dir) / "leaderboard", "../index.html")
