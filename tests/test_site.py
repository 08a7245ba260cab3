"""The public site: its pages are whole, its links hold, its commands run, and a browser finds nothing wrong with it."""

import csv
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import definitions
import pictures
import public_names
import pytest
import yaml
from chromium import chromium
from readme_tables import ROOT
from test_page_commands import CHOOSE, run_page
from test_readme import blocks, read

from tokbench.foundation.packages import is_own
from tokbench.registry.plugins import load_registry

SITE = ROOT / "reports" / "site"
DOCS = SITE / "docs"

if not SITE.is_dir():
    pytest.skip("the sources of the site are not here", allow_module_level=True)

PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def nav_of(part):
    """Yield the pages of a navigation, depth first."""
    for entry in part if isinstance(part, list) else part.values() if isinstance(part, dict) else [part]:
        yield from [entry] if isinstance(entry, str) else nav_of(entry)


def test_every_page_is_in_the_navigation():
    text = read(SITE / "mkdocs.yml")
    pages = [page for page in nav_of(yaml.safe_load(text)["nav"]) if not page.startswith("notes/")]
    assert sorted(pages) == PAGES
    assert len(PAGES) <= 45


QUESTIONS = sorted((DOCS / "questions").glob("*.md"))


@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_a_question_is_one_screen_with_its_limits(path):
    text = read(path)
    assert "```sh\n" in text
    assert "**What the number is.**" in text or "**What the marks are.**" in text
    assert re.search(r"\*\*What (?:it cannot|no number here) say", text)
    assert len(re.sub(r"\(\S+\)|[|]", "", text).split()) <= 300


@pytest.mark.packages
def test_each_family_of_metrics_has_notes_and_one_place():
    groups = re.findall(r"<!-- families (.+) -->", read(DOCS / "reference" / "metrics.md"))
    families = load_registry().metrics.entries
    ours = sorted(name for name, entry in families.items() if entry.spec.values and is_own(entry.plugin.distribution))
    assert sorted(name for names in groups for name in names.split()) == ours
    assert sorted(definitions.notes()) == ours
    assert all(note["misleads"] for note in definitions.notes().values())


@pytest.mark.packages
def test_typical_values_are_of_metrics_that_exist():
    ids = {metric.id for spec in definitions.every_family().values() for metric in spec.values}
    with (SITE / "typical.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 200
    assert {row["metric"] for row in rows} <= ids | {"words"}
    for row in rows:
        assert float(row["lowest"]) <= float(row["median"]) <= float(row["highest"])


def test_every_public_name_is_in_the_reference():
    import tokbench.plugin
    import tokbench.testing

    for module in (tokbench, tokbench.plugin, tokbench.testing):
        names = set(module.__all__) - {"__version__"}
        assert names == set(public_names.public_names(module.__name__)) - {"__version__"}


@pytest.mark.nightly
@pytest.mark.slow
def test_the_tutorial_runs_and_measures_what_it_shows(tmp_path):
    pytest.importorskip("splintr")
    (tmp_path / "texts").mkdir()
    said = run_page(CHOOSE, tmp_path)
    assert len(said) == 8
    answers = [" ".join(text.split()) for line, text in said.items() if line.startswith("tokbench run")]
    assert ["the fewest tokens" in answer for answer in answers] == [True, True]
    if sys.version_info[:2] != (3, 11):
        return  # the text is the manual of Python 3.11
    assert re.search(r"gemma-3 and gpt-4o tie for the fewest tokens: 4\.92 .*; llama-3 uses 16% more", answers[0])
    assert re.search(r"gpt-4o uses the fewest tokens: 4\.37 .*; llama-3 uses 3% more", answers[1])
    with (tmp_path / "reports" / "choose" / "results.csv").open(encoding="utf-8", newline="") as file:
        ratios = {
            (row["tokenizer"], row["group"]): f"{float(row['value']):.2f}"
            for row in csv.DictReader(file)
            if row["metric"] == "compression_ratio"
        }
    shown = re.search(r"<!-- choose -->\n(.*?)<!-- /choose -->", read(DOCS / "choose.md"), re.DOTALL)[1].splitlines()
    columns = [cell.strip() for cell in shown[0].strip("|").split("|")]
    for row in shown[2:]:
        name, *values = (cell.strip() for cell in row.strip("|").split("|"))
        assert values == [ratios[name, group] for group in columns[1:]]


@pytest.mark.packages
@pytest.mark.parametrize("block", blocks(DOCS / "studies" / "index.md", "yaml"), ids=lambda block: block.split("\n")[1])
def test_the_configurations_of_the_gallery_are_right_and_short(block, tmp_path):
    from tokbench.config.read import read_config
    from tokbench.engine.planning import make_plan

    pytest.importorskip("splintr")
    assert len(block.splitlines()) <= 10
    (tmp_path / "gallery.yaml").write_text(block, encoding="utf-8")
    plan = make_plan(read_config(tmp_path / "gallery.yaml"), load_registry(), lambda step, done, total: None)
    assert [str(problem) for problem in plan.problems] == []


def test_no_picture_is_older_than_what_it_is_made_from():
    shown = [*(ROOT / "reports").glob("*.png"), *(DOCS / "assets").glob("*.webp"), *(DOCS / "assets").glob("*.svg")]
    assert {path.relative_to(ROOT).as_posix() for path in shown} == set(pictures.PICTURES)
    now = [f"{pictures.made_from(picture)}  {name}" for name, picture in pictures.PICTURES.items()]
    assert read(pictures.HASHES).splitlines() == now, "make them again with: python reports/site/pictures.py"


class Tags(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.title = set(), [], [], 0
        self.feed(read(path))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.title += tag == "h1"
        self.ids |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        elif tag in {"img", "script", "iframe", "source"} and attrs.get("src"):
            self.loaded.append(attrs["src"])
        elif tag == "link" and attrs.get("rel") in {"stylesheet", "icon", "preload", "preconnect"}:
            self.loaded.append(attrs["href"])


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The site, built as strictly as CI builds it; TOKBENCH_SITE names the folder of one that is built already."""
    if done := os.environ.get("TOKBENCH_SITE"):
        return Path(done)
    for module in ("mkdocs", "material", "mkdocstrings", "mkdocs_click"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("site") / "html"
    build = ["mkdocs", "build", "-q", "-f", str(SITE / "mkdocs.yml"), "--strict", "-d", str(folder)]
    command = [sys.executable, "-m", *build]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def tags(html):
    return {path: Tags(path) for path in sorted(html.rglob("*.html"))}


@pytest.mark.slow
def test_every_page_is_built(html, tags):
    built = {path.relative_to(html).with_suffix(".md").as_posix() for path in tags}
    assert set(PAGES) <= built
    assert {
        page for page in built - set(PAGES) if not page.startswith(("source/", "notes/", "leaderboard/", "live/"))
    } == {"404.md"}
    assert [path for path, page in tags.items() if page.title != 1] == []
    assert {"family-vocabulary", "family-speed"} <= tags[html / "reference" / "metrics.html"].ids
    assert "uses the fewest tokens" in read(html / "index.html")


@pytest.mark.slow
def test_links_lead_somewhere_and_nothing_comes_from_afar(html, tags):
    broken, afar = [], []
    for path, page in tags.items():
        afar += [(path.name, source) for source in page.loaded if re.match(r"(?:[a-z]+:)?//", source)]
        for link in [*page.links, *page.loaded]:
            target, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:|//", target) or path.name == "404.html":
                continue
            file = (path.parent / target.partition("?")[0]).resolve() if target else path
            ids = tags[file].ids if file in tags else set()
            if not file.is_file() or (anchor and file.suffix == ".html" and anchor not in ids):
                broken.append((path.relative_to(html), link))
    assert broken == []
    assert afar == []


@pytest.fixture(scope="module")
def browser(html, tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


KINDS = (
    *("choose.md", "index.md", "reference/backends.md", "extend/backend.md", "reference/metrics.md"),
    *("reference/commands.md", "questions/which.md", "notes/reports/vocabularies/README.md"),
)
"""A page of each kind."""

CHECKED = ("index.md", "questions/which.md", "reference/commands.md")
"""The pages that axe looks at, some seconds each."""


@pytest.mark.one_of_file
@pytest.mark.slow
def test_pages_fit_a_telephone(html, browser):
    width = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", width)
    wide = []
    for page in KINDS:
        browser.get((html / page).with_suffix(".html").as_uri())
        if browser.execute_script("return document.documentElement.scrollWidth > innerWidth"):
            wide.append(page)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide == []
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.one_of_file
@pytest.mark.slow
@pytest.mark.parametrize("page", CHECKED)
def test_axe_finds_nothing_on_a_page(html, browser, page):
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    browser.set_script_timeout(300)
    browser.get((html / page).with_suffix(".html").as_uri())
    browser.execute_script("document.querySelector('iframe')?.remove()")  # the report has tests of its own
    found = axe.run(browser, options={"resultTypes": ["violations"]})["violations"]
    assert [(rule["id"], rule["impact"], rule["nodes"][0]["html"][:200]) for rule in found] == []


@pytest.mark.one_of_file
@pytest.mark.slow
def test_the_search_finds_a_metric_without_a_server(html, browser):
    browser.get((html / "index.html").as_uri() + "?q=renyi_efficiency")
    from selenium.webdriver.support.wait import WebDriverWait

    found = "return [...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
    links = WebDriverWait(browser, 60).until(lambda chrome: chrome.execute_script(found))
    assert any("reference/metrics.html" in link for link in links)
