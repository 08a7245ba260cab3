"""The playground in a real browser, over a real socket: typing, links, hostile text, keyboard, accessibility."""

from __future__ import annotations

import threading
import time
from functools import cache
from importlib import resources
from urllib.parse import quote

import pytest
from chromium import chromium

pytest.importorskip("starlette")
import tokbench
from tokbench.segmentation.token_view import views
from tokbench.serve.app import Playground
from tokbench.serve.catalogue import TokenizerCatalogue
from tokbench.serve.server import address_of, listen, server_of

webdriver = pytest.importorskip("selenium.webdriver")
Select = pytest.importorskip("selenium.webdriver.support.select").Select
pytestmark = [pytest.mark.slow, pytest.mark.nightly]
NAMES = ("tiktoken:gpt2", "tiktoken:cl100k_base")
CLASSIC = (
    "127 + 677 = 804\nEgg.\nI have an Egg.\negg.\nEGG.\n만나서 반가워요.\nif number % 15 == 0:\n        print('Fizz')\n"
)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202e\x1b[31m {{ 7 * 7 }} &amp; 👩‍👩‍👧 \u200b"


@pytest.fixture(scope="module")
def address(data):
    """Serve a playground in a thread, and give its address."""
    playground = Playground(TokenizerCatalogue())
    listening = listen("127.0.0.1", 0)
    server = server_of(playground)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield address_of(listening, playground.rules)
    server.should_exit = True
    thread.join(20)
    playground.end()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


def until(browser, script, *arguments, seconds=40):
    """Return the value of a script as soon as it is true."""
    due = time.monotonic() + seconds
    while time.monotonic() < due:
        if found := browser.execute_script(f"return {script}", *arguments):
            return found
        time.sleep(0.05)
    shown = browser.execute_script("return document.body.innerText")
    raise AssertionError(f"{script} is not true; the page shows:\n{shown[:3000]}")


COUNTS = "[...document.querySelectorAll('article .count')].map(each => each.firstChild.textContent)"
TOKENS = "[...document.querySelectorAll('article')].map(each => [...each.querySelectorAll('.token')].map(t => t.textContent))"


@cache
def loaded(name):
    """Return a tokenizer, loaded once."""
    backend, _, encoding = name.partition(":")
    return tokbench.load(backend, **({"encoding": encoding} if encoding else {}))


def opened(browser, address, text, names=NAMES):
    """Open a link, and wait for its columns."""
    browser.get("about:blank")
    browser.get(f"{address}#{'&'.join(f't={quote(name)}' for name in names)}&text={quote(text)}")
    counts = [str(len(loaded(name).encode(text))) for name in names]
    until(browser, f"JSON.stringify({COUNTS}) === JSON.stringify(arguments[0])", counts)
    return counts


def typed(browser, text):
    """Put a text into the field as if it were typed."""
    script = "const t = document.getElementById('text'); t.value = arguments[0]; t.dispatchEvent(new Event('input'))"
    browser.execute_script(script, text)


PLACES = """
    const [lengths, done] = arguments;
    import("./token_text.js").then(({ Places }) => {
      const places = lengths.map((each) => new Places(each));
      done(places.map((each, n) => lengths[n].map((_, k) => each.differs(k, places))));
    });
"""


def test_the_tokens_are_those_of_the_terminal(browser, address):
    opened(browser, address, CLASSIC)
    [(_, lines)] = views(tokbench.show(CLASSIC, NAMES, workers=0))
    assert browser.execute_script(f"return {TOKENS}") == [[token.text for token in line.tokens] for line in lines]
    for css, looks in (("differs", lambda token: token.differs), ("part", lambda token: token.partial)):
        marked = f"[...document.querySelectorAll('article')].map(e => [...e.querySelectorAll('.token')].map(t => t.matches('.{css}')))"
        assert browser.execute_script(f"return {marked}") == [[looks(token) for token in line.tokens] for line in lines]
    answer = browser.execute_async_script(PLACES, [[1, 2, 3], [1, 0, 2, 2, 1], []])
    assert answer == [[False, False, True], [False, True, False, True, True], []], "one without tokens is left out"


def test_typing_shows_the_latest_text_and_the_address_keeps_it(browser, address):
    opened(browser, address, "a")
    browser.find_element("id", "text").send_keys(" quick brown fox")
    until(browser, f"{COUNTS}[0] === '4'")
    for k in range(30):
        typed(browser, "word " * (k + 1))
    until(browser, f"{COUNTS}[1] === '31'")
    until(browser, "location.hash.includes('word')")
    link = browser.current_url
    browser.get("about:blank")
    browser.get(link)
    until(browser, f'JSON.stringify({COUNTS}) === \'["31","31"]\'')
    assert browser.execute_script("return document.getElementById('text').value") == "word " * 30


def test_hostile_text_and_names_are_inert(browser, address):
    typed_names = "<img src=x onerror=alert(3)>"
    opened(browser, address, "a", ("utf32_units", NAMES[0]))
    typed(browser, HOSTILE)
    until(browser, f"{COUNTS}[0] === arguments[0]", str(len(HOSTILE)))
    shown = browser.execute_script(f"return {TOKENS}")[0]
    assert "".join(shown).startswith("<script>alert(1)</script><img␣src=x")
    assert "\\u{202e}\\u{1b}[31m␣{{␣7␣*␣7␣}}" in "".join(shown)
    name = browser.find_element("id", "name")
    name.send_keys(typed_names, "\n")
    until(browser, "document.body.innerText.includes('unknown tokenizer')")
    assert browser.execute_script("return document.querySelectorAll('main img, main script, aside img').length") == 0
    assert browser.execute_script("return document.querySelectorAll('article').length") == 3, "the others go on"
    browser.find_elements("css selector", "article .quiet")[-1].click()
    until(browser, "document.querySelectorAll('article').length === 2")


def test_the_keyboard_reaches_tokens_merges_and_the_vocabulary(browser, address):
    opened(browser, address, "I return it", NAMES[:1])
    keys = webdriver.Keys
    browser.execute_script("document.querySelector('.tokens').focus()")
    webdriver.ActionChains(browser).send_keys(keys.RIGHT, keys.RIGHT).perform()
    assert "␣return" in until(
        browser, "!document.getElementById('tip').hidden && document.getElementById('tip').innerText"
    )
    webdriver.ActionChains(browser).send_keys(keys.ENTER).perform()
    until(browser, "document.querySelectorAll('.steps li').length === 7")
    last = "[...document.querySelectorAll('.steps li:last-child .token')].map(each => each.textContent)"
    assert browser.execute_script(f"return {last}") == ["␣return"]
    slider = browser.find_element("id", "step")
    slider.send_keys(keys.LEFT, keys.LEFT)
    assert len(browser.execute_script(f"return {last}")) == 3
    assert serious(browser) == []
    webdriver.ActionChains(browser).send_keys(keys.ESCAPE).perform()
    assert not browser.find_element("id", "panel").is_displayed()
    assert browser.execute_script("return document.activeElement.matches('.tokens')"), "the focus is where it was"
    browser.find_element("css selector", "article .quiet").click()
    browser.find_element("css selector", "#panel input").send_keys("SolidGold")
    assert "43453" in until(browser, "document.querySelector('#panel table:not([hidden])')?.innerText")
    assert serious(browser) == []


def test_two_tokenizers_are_compared_in_one_text(browser, address):
    opened(browser, address, CLASSIC, ("utf8_bytes", *NAMES))
    for field, name in (("one", NAMES[0]), ("other", NAMES[1])):
        Select(browser.find_element("id", field)).select_by_visible_text(name)
    starts = []
    for name in NAMES:
        ids = loaded(name).encode(CLASSIC)
        ends = [len(b"".join(map(loaded(name).token_bytes, ids[:k]))) for k in range(len(ids))]
        starts.append(set(ends))
    union = sorted(starts[0] | starts[1])
    wanted = ["both" if at in starts[0] & starts[1] else "first" if at in starts[0] else "second" for at in union]
    shown = "[...document.querySelectorAll('#versus .token')].map(e => ['both', 'first', 'second'].find(c => e.matches('.' + c)))"
    assert browser.execute_script(f"return {shown}") == wanted
    assert {"both", "first", "second"} == set(wanted)
    browser.execute_script("document.querySelector('#versus .tokens').focus()")
    webdriver.ActionChains(browser).send_keys(webdriver.Keys.RIGHT).perform()
    tip = until(browser, "!document.getElementById('tip').hidden && document.getElementById('tip').innerText")
    for name in NAMES:
        first = loaded(name).encode(CLASSIC)[0]
        assert f"{name}: id {first}, bytes {loaded(name).token_bytes(first).hex(' ')}" in tip
    assert serious(browser) == []


def test_models_are_listed_and_typos_suggest(browser, address):
    opened(browser, address, "a", ("utf8_bytes",))
    models = Select(browser.find_element("id", "models"))
    assert {"utf16_units", "utf8_bytes"} <= {option.text for option in models.options}
    models.select_by_visible_text("utf16_units")
    until(browser, f"{COUNTS}.length === 2 && {COUNTS}[1] === '1'")
    browser.find_element("id", "name").send_keys("utf32_unit", "\n")
    until(browser, "document.querySelector('article:nth-child(3) .remark.bad')")
    browser.find_element("xpath", "//button[text()='Open utf32_units']").click()
    until(browser, f"{COUNTS}.length === 3 && {COUNTS}[2] === '1'")


def test_templates_special_tokens_and_prices(browser, address):
    opened(browser, address, "<|endoftext|>", NAMES[:1])
    Select(browser.find_element("id", "special")).select_by_value("1")
    until(browser, f"{COUNTS}[0] === '1'")
    assert browser.execute_script("return document.querySelectorAll('.token.control').length") == 1
    Select(browser.find_element("id", "template")).select_by_value("ChatML")
    until(browser, "document.body.innerText.includes('the template takes')")
    until(browser, "document.body.innerText.includes('It has no special token <|im_start|>, <|im_end|>')")
    browser.find_element("css selector", "#prices summary").click()
    until(browser, "document.querySelector('#prices input')").send_keys("2.5")
    until(browser, "document.querySelector('article dl').innerText.includes('price')")
    browser.refresh()
    until(browser, "document.querySelector('article dl')?.innerText.includes('price')")
    assert browser.execute_script("return document.getElementById('template').value") == "ChatML"
    browser.execute_script("localStorage.clear()")


def serious(browser):
    """Return what the accessibility engine finds serious or worse."""
    engine = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(engine)
    script = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations))"
    answer = browser.execute_async_script(script)
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in answer
        if each["impact"] in {"serious", "critical"}
    ]


def test_it_fits_and_is_accessible(browser, address):
    pytest.importorskip("axe_core_python")
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for width, scheme in ((420, "dark"), (1400, "light")):
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
        opened(browser, address, CLASSIC)
        assert (browser.execute_script(overflow) <= 0, serious(browser)) == (True, [])


def test_nothing_complained_and_nothing_else_was_asked(browser, address):
    opened(browser, address, CLASSIC)
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert asked
    assert all(each.startswith(address.partition("?")[0]) for each in asked)
    assert browser.get_log("browser") == [], "of all tests of this file"
