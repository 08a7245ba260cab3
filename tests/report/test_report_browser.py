"""The page in a real browser, from disk and without network: its script runs under its own policy."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from report_data import METRICS, build, correlated, few

from tokbench.comparison.compare import compare
from tokbench.comparison.gate import Rule, check_rules
from tokbench.comparison.render import ComparisonPage
from tokbench.comparison.render import html as comparison_html
from tokbench.formats import html
from tokbench.results.blocks import CorpusInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import NamedRun, Results
from tokbench.studies.tokens.section import TokenViews
from tokbench.studies.validity.block import VALIDITY

webdriver = pytest.importorskip("selenium.webdriver")
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,1000"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed")
    folder = tmp_path_factory.mktemp("page")
    page = html.render(build())
    (folder / "report.html").write_text(page, encoding="utf-8", errors="backslashreplace")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as chrome:
        chrome.report, chrome.page = (folder / "report.html").as_uri(), page
        chrome.get(chrome.report)
        yield chrome


@pytest.mark.slow
def test_the_browser_has_nothing_to_complain_about(browser):
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []


def column(browser, index):
    """Return the value by which each cell of a column is sorted, or ``None``, and whether it has a mark of losses."""
    cells = browser.find_elements("css selector", f"table.sortable tbody tr > :nth-child({index + 1})")
    first = browser.find_element("css selector", "table.sortable tbody")
    rows = len(first.find_elements("css selector", "tr"))
    return [(cell.get_attribute("data-v"), cell.get_attribute("data-aside") is not None) for cell in cells[:rows]]


@pytest.mark.slow
def test_a_click_on_a_header_sorts_and_lossy_and_missing_values_stay_last(browser):
    header = next(
        each
        for each in browser.find_elements("css selector", "table.sortable th[data-sort=number]")
        if "compression" in each.text
    )
    index = browser.execute_script("return arguments[0].cellIndex", header)
    for _ in range(2):
        header.find_element("css selector", "button").click()
        order = header.get_attribute("aria-sort")
        cells = column(browser, index)
        fair = [float(value) for value, aside in cells if value is not None and not aside]
        lossy = [float(value) for value, aside in cells if value is not None and aside]
        assert len(fair) > 10
        assert len(lossy) == 3
        assert [float(value) for value, _ in cells if value is not None] == [
            *sorted(fair, reverse=order == "descending"),
            *sorted(lossy, reverse=order == "descending"),
        ]
        assert [value for value, _ in cells[len(fair) + len(lossy) :]] == [None] * (len(cells) - len(fair + lossy))


@pytest.mark.slow
def test_a_choice_shows_its_own_pane(browser):
    buttons = browser.find_elements("css selector", ".choose button[data-shows]")
    button = next(each for each in buttons if each.get_attribute("aria-pressed") == "false")
    pane = browser.find_element("id", button.get_attribute("data-shows"))
    assert not pane.is_displayed()
    browser.execute_script("scrollTo(0, 0)")
    button.click()
    assert pane.is_displayed()


LOSSY_CELLS = """
const cells = [...document.querySelectorAll("td")].filter((cell) => cell.querySelector("sup")?.textContent.includes("‡"));
const shown = (cell) => Number(getComputedStyle(cell).fontWeight) >= 550 || cell.classList.contains("best");
return [cells.length, cells.filter(shown).length, cells.filter((cell) => /\\bh[0-8]\\b/.test(cell.className)).length];
"""


@pytest.mark.slow
def test_no_lossy_number_is_bold_or_has_a_colour(browser):
    lossy, bold, coloured = browser.execute_script(LOSSY_CELLS)
    assert lossy > 100
    assert (bold, coloured) == (0, 0)


@pytest.mark.slow
def test_hostile_text_is_shown_not_run(browser):
    assert browser.execute_script("return document.querySelectorAll('td script, th script, td img').length") == 0
    assert "<script>" in browser.find_element("css selector", "body").text


STATIC = """
const page = new DOMParser().parseFromString(arguments[0], "text/html");
return [...page.querySelectorAll("#tokens-shown .cut")].map((cut) => cut.outerHTML.replace(/>\\s+</g, "><"));
"""
SHOWN = 'return document.querySelector("#tokens-shown").innerHTML.replace(/>\\s+</g, "><")'
CHOOSE = """
const [select, done] = [document.getElementById("tokens-text"), arguments[1]];
const changed = new MutationObserver(() => { changed.disconnect(); done(); });
changed.observe(document.getElementById("tokens-shown"), { childList: true });
select.value = arguments[0];
select.dispatchEvent(new Event("change"));
"""


@pytest.mark.slow
def test_the_script_shows_tokens_as_the_page_without_it_does(browser):
    static = browser.execute_script(STATIC, browser.page)
    assert len(static) == 5
    shown = TokenViews(build())
    for expected, view in zip(static, shown.first_texts, strict=True):
        number = shown.page.index(view)
        option = browser.find_element("css selector", f"#tokens-text option[value='{number}']")
        assert option.get_attribute("textContent") == view.heading
        browser.execute_async_script(CHOOSE, str(number))
        assert browser.execute_script(SHOWN) == expected


@pytest.mark.slow
def test_tokens_are_chosen_compared_and_read_by_keyboard(browser):
    browser.execute_async_script(CHOOSE, "0")
    browser.execute_script("document.querySelector('#tokens .fold').open = true")
    # The mouse must not lie where a token comes to stand.
    webdriver.ActionChains(browser).move_to_element(browser.find_element("css selector", "h1")).perform()
    lines = browser.find_elements("css selector", "#tokens-shown .tokens")
    names = [each.text for each in browser.find_elements("css selector", "#tokens-shown h4 bdi")]
    assert names == ["cl100k", "o200k", "spm-bpe-4k"]
    browser.execute_script("arguments[0].focus()", lines[1])
    info = browser.find_element("id", "token-info")
    lines[1].send_keys("\ue014")
    token = lines[1].find_elements("css selector", ".token")[1]
    assert info.text == " ".join(f"{token.text} {token.get_attribute('title')}".split())
    assert "bytes a9 20" in info.text
    browser.execute_script("""
        for (const box of document.querySelectorAll("#tokens-names input"))
          box.checked = box.parentElement.textContent.trim() === "cl100k";
    """)
    browser.execute_async_script(CHOOSE, "0")
    assert not browser.find_elements("css selector", "#tokens-shown .differs"), "one alone differs from no other"
    cell = browser.find_element("css selector", "#tokens td[data-text] button")
    browser.execute_script("arguments[0].click()", cell)
    names = [each.text for each in browser.find_elements("css selector", "#tokens-shown h4 bdi")]
    assert names == ["cl100k", "o200k"], "a worst document is shown with the tokenizer that needs the fewest"
    link, heading = browser.current_url, browser.find_element("css selector", "#tokens-shown h3").text
    assert "text=" in link
    browser.get("about:blank")
    browser.get(link)
    WebDriverWait(browser, 5).until(lambda page: page.find_element("css selector", "#tokens-shown h3").text == heading)
    browser.get(link.partition("#")[0])


def opened(browser, link=""):
    """Open the report anew with what a link says, and wait until nothing is being unpacked."""
    address = browser.report + (f"#{link}" if link else "")
    browser.get("about:blank")
    browser.get(address)
    settle(browser)


def settle(browser):
    wait = "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => done()), 150)"
    browser.execute_async_script(wait)


def seen(browser, selector):
    """Return the texts of what is shown of a selector."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent).map(e => e.textContent.trim())"
    )
    return browser.execute_script(script, selector)


def at_width(browser, width):
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    settle(browser)


NAMES = "#overview-0 tbody th"


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
def test_a_link_has_all_that_the_reader_chose(browser):
    opened(browser, "tok=gpt4,cl100k,-8k&groups=thai,de&metric=fertility&corpus=pud&theme=dark&sort=backend:descending")
    names = seen(browser, NAMES)
    assert set(names) == {"gpt4-4k", "gpt4-16k", "gpt4-32k", "cl100k", "cl100k-splintr"}
    backends = seen(browser, "#overview-0 tbody td:nth-child(2)")
    assert backends == sorted(backends, reverse=True)
    assert seen(browser, "#groups .heat caption a") == ["fertility"]
    assert [each[:2] for each in seen(browser, "#groups .heat tbody th")] == ["de", "th"]
    assert len(seen(browser, "#groups .heat thead th")) == 1 + len(names)
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    assert browser.execute_script(ground) == "rgb(21, 24, 27)"
    assert [each.get_attribute("value") for each in browser.find_elements("css selector", "[data-state=groups]")] == [
        "thai,de"
    ]


@pytest.mark.slow
def test_typing_is_one_step_of_the_history_and_back_undoes_it(browser):
    opened(browser)
    every = len(seen(browser, NAMES))
    browser.find_element("css selector", "body").send_keys("/")
    assert browser.switch_to.active_element.get_attribute("data-state") == "tok"
    browser.switch_to.active_element.send_keys("gpt4")
    assert len(seen(browser, NAMES)) == 4
    assert browser.current_url.endswith("#tok=gpt4")
    assert seen(browser, "#shown") == [f"4 of {every} tokenizers"]
    browser.back()
    settle(browser)
    assert len(seen(browser, NAMES)) == every


AT_THE_TOP = """
const top = document.getElementById(arguments[0]).getBoundingClientRect().top;
return top > -2 && (top < innerHeight / 2 || scrollY + innerHeight >= document.documentElement.scrollHeight - 2);
"""


@pytest.mark.slow
def test_a_link_put_into_the_open_report_shows_its_place_and_back_leads_back(browser):
    opened(browser)
    every = seen(browser, NAMES)
    browser.get(f"{browser.report}#tok=gpt4&corpus=pud&metric=fertility&text=1&at=losses")
    settle(browser)
    assert set(seen(browser, NAMES)) == {"gpt4-4k", "gpt4-8k", "gpt4-16k", "gpt4-32k"}
    assert seen(browser, "#groups .heat caption a") == ["fertility"]
    assert browser.execute_script(AT_THE_TOP, "losses")
    heading = browser.execute_script("return document.querySelector('#tokens-text').selectedOptions[0].textContent")
    assert seen(browser, "#tokens-shown h3") == [heading]
    browser.execute_script("location.hash = 'tok=o200k&at=definitions'")
    settle(browser)
    assert seen(browser, NAMES) == ["o200k"]
    assert seen(browser, "#groups .heat caption a") == ["compression"], "the link does not name another"
    assert browser.execute_script(AT_THE_TOP, "definitions")
    for step, names in (("back", 4), ("back", len(every)), ("forward", 4), ("forward", 1)):
        getattr(browser, step)()
        settle(browser)
        assert len(seen(browser, NAMES)) == names, step
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []


@pytest.mark.slow
def test_one_heat_map_is_in_the_page_at_a_time(browser):
    opened(browser)
    for link, shown in (
        ("", "compression"),
        ("metric=fertility", "fertility"),
        ("corpus=code&metric=cer", "cer"),
        ("", "compression"),
    ):
        browser.execute_script("location.hash = arguments[0] || '#at='", link)
        settle(browser)
        maps = browser.find_elements("css selector", "table.heat:not(#pairs table)")
        assert len(maps) == 1
        assert seen(browser, "#groups .heat caption a") == [shown]


@pytest.mark.slow
def test_a_heat_map_is_sorted_by_a_tokenizer(browser):
    opened(browser)
    click = "[...document.querySelectorAll('#groups .heat thead button')].find(e => e.textContent === 'o200k').click()"
    for order in ("ascending", "descending"):
        browser.execute_script(click)
        column = browser.execute_script("return document.querySelector('#groups .heat [aria-sort]').cellIndex + 1")
        _, *cells = seen(browser, f"#groups .heat tbody td:nth-child({column})")
        values = [float(each.rstrip("†‡?•")) for each in cells]
        assert len(values) > 20
        assert values == sorted(values, reverse=order == "descending")
        assert seen(browser, "#groups .heat tbody th")[0] == "whole corpus"


@pytest.mark.slow
def test_every_number_and_point_opens_by_keyboard(browser):
    opened(browser)
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    first = browser.find_element("css selector", "#overview-0 td[tabindex='0']")
    browser.execute_script("arguments[0].focus()", first)
    for key in (keys.ARROW_DOWN, keys.ARROW_RIGHT, keys.ARROW_LEFT, keys.ARROW_UP):
        browser.switch_to.active_element.send_keys(key)
    assert browser.switch_to.active_element == first
    assert len(browser.find_elements("css selector", "#overview-0 td[tabindex='0']")) == 1
    browser.switch_to.active_element.send_keys(keys.ENTER)
    [text] = seen(browser, "dialog > div")
    assert seen(browser, "dialog .large") == [first.text.splitlines()[0]]
    assert seen(browser, "dialog h3") == ["compression_ratio"]
    for part in (
        "95 % interval",
        "documents",
        "bytes/token",
        "Formula: Σ bytes / Σ tokens",
        "better: higher",
        "compression",
    ):
        assert part in text
    browser.switch_to.active_element.send_keys(keys.ESCAPE)
    assert seen(browser, "dialog > div") == []
    assert browser.switch_to.active_element == first
    point = browser.find_element("css selector", "#tradeoff figure svg[role=group] [tabindex='0']")
    browser.execute_script("arguments[0].focus()", point)
    browser.switch_to.active_element.send_keys(keys.ARROW_RIGHT)
    assert browser.switch_to.active_element != point
    browser.switch_to.active_element.send_keys(keys.ENTER)
    assert "bytes/token" in seen(browser, "dialog > div")[0]
    browser.find_element("css selector", "dialog button").click()


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
def test_did_not_run_stands_apart_from_does_not_apply(browser):
    opened(browser)
    mark = "return [...document.querySelectorAll(`#overview td.none${arguments[0]}`)].map(e => [e.textContent.trim(), getComputedStyle(e, '::before').content.includes('✕')])"
    missed, other = (browser.execute_script(mark, each) for each in (".missed", ":not(.missed)"))
    assert {word for word, _ in missed} >= {"timeout", "unavailable", "failed"}
    assert all(marked for _, marked in missed)
    assert {word for word, _ in other} >= {"n/a"}
    assert not any(marked for _, marked in other)


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


@pytest.mark.slow
def test_nothing_was_asked_of_the_network_and_nothing_complained(browser):
    opened(browser, "tok=gpt4&metric=fertility")
    assert browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []


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
