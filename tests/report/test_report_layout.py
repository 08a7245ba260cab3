"""The page in a real browser: its first screen, wide and narrow, on paper, for everybody, and with many rows."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from report_browser import AT_THE_TOP, NAMES, at_width, opened, report_in_browser, seen, settle
from report_data import METRICS, build, correlated, few

from tokbench.comparison.compare import compare
from tokbench.comparison.gate import Rule, check_rules
from tokbench.comparison.render import ComparisonPage
from tokbench.comparison.render import html as comparison_html
from tokbench.formats import html
from tokbench.results.blocks import CorpusInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import NamedRun, Results
from tokbench.studies.validity.block import VALIDITY


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with report_in_browser(tmp_path_factory.mktemp("page")) as chrome:
        yield chrome


@pytest.mark.slow
def test_the_first_screen_has_the_sentence_the_bars_and_the_front_and_the_page_is_short(browser):
    at_width(browser, 1400)
    opened(browser)
    ends = "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent ?? e.ownerSVGElement ?? e.getClientRects().length).map(e => e.getBoundingClientRect().bottom)"
    for selector in (".headline", "#first-0 .broad svg.ranking .top", "#first-0 .broad svg.front"):
        places = browser.execute_script(ends, selector)
        assert places, selector
        assert max(places) <= 900, selector
    assert browser.execute_script("return document.documentElement.scrollHeight") < 6000


@pytest.mark.slow
def test_a_phone_shows_the_sentence_and_the_best_bar_first_and_nothing_is_cut_off(browser):
    at_width(browser, 400)
    opened(browser)
    bottom = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    for selector in (".headline", "#first-0 .narrow svg.ranking .top"):
        assert browser.execute_script(bottom, selector) <= 800, selector
    assert seen(browser, "#first-0 .broad svg.ranking") == []
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) == 0
    at_width(browser, 1400)


@pytest.mark.slow
def test_what_to_know_opens_at_the_badge_and_a_link_unfolds_its_section(browser):
    opened(browser)
    assert not browser.find_element("css selector", ".cautions .notes").is_displayed()
    browser.find_element("css selector", ".cautions summary").click()
    assert len(seen(browser, ".cautions li")) > 1
    browser.find_element("css selector", "#first-0").click()
    assert not browser.find_element("css selector", ".cautions .notes").is_displayed()
    assert not browser.execute_script("return document.querySelector('#losses .fold').open")
    browser.find_element("css selector", "nav a[href='#losses']").click()
    settle(browser)
    assert browser.execute_script("return document.querySelector('#losses .fold').open")
    assert browser.execute_script(AT_THE_TOP, "losses")


@pytest.mark.slow
@pytest.mark.parametrize("width", [420, 1400])
def test_the_overview_fits_and_its_columns_are_chosen(browser, width):
    at_width(browser, width)
    opened(browser, "cols=")
    wide = "const b = document.querySelector('#overview-0 .box'); return [b.scrollWidth - b.clientWidth, document.documentElement.scrollWidth - document.documentElement.clientWidth]"
    assert max(browser.execute_script(wide)) <= 0
    heads = seen(browser, "#overview-0 thead .key")
    assert heads[0] == "tokenizer"
    assert heads[1] == ("compression" if width == 420 else "backend")
    every = len(browser.find_elements("css selector", "#overview-0 thead .key"))
    assert len(heads) < every or width == 1400
    assert seen(browser, "#overview-0 summary") == [f"Columns: {len(heads) - 1} of {every - 1} shown"]
    browser.execute_script("document.querySelector('#overview-0 summary').click()")
    boxes = browser.find_elements("css selector", "#overview-0 .columns input")
    browser.execute_script("arguments[0].click()", next(box for box in boxes if not box.is_selected() or width == 1400))
    assert seen(browser, "#overview-0 thead .key") != heads
    assert "cols=" in browser.current_url
    at_width(browser, 1400)


@pytest.mark.slow
@pytest.mark.parametrize("unfolded", [False, True])
def test_print_has_what_is_open_cuts_nothing_off_and_has_no_controls(browser, unfolded):
    at_width(browser, 800)
    opened(browser)
    sections = seen(browser, ".fold > summary")
    if unfolded:
        browser.execute_script("for (const fold of document.querySelectorAll('.fold')) fold.open = true")
        settle(browser)
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert seen(browser, ".fold > summary") == (sections if unfolded else ["Overview", "By group"])
    assert seen(browser, "nav, .tools, .choose, .columns, dialog, #token-info, td button:not(.key)") == []
    paper = {"width": 1031, "height": 703, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", paper)
    wide = "return [...document.querySelectorAll('html, .box, table, figure svg, pre')].map(e => [e.id || e.tagName, Math.round(e.getBoundingClientRect().right) - document.documentElement.clientWidth]).filter(e => e[1] > 0)"
    assert browser.execute_script(wide) == [], "nothing is cut off at the right edge of the paper"
    assert len(seen(browser, "#overview-0 thead th")) > 6, "the overview has the columns that fit on paper"
    clipped = "return [...document.querySelectorAll('.box')].filter(e => e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflowY !== 'visible').length"
    assert browser.execute_script(clipped) == 0, "no table scrolls on paper"
    at_width(browser, 1400)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("dispatchEvent(new Event('afterprint'))")


@pytest.fixture(scope="module")
def small(browser, tmp_path_factory):
    """The address of a report with every section and few rows, because the engine looks at each."""
    path = tmp_path_factory.mktemp("small") / "report.html"
    results = few(build(hostile=False), ("code", "pud"))
    shown = {WHOLE, "en", "th", "python", "rust"}
    results.cells = [cell for cell in results.cells if cell.group in shown]
    results.studies.put(VALIDITY, [correlated(results)])
    path.write_text(html.render(results), encoding="utf-8", errors="backslashreplace")
    return path.as_uri()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_accessibility_engine_finds_nothing_serious(browser, small, theme):
    axe_core = pytest.importorskip("axe_core_python")
    browser.get(f"{small}#theme={theme}")
    settle(browser)
    browser.execute_script((Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    browser.set_script_timeout(120)
    # The themes differ in nothing but their colours.
    options = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if theme == "dark" else {})
    run = "const [options, done] = arguments; axe.run(document, options).then(done, (e) => done({error: String(e)}))"
    found = browser.execute_async_script(run, options)
    assert len(found["passes"]) > (20 if theme == "light" else 0)
    grave = [
        (each["id"], each["nodes"][0]["html"])
        for each in found["violations"]
        if each["impact"] in {"serious", "critical"}
    ]
    assert grave == []


def large() -> Results:
    """A run of forty tokenizers over two hundred groups, with six metrics of each."""
    groups = {f"group-{k:03}": 60 + k for k in range(200)}
    names = [f"tokenizer-{k:02}" for k in range(40)]
    rng = random.Random(40)
    results = Results(name="large", metrics=build(hostile=False).metrics, corpora={"c": CorpusInfo(groups=groups)})
    results.tokenizers = {name: TokenizerInfo(backend="b", vocab_size=1000 * k) for k, name in enumerate(names, 1)}
    for metric, (_, unit, _, _) in list(METRICS.items())[:6]:
        for name in names:
            for group in [WHOLE, *groups]:
                value = 1.0 if metric == "roundtrip_exact" else rng.uniform(1, 4)
                results.cells.append(Cell(name, "c", group, metric, value, unit, value * 0.99, value * 1.01, 60))
    return results


@pytest.mark.slow
def test_forty_tokenizers_and_two_hundred_groups_stay_usable(browser, tmp_path):
    page = html.render(large()).encode()
    assert len(page) < 8_000_000
    path = tmp_path / "large.html"
    path.write_bytes(page)
    browser.get("about:blank")
    browser.get(path.as_uri())
    settle(browser)
    paint = browser.execute_script("return performance.getEntriesByType('paint').map(e => [e.name, e.startTime])")
    print(f"{len(page) / 1e6:.2f} MB, {dict(paint)} ms")  # noqa: T201 - a time is told and not tested
    assert [name for name, _ in paint] != []
    assert len(seen(browser, NAMES)) == 40
    assert len(seen(browser, "#groups .heat tbody th")) == 1 + 200
    box = browser.find_element("css selector", "[data-state=groups]")
    box.send_keys("group-01")
    settle(browser)
    assert len(seen(browser, "#groups .heat tbody th")) == 1 + 10
    browser.execute_script("location.hash = 'metric=fertility&tok=tokenizer-3&groups=group-1'")
    settle(browser)
    assert seen(browser, "#groups .heat caption a") == ["fertility"]
    assert (len(seen(browser, "#groups .heat thead th")), len(seen(browser, "#groups .heat tbody th"))) == (11, 101)
    first = browser.find_element("css selector", "#groups .heat td[title]")
    browser.execute_script("arguments[0].click()", first)
    assert "95 % interval" in seen(browser, "dialog > div")[0]
    browser.execute_script("document.querySelector('dialog').close()")
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []


@pytest.fixture(scope="module")
def comparison(browser, tmp_path_factory):
    """The page of a comparison in which tokens have doubled, opened in the browser."""
    before, after = build(hostile=False), build(hostile=False)
    after.cells = [replace(each, value=each.value and 2 * each.value) for each in after.cells]
    compared = compare(NamedRun("before", before), NamedRun("after", after))
    rule = next(each.metric for each in compared.changes if each.difference)
    failed = check_rules([Rule.parse(f"{rule}[each] > 0")], compared)
    path = tmp_path_factory.mktemp("comparison") / "comparison.html"
    path.write_text(comparison_html(ComparisonPage(compared, failed, 1)), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


@pytest.mark.slow
@pytest.mark.parametrize("width", [420, 1400])
def test_a_comparison_is_read_without_scrolling_sideways(comparison, width):
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    comparison.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wide = "return [document.documentElement, ...document.querySelectorAll('.box')].map(e => e.scrollWidth - e.clientWidth)"
    found = comparison.execute_script(wide)
    assert len(found) > 2
    assert max(found) <= 0
    label = "return getComputedStyle(document.querySelector('[data-head=before]'), '::before').content"
    assert ("before" in comparison.execute_script(label)) == (width == 420)
