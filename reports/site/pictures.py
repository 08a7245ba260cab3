"""Make the pictures of README and the site: ``python reports/site/pictures.py``, some minutes on two cores.

It runs the suites of ``RUNS``, makes ``PICTURES``, and writes ``reports/pictures.sha256``:
for each picture the hash of what it is made from. A test compares them, so that no picture is older than the product. A
folder after the command has the finished runs. It needs Chromium and Pillow.
"""

from __future__ import annotations

import ast
import hashlib
import io
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
HASHES: Final = ROOT / "reports" / "pictures.sha256"
ASSETS: Final = "reports/site/docs/assets"
MOST_BYTES: Final = 250_000
"""The size of a picture at most."""

RUNS: Final = {
    **{name: f"configs/{name}.yaml" for name in ("quickstart", "multilingual", "code", "vocab_size", "equal_size")},
}
"""By run, its configuration."""

_CHARTS: Final = ("tokbench/report/charts/*.py",)
_TEMPLATES: Final = ("*.css.j2", "*.html.j2", "script.js.j2", "token*")  # chips.js.j2 waits for a click
_PAGE: Final = (*_CHARTS, *(f"tokbench/report/templates/{name}" for name in _TEMPLATES), "tokbench/report/answer/*.py")


class Picture(NamedTuple):
    """A picture: the run that it is of, a chart of the run or else a part of its page, and what draws it."""

    run: str
    source: str
    drawn_by: tuple[str, ...] = _CHARTS


PICTURES: Final = {
    "reports/quickstart.png": Picture("quickstart", "#", _PAGE),
    "reports/tokens.png": Picture("quickstart", "#tokens", _PAGE),
    "reports/playground.png": Picture("", "", ("tokbench/serve/page/*", "tokbench/report/templates/token*")),
    "reports/vocab_size.png": Picture("vocab_size", "sizes-code.png"),
    "reports/equal_size.png": Picture("equal_size", "sizes-languages.png"),
    f"{ASSETS}/premium.webp": Picture("multilingual", "premiums-languages-gpt-4o.png"),
    f"{ASSETS}/inequality.webp": Picture("multilingual", "parity-languages.png"),
    f"{ASSETS}/lorenz.webp": Picture("multilingual", "lorenz-languages.png"),
    f"{ASSETS}/larger.webp": Picture("code", "size.png"),
}

TYPED: Final = (
    "127 + 677 = 804\nI have an Egg. EGG.\nZwölf Äpfel, bitte. გამარჯობა!\n\nfor i in range(1, 101):\n    print(i)\n"
)
"""In scripts of which every machine has a font."""


class _Code(ast.NodeTransformer):
    """Takes docstrings out."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def made_from(picture: Picture) -> str:
    """Return the hash of what decides how a picture looks: files, Python without comments and docstrings."""
    names = [path for pattern in picture.drawn_by for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    digest = hashlib.sha256()
    for path in [*names, *([ROOT / RUNS[picture.run]] if picture.run else [])]:
        text = path.read_text(encoding="utf-8")
        text = ast.unparse(_Code().visit(ast.parse(text))) if path.suffix == ".py" else text
        digest.update(f"{path.relative_to(ROOT)}\0{text}\0".encode())
    return digest.hexdigest()


@contextmanager
def browser() -> Iterator[Any]:
    """Yield Chromium with a window of 1,400 × 900 pixels, in light colours."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    with webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))) as chrome:
        shape = {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
        yield chrome


def of_page(chrome: Any, page: Path, part: str) -> bytes:
    """Return a part of a report, from its top on."""
    chrome.get(page.resolve().as_uri())
    if part != "#":
        chrome.execute_script("document.querySelector(arguments[0] + ' details').open = true", part)
        chrome.find_element("xpath", "//option[starts-with(., 'python: python_')]").click()
        chrome.execute_script("document.querySelector(arguments[0]).scrollIntoView()", part)
    time.sleep(1)
    return bytes(chrome.get_screenshot_as_png())


def of_playground(chrome: Any) -> bytes:
    """Return the playground with a text under four tokenizers."""
    names = [word for name in ("gpt-4", "gpt-4o", "llama-3", "gemma-3") for word in ("-t", name)]
    command = [sys.executable, "-m", "tokbench", "serve", "--port", "0", *names]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own command
        try:
            assert server.stderr
            chrome.get(next(line for line in server.stderr if line.startswith("http")).split()[0])
            area = chrome.find_element("css selector", "textarea")
            area.clear()
            area.send_keys(TYPED)
            while "…" in chrome.execute_script("return document.getElementById('columns').innerText"):
                time.sleep(1)
            time.sleep(2)
            return bytes(chrome.get_screenshot_as_png())
        finally:
            server.terminate()


def keep(packed: bytes, path: Path) -> None:
    """Write a picture, smaller until it has no more bytes than it may have."""
    from PIL import Image

    with Image.open(io.BytesIO(packed)) as opened:
        picture = opened.convert("RGB")
    width = min(picture.width, 1400 if path.suffix == ".png" else 900)
    while True:
        smaller = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
        if path.suffix == ".png":
            smaller = smaller.quantize(256)
        written = io.BytesIO()
        smaller.save(written, path.suffix[1:], optimize=True, quality=80, method=6)
        if len(written.getvalue()) <= MOST_BYTES:
            break
        width = width * 4 // 5
    path.write_bytes(written.getvalue())


def main(runs: Path) -> None:
    """Make all pictures from the runs of a folder; those that it lacks are run."""
    missing = [str(ROOT / path) for name, path in RUNS.items() if not (runs / name / "pictures").is_dir()]
    for path in missing:
        folder = runs / Path(path).stem
        command = [sys.executable, "-m", "tokbench", "run", path, "-o", str(folder), "--pictures"]
        subprocess.run(command, check=True)  # noqa: S603 - our own command
    with browser() as chrome:
        for name, picture in PICTURES.items():
            run = runs / picture.run
            if picture.source.startswith("#"):
                keep(of_page(chrome, run / "report.html", picture.source), ROOT / name)
            elif picture.run:
                keep((run / "pictures" / picture.source).read_bytes(), ROOT / name)
            else:
                keep(of_playground(chrome), ROOT / name)
    lines = [f"{made_from(picture)}  {name}\n" for name, picture in PICTURES.items()]
    HASHES.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
