"""Renders the document model as HTML: a function for each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from tokbench.foundation.visible_text import visible
from tokbench.report import document as doc
from tokbench.report.charts.svg import Drawing, attributes
from tokbench.report.html_tokens import safe_text, token_chooser_html, token_text_html, tokens_html
from tokbench.report.pages import html_environment, packed

if TYPE_CHECKING:
    from tokbench.report.tables import CellTables

_KINDS: Final = {"bad": "state bad"}

_MENU: Final = 8


class HtmlNodes:
    r"""Renders sections of one document, whose terms link to the definitions of ``tables``.

    >>> HtmlNodes().node(doc.Paragraph(["See ", doc.Name("<b>")], "legend"))
    Markup('<p class="legend">See <bdi>&lt;b&gt;</bdi></p>\n')
    """

    def __init__(self, tables: CellTables | None = None) -> None:
        self._tables = tables
        self._render: dict[type, Callable[[Any], Markup]] = {
            doc.Heading: self._heading,
            doc.Paragraph: self._paragraph,
            doc.Bullets: self._bullets,
            doc.Listing: lambda listing: Markup("<pre>{}</pre>\n").format(escape(visible(listing.text, keep="\n"))),
            doc.TokenText: token_text_html,
            doc.Table: self._table,
            doc.Figure: self._figure,
            doc.Multiples: self._multiples,
            doc.Chooser: self._chooser,
            doc.TokenChooser: lambda chooser: token_chooser_html(chooser, self.nodes),
            doc.Details: self._details,
            doc.Cards: self._cards,
            doc.Rich: lambda rich: self.nodes(rich.made()),
        }

    def section(self, section: doc.Section) -> Markup:
        place = Markup(' id="{}"').format(section.id) if section.id else ""
        title = Markup("<h2>{}</h2>\n").format(self.line(section.title)) if section.title else ""
        return Markup("<section{}>\n{}{}</section>\n").format(place, title, self.nodes(section.nodes))

    def foldable(self, section: doc.Section) -> Markup:
        return Markup(
            '<section id="{}">\n<details class="fold"{}>\n<summary><h2>{}</h2></summary>\n{}</details>\n</section>\n'
        ).format(
            section.id, "" if section.folded else Markup(" open"), self.line(section.title), self.nodes(section.nodes)
        )

    def nodes(self, nodes: Sequence[doc.Node]) -> Markup:
        return Markup("").join(map(self.node, nodes))

    def node(self, node: doc.Node) -> Markup:
        return self._render[type(node)](node)

    def line(self, line: doc.Line) -> Markup:
        return Markup("").join(map(self._inline, doc.line_pieces(line)))

    def _inline(self, piece: doc.Inline) -> Markup:
        if isinstance(piece, str):
            return safe_text(piece)
        if isinstance(piece, doc.Term):
            return self._term(piece)
        return tokens_html(piece) if isinstance(piece, doc.Tokens) else _words(piece)

    def _term(self, term: doc.Term) -> Markup:
        tables, shown = self._tables, safe_text(term.text or "definition")
        if tables is None or term.metric not in tables.anchors:
            return shown
        formula = safe_text(tables.metric(term.metric).formula or "no definition given")
        return Markup('<a class="unit" href="#{}" title="{}">{}</a>').format(
            tables.anchors[term.metric], formula, shown
        )

    def _heading(self, heading: doc.Heading) -> Markup:
        place = Markup(' id="{}"').format(heading.id) if heading.id else ""
        return Markup("<h{0}{1}>{2}</h{0}>\n").format(heading.level, place, self.line(heading.line))

    def _paragraph(self, paragraph: doc.Paragraph) -> Markup:
        return Markup("<p{}>{}</p>\n").format(
            _class(_KINDS.get(paragraph.kind, paragraph.kind)), self.line(paragraph.line)
        )

    def _bullets(self, bullets: doc.Bullets) -> Markup:
        items = Markup("").join(Markup("<li>{}</li>\n").format(self.line(line)) for line in bullets.lines)
        return Markup("<ul{}>\n{}</ul>\n").format(_class(bullets.look), items)

    def _table(self, table: doc.Table) -> Markup:
        sortable = any(column.sort for column in table.columns)
        look = " ".join(filter(None, [table.look, "sortable" if sortable else ""]))
        caption = self.line(table.caption)
        named = any(column.line for column in table.columns)
        head = Markup("").join(map(self._column, table.columns))
        return Markup(
            '<div class="box" tabindex="0" role="region" aria-label="{}">\n<table{}{}>\n<caption>{}</caption>\n'
            "{}<tbody>\n{}</tbody>\n</table>\n</div>\n"
        ).format(
            safe_text(table.label) if table.label else caption.striptags(),
            _class(look),
            Markup(" data-fit") if table.fit else "",
            caption,
            Markup("<thead><tr>{}</tr></thead>\n").format(head) if named else "",
            Markup("").join(self._row(row, table.columns) for row in table.rows),
        )

    def _column(self, column: doc.Column) -> Markup:
        kind = "number" if column.numeric or column.upright else "text"
        known = {
            "class": "up" if column.upright else "n" * column.numeric,
            "data-column": column.key,
            "data-sort": kind if column.sort else "",
            "data-first": column.sort,
            "title": column.title,
        }
        text = self.line(column.line)
        text = Markup('<span class="key">{}</span>').format(text) if column.sort else text
        text = Markup("<span>{}</span>").format(text) if column.upright else text
        text += _WORDS[doc.Raised].format(safe_text(column.mark)) if column.mark else ""
        below = Markup('<span class="of">{}</span>').format(self.line(column.below)) if column.below else ""
        unit = self.line(column.unit)
        if isinstance(column.unit, str):
            unit = Markup('<span class="unit">{}</span>').format(unit) if unit else unit
        return Markup('<th scope="col"{}>{}{}{}</th>').format(_attributes(known), text, below, unit)

    def _row(self, row: doc.Row, columns: Sequence[doc.Column]) -> Markup:
        cells = [
            self._cell(cell, column, names_row=row.named and not k)
            for k, (cell, column) in enumerate(zip(row.cells, _beneath(row, columns), strict=True))
        ]
        aside = Markup(" data-aside") if row.aside else ""
        start = _attributes({"class": row.look, "id": row.id})
        return Markup("<tr{}{}>{}</tr>\n").format(start, aside, Markup("").join(cells))

    def _cell(self, cell: doc.TableCell, column: doc.Column, *, names_row: bool) -> Markup:
        if isinstance(cell, doc.MeasuredCell):
            return self._shown(cell)
        if not isinstance(cell, doc.TextCell):
            cell = doc.TextCell(line=cell)
        names_row = names_row or cell.names
        known = {
            "class": " ".join(filter(None, ["n" if column.numeric and not names_row else "", cell.look])),
            "data-v": cell.value,
            "title": cell.title,
            "data-text": cell.data,
            "data-head": cell.head,
            "colspan": cell.span if cell.span > 1 else None,
        }
        small = Markup("").join(Markup("<small>{}</small>").format(self.line(line)) for line in cell.small)
        tag, start = ("th", Markup('th scope="row"')) if names_row else ("td", Markup("td"))
        return Markup("<{}{}>{}{}</{}>").format(start, _attributes(known), self.line(cell.line), small, tag)

    def _shown(self, shown: doc.MeasuredCell) -> Markup:
        cell = shown.cell
        absent = ("none missed" if cell.missed else "none") if cell.value is None else ""
        colour = "" if absent or not shown.heat else "pale" if shown.level is None else f"h{shown.level}"
        grey = "soft" if cell.no_interval and not shown.heat else ""
        look = " ".join(filter(None, ["" if shown.heat else "n", colour, "best" * cell.best, grey, absent]))
        # There are tens of thousands of these cells, and a format string with markup takes ten times as long.
        parts = ["<td", f' class="{look}"' if look else ""]
        if cell.value is not None and (cell.raw or not shown.heat):
            parts += [f' data-v="{cell.value}"', "" if cell.competes or shown.heat else " data-aside"]
        text = f'<span>{cell.text}</span><span class="raw">{cell.raw}</span>' if cell.raw else safe_text(cell.text)
        parts += [' title="', safe_text(cell.title), '">', text]
        if cell.marks:
            parts.append(f"<sup>{cell.marks}</sup>")
        if shown.interval and cell.interval:
            parts.append(f"<small>{escape(cell.interval)}</small>")
        return Markup("".join([*parts, "</td>"]))  # noqa: S704 - all text in it has been escaped

    def _figure(self, figure: doc.Figure) -> Markup:
        content = self._drawn(figure)
        if figure.beside:
            content = Markup('<div class="lorenz">\n{}</div>\n').format(content)
        return Markup("<figure>\n{}</figure>\n").format(content)

    def _drawn(self, figure: doc.Figure) -> Markup:
        drawing = Markup("{}\n").format(_markup(figure.picture))
        if figure.narrow:
            drawing = Markup('<div class="broad">{}</div>\n<div class="narrow">{}</div>\n').format(
                drawing, _markup(figure.narrow)
            )
        if figure.label:
            drawing = Markup('<div class="box" tabindex="0" role="region" aria-label="{}">\n{}\n</div>\n').format(
                safe_text(figure.label), drawing
            )
        if not figure.caption:
            return drawing
        return drawing + Markup("<figcaption>{}</figcaption>\n").format(self.line(figure.caption))

    def _multiples(self, multiples: doc.Multiples) -> Markup:
        figures = (one if isinstance(one, doc.Figure) else doc.Figure(one) for one in multiples.pictures)
        look = " ".join(filter(None, ["multiples", multiples.look]))
        return Markup("<div{}>\n{}</div>\n").format(_class(look), Markup("").join(map(self._figure, figures)))

    def _chooser(self, chooser: doc.Chooser) -> Markup:
        panes = (self._pane(chooser, number, pane) for number, pane in enumerate(chooser.panes))
        return self._choice(chooser) + Markup("").join(panes)

    def _choice(self, chooser: doc.Chooser) -> Markup:
        key, purpose, panes = chooser.key or chooser.id, safe_text(chooser.purpose), list(enumerate(chooser.panes))
        if len(panes) <= 1:
            return Markup("")
        if len(panes) > _MENU:
            groups = []
            for family, some in groupby(panes, lambda numbered: numbered[1].family):
                options = Markup("").join(
                    Markup('<option value="{}" data-shows="{}-{}">{}</option>\n').format(
                        safe_text(pane.value or pane.name), chooser.id, number, safe_text(pane.name)
                    )
                    for number, pane in some
                )
                frame = Markup('<optgroup label="{}">{}</optgroup>\n')
                groups.append(frame.format(safe_text(family), options) if family else options)
            return Markup(
                '<p class="choose {}" data-key="{}"><label>{}\n<select class="menu">\n{}</select></label></p>\n'
            ).format(chooser.key, key, purpose, Markup("").join(groups))
        buttons = Markup("").join(
            Markup('<button type="button" aria-pressed="{}" value="{}" data-shows="{}-{}">{}</button>\n').format(
                "false" if number else "true",
                safe_text(pane.value or pane.name),
                chooser.id,
                number,
                safe_text(pane.name),
            )
            for number, pane in panes
        )
        return Markup('<div class="choose" role="group" aria-label="{}" data-key="{}">\n{}</div>\n').format(
            purpose, key, buttons
        )

    def _pane(self, chooser: doc.Chooser, number: int, pane: doc.Pane) -> Markup:
        content = self.nodes(pane.nodes)
        hidden = Markup(" hidden") if number else ""
        mark = Markup(" data-packed") if chooser.packed else ""
        if chooser.packed and number:
            content = _packed(content)
        return Markup('<div class="pane" id="{}-{}"{}{}>\n{}\n</div>\n').format(
            chooser.id, number, mark, hidden, content
        )

    def _cards(self, cards: doc.Cards) -> Markup:
        articles = (Markup("<article>\n{}</article>\n").format(self.nodes(card)) for card in cards.cards)
        wide = " wide" if cards.wide else ""
        return Markup('<div class="cards{}">\n{}</div>\n').format(wide, Markup("").join(articles))

    def _details(self, details: doc.Details) -> Markup:
        content = self.nodes(details.nodes)
        if details.packed:
            content = Markup("<div data-packed>{}</div>\n").format(_packed(content))
        opened, summary = Markup(" open") if details.open else "", self.line(details.summary)
        return Markup("<details{}>\n<summary>{}</summary>\n{}</details>\n").format(opened, summary, content)


def page(heading: str, subtitle: str, sections: Sequence[doc.Section], kind: str = "tokbench") -> str:
    """Return a page that needs neither network nor script; ``kind`` ends the window title."""
    nodes = HtmlNodes()
    template = html_environment().get_template("page.html.j2")
    return template.render(heading=heading, subtitle=subtitle, sections=map(nodes.section, sections), kind=kind)


def _beneath(row: doc.Row, columns: Sequence[doc.Column]) -> list[doc.Column]:
    spans = (cell.span if isinstance(cell, doc.TextCell) else 1 for cell in row.cells)
    *starts, end = accumulate(spans, initial=0)
    if end != len(columns):
        raise ValueError(f"a row of {end} cells in a table of {len(columns)} columns")
    return [columns[start] for start in starts]


def _packed(content: Markup) -> Markup:
    return Markup(
        "<template>{}</template>\n<noscript><p>Without JavaScript this part stays packed; results.csv has the "
        "numbers.</p></noscript>"
    ).format(packed(content))


def _words(piece: doc.Name | doc.Words | doc.StateWord | doc.Link | doc.ChartKey) -> Markup:
    text = safe_text(piece.text)
    match piece:
        case doc.Name(strong=True):
            markup = Markup("<b><bdi>{}</bdi></b>").format(text)
        case doc.StateWord(bad=bad):
            markup = Markup('<span class="state{}">{}</span>').format(" bad" if bad else "", text)
        case doc.Link(place=place):
            markup = Markup('<a href="#{}">{}</a>').format(place, text)
        case doc.ChartKey(mark=mark, remark=remark):
            more = safe_text(f" {remark}") if remark else ""
            markup = Markup('<span class="backend">{}<bdi>{}</bdi>{}</span> ').format(_markup(mark), text, more)
        case _:
            markup = _WORDS[type(piece)].format(text)
    return markup


_WORDS: Final = {
    doc.Name: Markup("<bdi>{}</bdi>"),
    doc.Strong: Markup("<strong>{}</strong>"),
    doc.Small: Markup("<small>{}</small>"),
    doc.Code: Markup("<code>{}</code>"),
    doc.Raised: Markup("<sup>{}</sup>"),
}


def _markup(picture: Drawing) -> Markup:
    return Markup(picture.__html__())  # noqa: S704 - a chart has escaped its own text


def _class(names: str) -> Markup:
    return _attributes({"class": names})


def _attributes(values: Mapping[str, object]) -> Markup:
    return Markup(attributes(values))  # noqa: S704 - the values have been escaped
