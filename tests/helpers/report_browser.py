"""Looks at the report in a browser: opens it with a link, waits, and reads what is shown."""

from __future__ import annotations

from contextlib import contextmanager

from chromium import chromium
from report_data import build

from tokbench.formats import html


@contextmanager
def report_in_browser(folder):
    """Show a report in Chromium; skip the test where there is none."""
    with chromium(folder / "profile") as chrome:
        page = html.render(build())
        (folder / "report.html").write_text(page, encoding="utf-8", errors="backslashreplace")
        chrome.report, chrome.page = (folder / "report.html").as_uri(), page
        chrome.get(chrome.report)
        yield chrome


NAMES = "#overview-0 tbody th"

AT_THE_TOP = """
const top = document.getElementById(arguments[0]).getBoundingClientRect().top;
return top > -2 && (top < innerHeight / 2 || scrollY + innerHeight >= document.documentElement.scrollHeight - 2);
"""


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
