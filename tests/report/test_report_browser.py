"""The page in a real browser, from disk and without network: its script runs under its own policy."""

from __future__ import annotations

import pytest
from report_browser import AT_THE_TOP, NAMES, opened, report_in_browser, seen, settle
from report_data import build

from tokbench.studies.tokens.section import TokenViews

webdriver = pytest.importorskip("selenium.webdriver")
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with report_in_browser(tmp_path_factory.mktemp("page")) as chrome:
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
        values = [float(cell.rstrip("†‡?•")) for cell in cells]
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
def test_did_not_run_stands_apart_from_does_not_apply(browser):
    opened(browser)
    mark = "return [...document.querySelectorAll(`#overview td.none${arguments[0]}`)].map(e => [e.textContent.trim(), getComputedStyle(e, '::before').content.includes('✕')])"
    missed, other = (browser.execute_script(mark, each) for each in (".missed", ":not(.missed)"))
    assert {word for word, _ in missed} >= {"timeout", "unavailable", "failed"}
    assert all(marked for _, marked in missed)
    assert {word for word, _ in other} >= {"n/a"}
    assert not any(marked for _, marked in other)


@pytest.mark.slow
def test_nothing_was_asked_of_the_network_and_nothing_complained(browser):
    opened(browser, "tok=gpt4&metric=fertility")
    assert browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
    assert [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]] == []
