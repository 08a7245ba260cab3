"""All charts of a report as self-contained SVG and PNG, in light colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tokbench.foundation.errors import InputError
from tokbench.foundation.files import write_atomically
from tokbench.foundation.visible_text import visible
from tokbench.report.pages import html_environment
from tokbench.report.report import Report
from tokbench.report.section import Chart

FOLDER: Final = "pictures"

_SCALE: Final = 2.0

_FONT: Final = 'svg { font-family: "Liberation Sans", Arial, Helvetica, sans-serif; }'


def check_pictures() -> None:
    """Raise :class:`InputError` if the library that makes PNG is missing."""
    if find_spec("vl_convert") is None:
        raise InputError("--pictures needs vl-convert to make PNG: pip install 'tokbench[plot]'")


def write_pictures(report: Report, folder: Path) -> list[Path]:
    """Write every chart as SVG and PNG into :data:`FOLDER`, and return the files. Equal results give equal bytes.

    Raises:
        InputError: the library that makes PNG is missing.
    """
    check_pictures()
    import vl_convert

    css = _style()
    written = []
    for picture in pictures(report):
        markup = picture_svg(picture, css)
        for ending, content in (("svg", markup.encode()), ("png", vl_convert.svg_to_png(markup, scale=_SCALE))):
            path = folder / FOLDER / f"{picture.name}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
            written.append(path)
    return written


def picture_svg(picture: Chart, css: str = "") -> str:
    """Return a picture as an SVG file, in the style of charts unless ``css`` is given."""
    return picture.drawing.standalone(css or _style(), picture.keys, [visible(heading) for heading in picture.headings])


def pictures(report: Report) -> Iterator[Chart]:
    """Yield the charts of a report with unique names.

    >>> from tokbench.results.model import Results
    >>> list(pictures(Report(Results(name="nothing yet"))))
    []
    """
    taken: set[str] = set()
    for picture in (chart for spec in report.ordered_specs for chart in spec.charts(report.tables)):
        name = plain = re.sub(r"[^A-Za-z0-9._-]+", "-", picture.name).strip("-.")
        number = 1
        while name.lower() in taken:  # names may differ in what a file cannot have, or in case
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        yield picture._replace(name=name)


def _style() -> str:
    environment = html_environment()
    page, charts = (environment.get_template(f"{name}.css.j2").render() for name in ("style", "charts"))
    light = page[page.index(":root {") : page.index("}")]
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", light))
    return _FONT + "\n" + re.sub(r"var\(--([\w-]+)\)", lambda match: colours[match[1]], charts).strip()
