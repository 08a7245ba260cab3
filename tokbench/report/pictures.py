"""Pictures of all charts of a report, as SVG and PNG, for papers: light colours, and nothing from outside the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.foundation.errors import InputError
from tokbench.foundation.files import write_atomically
from tokbench.report.charts.heat import heat_drawing, heat_maps
from tokbench.report.charts.lorenz import lorenz_key
from tokbench.report.charts.scatter import scatter
from tokbench.report.charts.svg import Drawing
from tokbench.report.escaping import visible
from tokbench.report.pages import html_environment
from tokbench.report.report import Report
from tokbench.report.sections.fairness import all_premiums
from tokbench.report.tables import CellTables
from tokbench.results.model import Results

FOLDER: Final = "pictures"
"""The folder of the pictures, inside that of the reports."""

_SCALE: Final = 2.0
"""Pixels of a PNG for each unit of its SVG."""

_FONT: Final = 'svg { font-family: "Liberation Sans", Arial, Helvetica, sans-serif; }'


class Picture(NamedTuple):
    """One chart with its key.

    Attributes:
        name: the name of its files without ending; letters, digits and ``. _ -``.
        drawing: the chart.
        keys: names of colours and marks, each with what is drawn beside it.
        headings: lines above the chart, for one that does not say by itself what it shows.
    """

    name: str
    drawing: Drawing
    keys: tuple[tuple[str, Drawing], ...] = ()
    headings: tuple[str, ...] = ()


def check_pictures() -> None:
    """Check that pictures can be made here.

    Raises:
        InputError: the library that makes PNG is missing.
    """
    if find_spec("vl_convert") is None:
        raise InputError("--pictures needs vl-convert to make PNG: pip install 'tokbench[plot]'")


def write_pictures(results: Results, folder: Path) -> list[Path]:
    """Write every chart of the report as SVG and PNG, and return the files. The same results give the same bytes.

    Args:
        results: the run.
        folder: the folder of the reports; pictures go to :data:`FOLDER` in it.

    Raises:
        InputError: the library that makes PNG is missing.
        OSError: a file cannot be written.
    """
    check_pictures()
    import vl_convert

    css = _style()
    written = []
    for picture in pictures(Report(results)):
        markup = picture_svg(picture, css)
        for ending, content in (("svg", markup.encode()), ("png", vl_convert.svg_to_png(markup, scale=_SCALE))):
            path = folder / FOLDER / f"{picture.name}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
            written.append(path)
    return written


def picture_svg(picture: Picture, css: str = "") -> str:
    """Return a picture as the text of an SVG file.

    Args:
        picture: the picture.
        css: the style of charts, if it has been made before; it is the same for all pictures.
    """
    return picture.drawing.standalone(css or _style(), picture.keys, [visible(each) for each in picture.headings])


def pictures(report: Report) -> Iterator[Picture]:
    """Yield the charts of a report, each with a name of its own.

    >>> list(pictures(Report(Results(name="nothing yet"))))
    []
    """
    taken: set[str] = set()
    for picture in _charts(report):
        name = plain = re.sub(r"[^A-Za-z0-9._-]+", "-", picture.name).strip("-.")
        number = 1
        while name.lower() in taken:  # names may differ in what a file cannot have, or in case
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        yield picture._replace(name=name)


def _charts(report: Report) -> Iterator[Picture]:
    yield from _corpus_charts(report.tables)
    yield from _fairness_charts(report)
    for view in report.matrices:
        for pair_map in view.maps:
            yield Picture(f"{view.of}-{view.corpus}-{pair_map.name}", pair_map.drawing)
    for bits in report.bits_per_byte:
        for drawing in bits.charts:
            yield Picture(f"bits-per-byte-{bits.study.corpus}", drawing, tuple(bits.keys))
    for section in report.validity:
        for drawing in section.charts:
            yield Picture(f"validity-{section.study.corpus}-{section.study.family}", drawing)
    yield from _curve_charts(report)
    yield from _size_charts(report)


def _corpus_charts(tables: CellTables) -> Iterator[Picture]:
    for corpus in tables.corpora:
        for shown in heat_maps(tables, corpus):
            yield Picture(f"heat-{corpus}-{shown.metric}", heat_drawing(shown, corpus))
    for corpus in tables.corpora:
        if chart := scatter(tables, corpus):
            yield Picture(f"speed-{corpus}", chart.drawing, tuple(chart.backends))


def _fairness_charts(report: Report) -> Iterator[Picture]:
    for section in all_premiums(report.tables):
        premium = f"{section.corpus}: premium", f"the tokens of {section.reference} are 1"
        for name, drawing in section.bars.items():
            heading = f"{section.corpus}: premium under {name}; the tokens of {section.reference} are 1"
            yield Picture(f"premiums-{section.corpus}-{name}", drawing, headings=(heading,))
        for group, drawing in section.charts.items():
            yield Picture(f"premium-{section.corpus}-{group}", drawing, headings=premium)
        if section.lorenz:
            keys = tuple(
                (f"{name}, Gini {gini}", lorenz_key(number)) for number, (name, gini) in enumerate(section.gini.items())
            )
            heading = f"{section.corpus}: share of the tokens by language"
            yield Picture(f"lorenz-{section.corpus}", section.lorenz, keys, (heading,))
        if section.front:
            heading = f"{section.corpus}: compression against inequality between languages"
            yield Picture(f"parity-{section.corpus}", section.front.drawing, tuple(section.front.backends), (heading,))


def _curve_charts(report: Report) -> Iterator[Picture]:
    for section in report.curves:
        for view in section.corpora:
            for group in view.groups:
                headings = f"{view.corpus}: {group.quantity}", f"over {section.axis}"
                for curve, drawing in group.charts.items():
                    name = f"{section.heading}-{view.corpus}-{group.quantity}-{curve}"
                    yield Picture(name, drawing, tuple(view.keys), headings)


def _size_charts(report: Report) -> Iterator[Picture]:
    section = report.vocabulary_size
    if not section:
        return
    if section.measured:
        for place, drawing in section.measured.charts.items():
            headings = "Bits per byte by vocabulary size", "star: best, rings: level with it"
            yield Picture(f"measured-sizes-{place}", drawing, tuple(section.measured.keys), headings)
    lines = tuple((line.line, key) for line, key in section.keys)
    for corpus in section.corpora:
        small = f"{corpus.name}: bytes per token", "by vocabulary size"
        if corpus.chart:
            yield Picture(f"sizes-{corpus.name}", corpus.chart, headings=(" ".join(small),))
        for group, drawing in corpus.charts_by_group.items():
            yield Picture(f"sizes-{corpus.name}-group-{group}", drawing, lines, small)
        for line, drawing in corpus.charts_by_line.items():
            yield Picture(f"sizes-{corpus.name}-line-{line}", drawing, tuple(corpus.group_keys), small)


def _style() -> str:
    """Return the style of charts with the light colours in the place of variables."""
    environment = html_environment()
    page, charts = (environment.get_template(f"{name}.css.j2").render() for name in ("style", "charts"))
    light = page[page.index(":root {") : page.index("}")]
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", light))
    return _FONT + "\n" + re.sub(r"var\(--([\w-]+)\)", lambda match: colours[match[1]], charts).strip()
