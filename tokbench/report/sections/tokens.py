"""The section on tokens: texts cut by the tokenizers of the run, and the worst documents of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from tokbench.report.escaping import cut, visible
from tokbench.report.segmentation import SegmentationView
from tokbench.results.cells import group_name
from tokbench.results.model import Results
from tokbench.results.segmentation import SegmentedText, WorstDocument, shown_texts

_MOST_TOKENS: Final = 1_000_000
"""Tokens that a page holds, over all texts and tokenizers: about two and a half megabytes, packed."""

_FIRST_TOKENIZERS: Final = 3
"""Tokenizers that are shown until somebody chooses others."""

_FIRST_TEXTS: Final = 6
"""Texts that a page shows without its script."""

_HEADING: Final = 80


@dataclass(frozen=True)
class TextView:
    """A text of the section.

    Attributes:
        kind: the heading of texts of its sort, such as the name of their corpus.
        heading: its name, made visible.
        shown: the text with its segmentations.
        worst: ``True`` if it is one of the worst documents of a tokenizer, and has the tokenizers that it needs.
    """

    kind: str
    heading: str
    shown: SegmentedText
    worst: bool = False

    @property
    def tokens(self) -> int:
        """The number of tokens, over all tokenizers."""
        return sum(len(each.ids) for each in self.shown.segmentations)

    def lines(self, names: Sequence[str] = ()) -> list[SegmentationView]:
        """Return the lines of some tokenizers, or of all; what differs is that between these."""
        segmentations = [each for each in self.shown.segmentations if not names or each.tokenizer in names]
        shown = replace(self.shown, segmentations=segmentations)
        return [SegmentationView(shown, each) for each in segmentations]


class WorstRow(NamedTuple):
    """A worst document in the table.

    Attributes:
        tokenizer, corpus, group: the place; names made fit for people.
        document: the number of the document in its group, from 1 on, and where a person finds it.
        tokens, bytes: of the whole document.
        worst_by: the measure by which it is worst: its size, beside the best tokenizer, or both.
        other: the tokenizer that needs the fewest tokens for the text that is shown, and in which proportion; empty if
            that is the same tokenizer.
        text: the text that is shown, made visible.
        option: its place among the texts of the page; ``None`` if it is left out there.
    """

    tokenizer: str
    corpus: str
    group: str
    document: str
    tokens: int
    bytes: int
    worst_by: str
    other: str
    text: str
    option: int | None

    @property
    def bytes_per_token(self) -> str:
        """The compression of the document."""
        return f"{self.bytes / self.tokens:.3f}" if self.tokens else "none"


@dataclass(frozen=True)
class TokensSection:
    """The whole section; it is empty if the run shows nothing.

    Attributes:
        results: the run.
    """

    results: Results

    @cached_property
    def texts(self) -> list[TextView]:
        """The texts that the configuration names, and excerpts of documents."""
        return [_view(each) for each in shown_texts(self.results).texts]

    @cached_property
    def names(self) -> list[str]:
        """All tokenizers that have cut a text."""
        cutting = {each.tokenizer for text in shown_texts(self.results).texts for each in text.segmentations}
        return [name for name in self.results.tokenizers if name in cutting]

    @cached_property
    def first_names(self) -> list[str]:
        """The tokenizers that are shown until somebody chooses others: the first that are not baselines.

        Beside bytes everything would differ.
        """
        competing = [name for name in self.names if not self.results.tokenizers[name].baseline]
        return (competing or self.names)[:_FIRST_TOKENIZERS]

    @cached_property
    def first_texts(self) -> list[TextView]:
        """The texts that a page shows without its script: those that somebody named, then one of each corpus."""
        kinds = {each.kind: each for each in reversed(self.page) if not each.worst and each.shown.corpus}
        named = [each for each in self.page if not each.shown.corpus]
        return [*named, *reversed(kinds.values())][:_FIRST_TEXTS]

    @cached_property
    def page(self) -> list[TextView]:
        """The texts of a page: as many as it has room for."""
        return list(_within([*self.texts, *map(_worst_view, shown_texts(self.results).worst)], _MOST_TOKENS))

    @cached_property
    def left_out(self) -> str:
        """A sentence that says what is not shown; empty if everything is."""
        places = {(each.corpus, each.group) for each in shown_texts(self.results).texts if each.corpus}
        groups = sum(len(info.groups) for info in self.results.corpora.values())
        said = [f"Excerpts are of {len(places):,} of {groups:,} groups."] if places and len(places) < groups else []
        missing = len(self.texts) + len(shown_texts(self.results).worst) - len(self.page)
        said += [f"{missing:,} texts are left out of this page; results.json has them."] if missing else []
        return " ".join(said)

    @cached_property
    def worst(self) -> list[WorstRow]:
        """The worst documents of each tokenizer."""
        index = {id(view.shown): k for k, view in enumerate(self.page)}
        return [_worst_row(each, index.get(id(each.shown))) for each in shown_texts(self.results).worst]

    @cached_property
    def data(self) -> str:
        """The texts of the page for its script, as JSON: of each token the id and the number of bytes.

        ``shown`` has the characters that are not shown as they are. A row has the tokenizer, its head, remarks, ids,
        lengths, and by number what the title of a token says beyond id and bytes; of tokens that cannot be aligned
        with the text it has text, title, line ends, and 1 for bytes that are not whole characters.
        """
        characters = sorted({char for each in self.page for char in each.shown.text})
        written = {char: visible(char, spaces=True) for char in characters}
        body = {
            "names": [visible(name) for name in self.results.tokenizers],
            "shown": {char: text for char, text in written.items() if text != char},
            "texts": [self._data(each) for each in self.page],
        }
        return json.dumps(body, ensure_ascii=True, separators=(",", ":"))

    def _data(self, view: TextView) -> list[object]:
        order = {name: number for number, name in enumerate(self.results.tokenizers)}
        known = [each for each in view.shown.segmentations if each.tokenizer in order]
        alone = (replace(view.shown, segmentations=[each]) for each in known)
        lines = (SegmentationView(each, each.segmentations[0]) for each in alone)  # the script finds what differs
        rows = [
            [order[line.name], line.head, [visible(each) for each in line.remarks], line.segmentation.ids, *_cut(line)]
            for line in lines
        ]
        return [view.heading, view.shown.text, int(view.worst), rows]


def _cut(line: SegmentationView) -> tuple[list[int], dict[int, str] | list[tuple[object, ...]]]:
    """Return the lengths of the tokens and additions to titles; without lengths, all that is shown of each token."""
    spans = line.segmentation.spans()
    if not spans and line.tokens:
        return [], [(each.text, each.title, each.breaks, int(each.partial)) for each in line.tokens]
    lengths = [end - start for start, end in spans]
    if not line.segmentation.pieces:
        return lengths, {}
    tokens = line.segmentation.tokens(line.text.text)
    own = {k: line.tokens[k].own for k, each in enumerate(tokens) if each.own != each.data}
    return lengths, own


def _view(text: SegmentedText) -> TextView:
    if not text.corpus:
        return TextView("texts of the configuration", cut(visible(text.label), _HEADING), text)
    place = f"{group_name(text.group)}: {text.label}{'' if text.whole else ', a part'}"
    return TextView(visible(text.corpus), cut(visible(place), _HEADING), text)


def _worst_view(each: WorstDocument) -> TextView:
    place = f"{each.shown.corpus} / {group_name(each.shown.group)}: {each.shown.label}"
    return TextView(
        f"worst documents of {visible(each.tokenizer)}", cut(visible(place), _HEADING), each.shown, worst=True
    )


def _within(views: Iterable[TextView], room: int) -> Iterator[TextView]:
    """Yield the texts that have room together, in their order."""
    for view in views:
        if view.tokens <= room:
            room -= view.tokens
            yield view


def _worst_row(each: WorstDocument, index: int | None) -> WorstRow:
    better = each.shown.segmentations[1:]
    other = f"{each.times_the_fewest:.1f} × {visible(better[0].tokenizer)}" if better else ""
    measures = [*(["size"] if each.by_size else []), *(["beside the best"] if each.beside_best else [])]
    return WorstRow(
        each.tokenizer,
        each.shown.corpus,
        group_name(each.shown.group),
        f"{each.number + 1:,} ({each.shown.label})",
        each.tokens,
        each.bytes,
        " and ".join(measures),
        other,
        visible(each.shown.text, spaces=True),
        index,
    )
