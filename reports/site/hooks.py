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
from included import DIRECTIVE, ROOT, for_python_markdown, headings, included, read_file, relinked, slug
from leaderboard.board import read_board
from leaderboard.site import write_site
from public_names import reference

DOCS: Final = "reports/site/docs"
"""The folder of the pages."""

BUILT: Final = "live/"
"""The beginning of links to what is written after the pages."""

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
        owners: the page and the anchor by file and anchor; an empty anchor means the whole file.
        notes: the Markdown files that no page includes and a link leads to: their place on the site.
        linked: other files that are linked: their place on the site.
        broken: the links that lead nowhere, each with its file.
    """

    def __init__(self, pages: dict[str, str]) -> None:
        """Find what each page includes.

        Args:
            pages: the text of each page, by its path in the folder of pages.
        """
        self.owners: dict[tuple[str, str], tuple[str, str]] = {}
        self.notes: dict[str, str] = {}
        self.linked: dict[str, str] = {}
        self.broken: set[str] = set()
        for page, text in pages.items():
            self.owners[f"{DOCS}/{page}", ""] = (page, "")
            for heading in headings(text.splitlines()):
                self.owners[f"{DOCS}/{page}", heading.anchor] = (page, heading.anchor)
            for match in DIRECTIVE.finditer(text):
                self._owns(page, match[1], match[2])

    def _owns(self, page: str, kind: str, what: str) -> None:
        if kind == "families":
            for name in what.split():
                self.owners[f"{DOCS}/{page}", f"family-{name}"] = (page, f"family-{name}")
        elif kind == "include":
            self.owners[what, ""] = (page, "")
            for heading in read_file(ROOT / what)[1][1:]:
                self.owners[what, heading.anchor] = (page, heading.anchor)

    def place(self, target: str, file: str, page: str) -> str | None:
        """Return the target of a link as a page has it.

        Args:
            target: the target as the file has it.
            file: the path of the file in the repository.
            page: the page that shows it.

        Returns:
            A path from the page, or ``None`` if the link is to a folder that no page shows, or is broken.
        """
        if re.match(r"[a-z]+:", target) or target.startswith(BUILT):
            return target
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        if (ROOT / path / "README.md").is_file():
            path = posixpath.join(path, "README.md")
        if path.endswith(".md") and (path, anchor) not in self.owners:
            self._note(path)
        if (path, anchor) in self.owners:
            owner, place = self.owners[path, anchor]
            return posixpath.relpath(owner, posixpath.dirname(page)) + (f"#{place}" if place else "")
        if (ROOT / path).is_dir():
            return None
        if not (ROOT / path).is_file() or path.endswith(".md"):
            self.broken.add(f"{file}: the link to {target} leads nowhere")
            return None
        if path.startswith(f"{DOCS}/"):
            return posixpath.relpath(path.removeprefix(f"{DOCS}/"), posixpath.dirname(page))
        shown = Path(path).suffix in SHOWN and (ROOT / path).stat().st_size <= LARGEST
        self.linked[path] = f"source/{path}.md" if shown else f"files/{path}"
        self.linked[path] = self.linked[path].replace("/.", "/")  # MkDocs leaves out what begins with a dot
        return posixpath.relpath(self.linked[path], posixpath.dirname(page))

    def _note(self, path: str) -> None:
        """Give a Markdown file that is linked, and that no page includes, a page of its own."""
        if (ROOT / path).is_file() and path not in self.notes and not path.startswith(f"{DOCS}/"):
            self.notes[path] = f"notes/{path}".replace("/.", "/")
            self.owners[path, ""] = (self.notes[path], "")
            for heading in read_file(ROOT / path)[1][1:]:
                self.owners[path, heading.anchor] = (self.notes[path], heading.anchor)

    def note(self, path: str) -> str:
        """Return the text of the page of a linked Markdown file."""
        title = read_file(ROOT / path)[1][0].title
        return f"# {title}\n\n" + self._relinked(included(ROOT / path), path, self.notes[path])

    def text(self, page: str, written: str) -> str:
        """Return the text of a page with all that it includes."""

        def expand(match: re.Match[str]) -> str:
            kind, what = match[1], match[2]
            if kind == "answer":
                return live_report.answer()
            if kind == "code":
                return _code(what)
            if kind == "names":
                module, *rooms = what.split()
                return reference(module, rooms)
            if kind == "families":
                return definitions.families(what.split())
            return self._relinked(included(ROOT / what), what, page)

        of_page = self._relinked(for_python_markdown(written.splitlines()), f"{DOCS}/{page}", page)
        return DIRECTIVE.sub(expand, of_page)

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
    site = Site(pages)
    for page, text in pages.items():
        site.text(page, text)
    texts: dict[str, str] = {}
    while waiting := site.notes.keys() - texts.keys():
        texts |= {path: site.note(path) for path in waiting}
    if site.broken:
        raise PluginError("\n".join(sorted(site.broken)))
    for path, text in sorted(texts.items()):
        files.append(File.generated(config, site.notes[path], content=text, inclusion=InclusionLevel.NOT_IN_NAV))
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
    if page.file.src_uri.startswith(("notes/", "source/")):
        return markdown
    return Current.site.text(page.file.src_uri, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the leaderboard and the report of the home page beside the pages."""
    live = Path(config.site_dir) / "live" / "report.html"
    live.parent.mkdir(exist_ok=True)
    live.write_bytes(live_report.page())
    write_site(read_board(ROOT / "reports" / "leaderboard"), Path(config.site_dir) / "leaderboard", "../index.html")
