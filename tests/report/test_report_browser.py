"""The page in a real browser, from disk and without network: its script runs under its own policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import chromium
from report_data import build, few

from tokbench.formats import html
from tokbench.results.cells import WHOLE
from tokbench.studies.tokens.section import TokenViews

webdriver = pytest.importorskip("selenium.webdriver")
pytestmark = [pytest.mark.slow, pytest.mark.one_of_file]
NAMES = "#overview-0 tbody th"
MAPS = "#groups .heat"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Show a report with every widget."""
    folder = tmp_path_factory.mktemp("page")
    with chromium(folder / "profile") as chrome:
        chrome.text = html.render(build())
        (folder / "report.html").write_text(chrome.text, encoding="utf-8", errors="backslashreplace")
        chrome.report = (folder / "report.html").as_uri()
        yield chrome


def opened(browser, link="", width=1400):
    """Open the report again with what a link says, and wait until nothing is being unpacked."""
    at_width(browser, width)
    browser.get("about:blank")
    browser.get(browser.report + (f"#{link}" if link else ""))
    settle(browser)


def settle(browser):
    wait = "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => done()), 150)"
    browser.execute_async_script(wait)


def at_width(browser, width):
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    settle(browser)


def ask(browser, expression, *arguments):
    return browser.execute_script(f"return {expression}", *arguments)


def seen(browser, selector):
    """Return the texts of what is shown of a selector."""
    shown = "[...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent).map(e => e.textContent.trim())"
    return ask(browser, shown, selector)


def at_the_top(browser, place):
    script = """
    const top = document.getElementById(arguments[0]).getBoundingClientRect().top;
    return top > -2 && (top < innerHeight / 2 || scrollY + innerHeight >= document.documentElement.scrollHeight - 2);
    """
    return browser.execute_script(script, place)


def test_the_first_screen_has_sentence_bars_and_front(browser):
    for width, height, charts in (
        (1400, 900, ["#answer .broad svg.ranking .top", "#answer .broad svg.front"]),
        (400, 800, ["#answer .ranks"]),
    ):
        opened(browser, width=width)
        for selector in (".headline", *charts):
            bottom = ask(browser, "document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)
            assert 0 < bottom <= height, selector
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert ask(browser, wide) == 0
    assert seen(browser, "#answer .broad svg.ranking") == []


def test_a_header_sorts_and_lossy_and_missing_values_are_last(browser):
    opened(browser)
    button = "[...document.querySelectorAll('#overview-0 th[data-sort=number]')].find(e => e.dataset.column === 'compression_ratio@pud')"
    values = f"""[...document.querySelectorAll('#overview-0 tbody tr')].map(row => row.cells[{button}.cellIndex])
        .map(cell => [cell.dataset.v ?? null, 'aside' in cell.dataset])"""
    orders = set()
    for _ in range(2):
        browser.execute_script(f"{button}.querySelector('button').click()")
        order, cells = ask(browser, f"{button}.getAttribute('aria-sort')"), ask(browser, values)
        orders.add(order)
        fair = [float(value) for value, aside in cells if value and not aside]
        lossy = [float(value) for value, aside in cells if value and aside]
        assert (len(fair), len(lossy)) == (10, 2)
        down = order == "descending"
        expected = [*sorted(fair, reverse=down), *sorted(lossy, reverse=down)]
        assert [float(value) for value, _ in cells[:12]] == expected
        assert {value for value, _ in cells[12:]} == {None}
    assert orders == {"ascending", "descending"}


LOSSY_CELLS = """
const cells = [...document.querySelectorAll("td")].filter((cell) => cell.querySelector("sup")?.textContent.includes("‡"));
const shown = (cell) => Number(getComputedStyle(cell).fontWeight) >= 550 || cell.classList.contains("best");
return [cells.length, cells.filter(shown).length, cells.filter((cell) => /\\bh[0-8]\\b/.test(cell.className)).length];
"""


def test_lossy_missing_and_harmful_cells_look_like_it(browser):
    opened(browser)
    lossy, bold, coloured = browser.execute_script(LOSSY_CELLS)
    assert (lossy > 40, bold, coloured) == (True, 0, 0)
    mark = "[...document.querySelectorAll(`#overview td.none${arguments[0]}`)].map(e => [e.textContent.trim(), getComputedStyle(e, '::before').content.includes('✕')])"
    missed, other = (ask(browser, mark, each) for each in (".missed", ":not(.missed)"))
    assert {word for word, _ in missed} >= {"timeout", "unavailable", "failed"}
    assert (all(crossed for _, crossed in missed), any(crossed for _, crossed in other)) == (True, False)
    assert ask(browser, "document.querySelectorAll('td script, th script, td img').length") == 0
    assert "<script>" in browser.find_element("css selector", "body").text


STATIC = """
const page = new DOMParser().parseFromString(arguments[0], "text/html");
return [...page.querySelectorAll("#tokens-shown .cut")].map((cut) => cut.outerHTML.replace(/>\\s+</g, "><"));
"""
SHOWN = 'document.querySelector("#tokens-shown").innerHTML.replace(/>\\s+</g, "><")'
CHOOSE = """
const [select, done] = [document.getElementById("tokens-text"), arguments[1]];
const changed = new MutationObserver(() => { changed.disconnect(); done(); });
changed.observe(document.getElementById("tokens-shown"), { childList: true });
select.value = arguments[0];
select.dispatchEvent(new Event("change"));
"""


def test_the_script_shows_tokens_like_the_page_without_it(browser):
    opened(browser)
    static = browser.execute_script(STATIC, browser.text)
    shown = TokenViews(build())
    for expected, view in list(zip(static, shown.first_texts, strict=True))[:3]:
        browser.execute_async_script(CHOOSE, str(shown.page.index(view)))
        assert ask(browser, SHOWN) == expected


def test_a_link_has_all_that_the_reader_chose(browser):
    opened(browser, "tok=gpt4,cl100k,-8k&groups=thai,de&metric=fertility&corpus=pud&theme=dark&sort=backend:descending")
    assert set(seen(browser, NAMES)) == {"gpt4-4k", "cl100k", "cl100k-splintr"}
    backends = seen(browser, "#overview-0 tbody td:nth-child(2)")
    assert backends == sorted(backends, reverse=True)
    assert seen(browser, f"{MAPS} caption a") == ["fertility"]
    assert [each[:2] for each in seen(browser, f"{MAPS} tbody th")] == ["de", "th"]
    assert len(seen(browser, f"{MAPS} thead th")) == 1 + 3
    assert ask(browser, "getComputedStyle(document.documentElement).backgroundColor") == "rgb(21, 24, 27)"
    assert ask(browser, "[...document.querySelectorAll('[data-state=groups]')].map(e => e.value)") == ["thai,de"]


def test_typing_and_links_are_steps_of_the_history(browser):
    opened(browser)
    every = len(seen(browser, NAMES))
    browser.find_element("css selector", "body").send_keys("/")
    assert browser.switch_to.active_element.get_attribute("data-state") == "tok"
    browser.switch_to.active_element.send_keys("gpt4")
    assert browser.current_url.endswith("#tok=gpt4")
    assert seen(browser, "#shown") == [f"2 of {every} tokenizers"]
    browser.execute_script("location.hash = 'tok=o200k&metric=fertility&at=definitions'")
    settle(browser)
    assert seen(browser, NAMES) == ["o200k"]
    assert seen(browser, f"{MAPS} caption a") == ["fertility"]
    assert at_the_top(browser, "definitions")
    for step, names in (("back", 2), ("back", every), ("forward", 2)):
        getattr(browser, step)()
        settle(browser)
        assert len(seen(browser, NAMES)) == names, step


def test_one_heat_map_at_a_time_sorts_by_a_tokenizer(browser):
    opened(browser)
    for link, shown in (("corpus=code&metric=cer", "cer"), ("at=", "compression")):
        browser.execute_script("location.hash = arguments[0]", link)
        settle(browser)
        assert len(browser.find_elements("css selector", "table.heat:not(#pairs table)")) == 1
        assert seen(browser, f"{MAPS} caption a") == [shown]
    click = f"[...document.querySelectorAll('{MAPS} thead button')].find(e => e.textContent === 'o200k').click()"
    for order in ("descending", "ascending"):
        browser.execute_script(click)
        column = ask(browser, f"document.querySelector('{MAPS} [aria-sort]').cellIndex + 1")
        _, *cells = seen(browser, f"{MAPS} tbody td:nth-child({column})")
        values = [0.0 if cell.startswith("best") else float(cell.partition("%")[0]) for cell in cells]
        assert len(values) == 9
        assert values == sorted(values, reverse=order == "descending")
        assert seen(browser, f"{MAPS} tbody th")[0] == "whole corpus"


def test_every_number_and_point_opens_by_keyboard(browser):
    opened(browser)
    keys = webdriver.Keys
    alike = browser.find_element("css selector", "#overview-0 td[tabindex='0']")
    browser.execute_script("arguments[0].focus()", alike)  # a mean over texts, without an interval
    browser.switch_to.active_element.send_keys(keys.ARROW_RIGHT)
    first = browser.switch_to.active_element
    for key in (keys.ARROW_DOWN, keys.ARROW_RIGHT, keys.ARROW_LEFT, keys.ARROW_UP):
        browser.switch_to.active_element.send_keys(key)
    assert browser.switch_to.active_element == first
    browser.switch_to.active_element.send_keys(keys.ENTER)
    [text] = seen(browser, "dialog > div")
    assert seen(browser, "dialog .large") == [first.text.splitlines()[0]]
    assert seen(browser, "dialog h3") == ["compression_ratio"]
    assert [part for part in ("95% interval", "bytes/token", "Σ of compression_ratio") if part not in text] == []
    browser.switch_to.active_element.send_keys(keys.ESCAPE)
    assert browser.switch_to.active_element == first
    point = browser.find_element("css selector", "#tradeoff figure svg[role=group] [tabindex='0']")
    browser.execute_script("arguments[0].focus()", point)
    browser.switch_to.active_element.send_keys(keys.ARROW_RIGHT)
    assert browser.switch_to.active_element != point
    browser.switch_to.active_element.send_keys(keys.ENTER)
    assert "bytes/token" in seen(browser, "dialog > div")[0]


def test_the_overview_fits_and_its_columns_are_chosen(browser):
    opened(browser, "cols=", 420)
    boxes = (
        "[document.documentElement, document.querySelector('#overview-0 .box')].map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(ask(browser, boxes)) <= 0
    heads, every = (
        seen(browser, "#overview-0 thead .key"),
        len(browser.find_elements("css selector", "#overview-0 thead .key")),
    )
    assert heads[:2] == ["tokenizer", "compression"]
    assert seen(browser, "#overview-0 summary") == [f"Columns: {len(heads) - 1} of {every - 1} shown"]
    browser.execute_script("document.querySelector('#overview-0 summary').click()")
    browser.execute_script(
        "[...document.querySelectorAll('#overview-0 .columns input')].find(box => !box.checked).click()"
    )
    assert len(seen(browser, "#overview-0 thead .key")) == len(heads) + 1
    assert "cols=" in browser.current_url


def test_print_cuts_nothing_off_and_has_no_controls(browser):
    opened(browser, width=800)
    sections = seen(browser, ".fold > summary")
    browser.execute_script("for (const fold of document.querySelectorAll('.fold')) fold.open = true")
    settle(browser)
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert seen(browser, ".fold > summary") == sections
    assert seen(browser, "nav, .tools, .choose, .columns, dialog, #token-info, td button:not(.key)") == []
    paper = {"width": 1031, "height": 703, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", paper)
    wide = "[...document.querySelectorAll('html, .box, table, figure svg, pre')].map(e => [e.id || e.tagName, Math.round(e.getBoundingClientRect().right) - document.documentElement.clientWidth]).filter(e => e[1] > 0)"
    assert ask(browser, wide) == []
    clipped = "[...document.querySelectorAll('.box')].filter(e => e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflowY !== 'visible').length"
    assert ask(browser, clipped) == 0, "no table scrolls on paper"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_an_accessibility_engine_finds_nothing_serious(browser, tmp_path):
    axe_core = pytest.importorskip("axe_core_python")
    engine = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    results = few(build(hostile=False))
    results.cells = [cell for cell in results.cells if cell.group in {WHOLE, "python"}]
    path = tmp_path / "small.html"  # the engine looks at each row
    path.write_text(html.render(results), encoding="utf-8", errors="backslashreplace")
    for theme in ("light", "dark"):  # which differ in nothing but their colours
        browser.get("about:blank")
        browser.get(f"{path.as_uri()}#theme={theme}")
        settle(browser)
        browser.execute_script(engine)
        options = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if theme == "dark" else {})
        run = (
            "const [options, done] = arguments; axe.run(document, options).then(done, (e) => done({error: String(e)}))"
        )
        answer = browser.execute_async_script(run, options)
        assert len(answer["passes"]) > (20 if theme == "light" else 0)
        assert [each["id"] for each in answer["violations"] if each["impact"] in {"serious", "critical"}] == []


def test_nothing_was_asked_of_the_network_and_nothing_complained(browser):
    opened(browser, "tok=gpt4&metric=fertility")
    assert ask(browser, "performance.getEntriesByType('resource').map(e => e.name)") == []
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []
