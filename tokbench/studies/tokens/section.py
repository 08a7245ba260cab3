"""The section on tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.report import document as doc
from tokbench.report.escaping import cut
from tokbench.report.section import SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.cells import group_name
from tokbench.results.model import Results
from tokbench.segmentation.segmented_text import SegmentedText, WorstDocument, shown_texts
from tokbench.segmentation.token_view import SegmentationView

_MOST_TOKENS: Final = 1_000_000

_FIRST_TOKENIZERS: Final = 3

_FIRST_TEXTS: Final = 6

_HEADING: Final = 80

_LEGEND: Final = (
    "The same text under several tokenizers. Each box is one token: point at it, or go to it with the arrow keys, to "
    "see its id and its bytes. Underlined: tokens that another tokenizer splits differently. A dashed border "
    "marks bytes that are not whole characters. Spaces are shown as ␣, line ends as ⏎, tabs as ⇥, bytes that are no "
    "text as \\x and two digits."
)
_PLAIN_LEGEND: Final = (
    "The same texts under several tokenizers: number of tokens, then the tokens, set apart by ¦. Spaces are shown as "
    "␣, line ends as ⏎, tabs as ⇥, bytes that are not whole characters as \\x and two digits."
)
_WORST: Final = (
    "The documents with the fewest bytes per token, at most one of each group, and the tokenizer that needs the fewest "
    "tokens for the same text."
)
_PLAIN_WORST: Final = "The tokens of the text shown are relative to the tokenizer that needs the fewest."
_NUMBERS: Final = {"bytes per token", "tokens", "bytes"}
_WORST_COLUMNS: Final = [
    doc.Column(name, numeric=name in _NUMBERS)
    for name in (
        *("tokenizer", "corpus", "group", "document", "bytes per token", "tokens", "bytes"),
        *("tokens of this text", "text"),
    )
]


def tokens_document(tables: CellTables) -> doc.Section | None:
    """Return the section; ``None`` if the run shows nothing."""
    shown = TokenViews(tables.results)
    nodes = [doc.Rich(lambda: _on_a_page(shown), plain=_in_plain_text(shown)), *_worst_documents(shown)]
    return doc.Section("tokens", "Tokens", nodes) if shown.texts or shown_texts(shown.results).worst else None


def _on_a_page(shown: TokenViews) -> list[doc.Node]:
    numbers = {id(view): number for number, view in enumerate(shown.page)}
    first = [numbers[id(view)] for view in shown.first_texts]
    texts = [
        doc.Pane(view.heading, _pane(view, shown.first_names) if number in first else [], family=view.kind)
        for number, view in enumerate(shown.page)
    ]
    chooser = [doc.TokenChooser(texts, first, shown.names, shown.first_names, shown.data)] if texts else []
    left_out = [doc.Paragraph(shown.left_out, "legend")] if shown.left_out else []
    return [doc.Paragraph(_LEGEND), *chooser, *left_out]


def _pane(view: TextView, names: Sequence[str]) -> list[doc.Node]:
    lines = view.lines(() if view.worst else names)
    return [doc.Heading(doc.Name(view.heading)), *(node for line in lines for node in line.nodes(4))]


def _in_plain_text(shown: TokenViews) -> list[doc.Node]:
    if not shown.texts:
        return []
    nodes: list[doc.Node] = [doc.Paragraph(_PLAIN_LEGEND)]
    for view in (view for view in shown.texts if not view.shown.corpus):
        rows = [doc.Row([line.name, _listed(line)]) for line in view.lines()]
        nodes += [doc.Heading(view.heading), doc.Table("", [doc.Column("tokenizer"), doc.Column("tokens")], rows)]
    return nodes


def _listed(line: SegmentationView) -> doc.TextCell:
    return doc.TextCell(line=doc.Tokens(line.boxes) if line.tokens else "", small=line.remarks)


def _worst_documents(shown: TokenViews) -> list[doc.Node]:
    if not shown_texts(shown.results).worst:
        return []
    numbers = {id(view.shown): str(number) for number, view in enumerate(shown.page)}
    rows = [_worst_row(worst, numbers.get(id(worst.shown), "")) for worst in shown_texts(shown.results).worst]
    caption = "Worst documents of each tokenizer"
    return [
        doc.Heading("Worst documents"),
        doc.Paragraph(_WORST),
        doc.Rich([], plain=[doc.Paragraph(_PLAIN_WORST)]),
        doc.Table(caption, _WORST_COLUMNS, rows, label="Worst documents"),
    ]


def _worst_row(worst: WorstDocument, number: str) -> doc.Row:
    better = worst.shown.segmentations[1:]
    other = f"{worst.times_the_fewest:.1f} × {visible(better[0].tokenizer)}" if better else "the fewest"
    place = worst.tokenizer, worst.shown.corpus, group_name(worst.shown.group)
    document = doc.TextCell(line=f"{worst.number + 1:,} ({worst.shown.label})", look="prose")
    ratio = f"{worst.bytes / worst.tokens:.3f}" if worst.tokens else "none"
    text = doc.TextCell(line=doc.Name(visible(worst.shown.text, spaces=True)), look="text", data=number)
    sizes = ratio, f"{worst.tokens:,}", f"{worst.bytes:,}"
    return doc.Row([*place, document, *sizes, other, text])


@dataclass(frozen=True)
class TextView:
    """A text of the section."""

    kind: str
    heading: str
    shown: SegmentedText
    worst: bool = False
    """A worst document has the tokenizers that it needs."""

    @property
    def tokens(self) -> int:
        return sum(len(segmentation.ids) for segmentation in self.shown.segmentations)

    def lines(self, names: Sequence[str] = ()) -> list[SegmentationView]:
        segmentations = [line for line in self.shown.segmentations if not names or line.tokenizer in names]
        shown = replace(self.shown, segmentations=segmentations)
        return SegmentationView.of_all(shown)


@dataclass(frozen=True)
class TokenViews:
    """The texts that a run shows as tokens."""

    results: Results

    @cached_property
    def texts(self) -> list[TextView]:
        return [_view(text) for text in shown_texts(self.results).texts]

    @cached_property
    def names(self) -> list[str]:
        cutting = {line.tokenizer for text in shown_texts(self.results).texts for line in text.segmentations}
        return [name for name in self.results.tokenizers if name in cutting]

    @cached_property
    def first_names(self) -> list[str]:
        """The first that are not baselines, from which everything differs."""
        competing = [name for name in self.names if not self.results.tokenizers[name].baseline]
        return (competing or self.names)[:_FIRST_TOKENIZERS]

    @cached_property
    def first_texts(self) -> list[TextView]:
        kinds = {view.kind: view for view in reversed(self.page) if not view.worst and view.shown.corpus}
        named = [view for view in self.page if not view.shown.corpus]
        return [*named, *reversed(kinds.values())][:_FIRST_TEXTS] or self.page[:1]

    @cached_property
    def page(self) -> list[TextView]:
        return list(_within([*self.texts, *map(_worst_view, shown_texts(self.results).worst)], _MOST_TOKENS))

    @cached_property
    def left_out(self) -> str:
        places = {(text.corpus, text.group) for text in shown_texts(self.results).texts if text.corpus}
        groups = sum(len(info.groups) for info in self.results.corpora.values())
        said = [f"Excerpts are of {len(places):,} of {groups:,} groups."] if places and len(places) < groups else []
        missing = len(self.texts) + len(shown_texts(self.results).worst) - len(self.page)
        said += [f"{missing:,} texts are left out of this page; results.json has them."] if missing else []
        return " ".join(said)

    @cached_property
    def data(self) -> str:
        """The texts of the page for its script, as JSON.

        A row has the tokenizer, head, remarks, ids, lengths, and by number additions to titles; tokens that cannot be
        aligned have text, title, line ends, and 1 for bytes that are not whole characters.
        """
        characters = sorted({char for view in self.page for char in view.shown.text})
        written = {char: visible(char, spaces=True) for char in characters}
        body = {
            "names": [visible(name) for name in self.results.tokenizers],
            "shown": {char: text for char, text in written.items() if text != char},
            "texts": [self._data(view) for view in self.page],
        }
        return json.dumps(body, ensure_ascii=True, separators=(",", ":"))

    def _data(self, view: TextView) -> list[object]:
        order = {name: number for number, name in enumerate(self.results.tokenizers)}
        known = [segmentation for segmentation in view.shown.segmentations if segmentation.tokenizer in order]
        lines = (SegmentationView(view.shown, segmentation) for segmentation in known)  # the script finds what differs
        rows = [
            [
                order[line.name],
                line.head,
                [visible(remark) for remark in line.remarks],
                line.segmentation.ids,
                *_cut(line),
            ]
            for line in lines
        ]
        return [view.heading, view.shown.text, int(view.worst), rows]


def _cut(line: SegmentationView) -> tuple[list[int], dict[int, str] | list[tuple[object, ...]]]:
    spans = line.segmentation.spans()
    if not spans and line.tokens:
        return [], [(token.text, token.title, token.breaks, int(token.partial)) for token in line.tokens]
    lengths = [end - start for start, end in spans]
    if not line.segmentation.pieces:
        return lengths, {}
    tokens = line.segmentation.tokens(line.text.text)
    own = {k: line.tokens[k].own for k, token in enumerate(tokens) if token.own != token.data}
    return lengths, own


def _view(text: SegmentedText) -> TextView:
    if not text.corpus:
        return TextView("texts of the configuration", cut(visible(text.label), _HEADING), text)
    place = f"{group_name(text.group)}: {text.label}{'' if text.whole else ', a part'}"
    return TextView(visible(text.corpus), cut(visible(place), _HEADING), text)


def _worst_view(worst: WorstDocument) -> TextView:
    place = f"{worst.shown.corpus} / {group_name(worst.shown.group)}: {worst.shown.label}"
    return TextView(
        f"worst documents of {visible(worst.tokenizer)}", cut(visible(place), _HEADING), worst.shown, worst=True
    )


def _within(views: Iterable[TextView], room: int) -> Iterator[TextView]:
    for view in views:
        if view.tokens <= room:
            room -= view.tokens
            yield view


SECTION: Final = SectionSpec(name="tokens", place=130, build=tokens_document)
