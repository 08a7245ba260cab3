"""Make the pictures of the site: screenshots of reports, and charts of runs as small WebP files.

``python reports/site/pictures.py`` takes ``reports/quickstart`` and the runs of the gallery, which must be there:
``tokbench run quickstart multilingual overlap code --pictures`` makes them. It needs Chromium and Pillow.
"""

from __future__ import annotations

import io
import shutil
import sys
import time
from pathlib import Path
from typing import Final

from PIL import Image
from selenium import webdriver

HERE: Final = Path(__file__).parent
RUNS: Final = HERE.parent
ASSETS: Final = HERE / "docs" / "assets"
MOST_BYTES: Final = 250_000
"""The size of a picture at most."""

CHARTS: Final = {
    "inequality": "multilingual/pictures/parity-languages.png",
    "lorenz": "multilingual/pictures/lorenz-languages.png",
    "overlap": "overlap/pictures/groups-languages-gemma-3-divergence-from-others.png",
    "larger": "code/pictures/size-library.png",
    "agreement": "overlap/pictures/tokenizers-languages-boundaries-shared-F1.png",
}
"""The charts of the gallery: by name, the picture of a run."""


def screenshot(page: Path, size: tuple[int, int]) -> Image.Image:
    """Return the top of a page as Chromium shows it, in light colours."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    with webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))) as chrome:
        shape = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
        chrome.get(page.resolve().as_uri())
        time.sleep(1)
        return Image.open(io.BytesIO(chrome.get_screenshot_as_png()))


def keep(picture: Image.Image, name: str, most_width: int = 1200) -> None:
    """Write a picture as WebP, smaller until it has no more bytes than it may have."""
    picture = picture.convert("RGB")
    width = min(picture.width, most_width)
    while True:
        height = round(picture.height * width / picture.width)
        packed = io.BytesIO()
        picture.resize((width, height), Image.Resampling.LANCZOS).save(packed, "WEBP", quality=80, method=6)
        if len(packed.getvalue()) <= MOST_BYTES:
            break
        width = width * 4 // 5
    (ASSETS / f"{name}.webp").write_bytes(packed.getvalue())


def main(runs: Path) -> None:
    """Make all pictures from the runs of a folder."""
    keep(screenshot(runs / "quickstart" / "report.html", (1200, 1500)), "report")
    for name, path in CHARTS.items():
        keep(Image.open(runs / path), name, 900)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
