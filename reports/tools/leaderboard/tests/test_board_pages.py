"""The pages of the published leaderboard in a real browser: filters, links, places, accessibility."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import chromium
from leaderboard.board import read_board
from leaderboard.site import write_site

pytestmark = pytest.mark.slow

REAL = Path(__file__).parents[3] / "leaderboard"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as chrome:
        chrome.site = write_site(read_board(REAL), tmp_path_factory.mktemp("site"))
        yield chrome


def opened(browser, link=""):
    browser.get("about:blank")
    browser.get(browser.site.as_uri() + link)


def names(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#board tbody tr:not([hidden])')].map(r => r.dataset.name)"
    )


def cell(browser, name, key):
    return browser.execute_script(
        "return document.querySelector(`tr[data-name='${arguments[0]}'] [data-cell=${arguments[1]}]`).textContent",
        name,
        key,
    )


def choose(browser, field, value):
    script = (
        "const field = document.getElementById('filters').elements[arguments[0]];"
        "if (field.type === 'checkbox') field.checked = arguments[1]; else field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    browser.execute_script(script, field, value)


def test_the_best_is_first_and_losses_and_baselines_stand_below(browser):
    opened(browser)
    shown = names(browser)
    assert 20 < len(shown) < len(read_board(REAL).names)
    assert cell(browser, shown[0], "place") == "1"
    assert set(shown[-2:]) <= {"bytes", "utf-16", "characters", "words"}
    assert cell(browser, "bytes", "ratio") == "1.00"
    assert not browser.get_log("browser")


def test_filters_work_and_the_link_keeps_them(browser):
    opened(browser)
    choose(browser, "family", "Mistral")
    assert {name.split("-")[0] for name in names(browser)} == {"mistral"}
    choose(browser, "lossless", True)
    choose(browser, "texts", "th")
    link = browser.execute_script("return location.hash")
    assert link == "#texts=th&family=Mistral&lossless=1"
    order = names(browser)
    opened(browser, link)
    assert names(browser) == order
    numbers = [float(cell(browser, name, "ratio")) for name in order]
    assert numbers == sorted(numbers, reverse=True)
    opened(browser, "#texts=th")
    data = browser.execute_script("return JSON.parse(document.getElementById('data').textContent)")
    ranked = [name for name, places in data["places"].items() if places["languages"][0]]
    tokens = {name: data["numbers"][name]["languages"]["th"][0] for name in ranked}
    places = {name: str(1 + sum(other < own for other in tokens.values())) for name, own in tokens.items()}
    assert {name: cell(browser, name, "place") for name in ranked} == places
    assert names(browser)[0] == min(tokens, key=tokens.get)


def test_the_table_is_first_on_a_phone(browser):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened(browser)
    top, needs, has = browser.execute_script(
        "const box = document.querySelector('.box');"
        "return [box.getBoundingClientRect().top, box.scrollWidth, box.clientWidth]"
    )
    assert top < 844 / 3
    assert needs <= has, "all columns are in sight"


def test_a_head_sorts_and_scripts_are_sums_of_their_languages(browser):
    opened(browser, "#sort=ids:up")
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('#board tbody tr:not(.aside)')].map(r => +r.dataset.ids)"
    )
    assert sizes == sorted(sizes)
    opened(browser, "#texts=script-Cyrillic")
    data = browser.execute_script("return JSON.parse(document.getElementById('data').textContent)")
    groups = data["choices"]["script-Cyrillic"]["groups"]
    own = [data["numbers"]["qwen-3"]["languages"][group] for group in groups]
    ratio = sum(tokens * per for tokens, per, *_ in own) / sum(tokens for tokens, *_ in own)
    assert len(groups) > 1
    assert cell(browser, "qwen-3", "ratio") == f"{ratio:.2f}"


@pytest.mark.matrix
@pytest.mark.parametrize("page", ["index.html", "gpt-4o.html"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing_and_the_page_does_not_scroll_sideways(browser, page, width):
    axe = pytest.importorskip("axe_core_python")
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(browser.site.with_name(page).as_uri())
    browser.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    answer = browser.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in answer["violations"]] == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
