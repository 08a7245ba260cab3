"""The report in Chromium, for the tests of its page."""

import shutil

import pytest
from report_data import build

from tokbench.formats import html

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,1000"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
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
