"""The tokens of texts, in the terminal, on a page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self

from tokbench.foundation.visible_text import visible
from tokbench.measuring.align import LostText, lost_text
from tokbench.measuring.round_trip import Loss, RoundTrip
from tokbench.report.cells import MARKS
from tokbench.report.document import (
    Bullets,
    Details,
    Heading,
    Line,
    Name,
    Node,
    Paragraph,
    Section,
    Small,
    Token,
    TokenText,
    names_line,
)
from tokbench.report.escaping import cut
from tokbench.segmentation.segmented_text import Segmentation, SegmentedText, TokenSpan

if TYPE_CHECKING:
    from rich.text import Text

_COLOURS: Final = ("on #cfe8ff", "on #ffe2b8", "on #d5f2d0", "on #f6d3e6", "on #e3dcfa")
_LONGEST_BACK: Final = 200

SAME, OTHER = "│", "┃"
"""The signs after a token without colours; the second one for a difference."""


class TokenView(NamedTuple):
    """One token as it is shown."""

    id: int
    text: str
    r"""Its part of the text, made visible; invalid UTF-8 as ``\x`` and two digits."""
    breaks: int
    differs: bool
    partial: bool
    title: str
    own: str
    merges: list[list[str]]
    """The merges by which BPE makes it, each as its parts."""


@dataclass(frozen=True)
class SegmentationView:
    """One tokenizer's line below a text."""

    text: SegmentedText
    segmentation: Segmentation
    shared: set[tuple[int, int]] | None = None
    """The spans of tokens that all compared tokenizers have; ``None`` without comparison."""

    @classmethod
    def of_all(cls, text: SegmentedText) -> list[Self]:
        compared = sum(bool(line.ends) for line in text.segmentations)
        shared = text.shared_spans() if compared > 1 else None
        return [cls(text, line, shared) for line in text.segmentations]

    @property
    def name(self) -> str:
        return self.segmentation.tokenizer

    @property
    def round_trip(self) -> RoundTrip:
        line, text = self.segmentation, self.text.text
        if line.reason and not (line.ids or line.round_trip):
            return RoundTrip.UNKNOWN
        lost = LostText(0, 0) if line.round_trip else lost_text(text, line.back)
        return Loss(line.round_trip, lost.characters / (len(text) or 1), lost.edits / (len(text) or 1)).round_trip()

    @property
    def head(self) -> str:
        if not self.segmentation.ids:
            return "no tokens"
        count, size = len(self.segmentation.ids), len(self.text.text.encode())
        return f"{count:,} token{'s' if count > 1 else ''}, {size / count:.2f} bytes per token{MARKS[self.round_trip]}"

    @property
    def remarks(self) -> list[str]:
        line = self.segmentation
        remarks = [line.reason] if line.reason else []
        if line.back or (line.ids and not line.round_trip):
            remarks.append(
                f"{self.round_trip}: the text decodes to {cut(visible(line.back), _LONGEST_BACK) or 'nothing'}"
            )
        if line.ids and not line.ends:
            remarks.append("its tokens cannot be aligned with the text: they are shown as they decode")
        return remarks

    @cached_property
    def tokens(self) -> list[TokenView]:
        return [_view(token, self.shared) for token in self.segmentation.tokens(self.text.text)]

    @property
    def ids(self) -> str:
        return " ".join(map(str, self.segmentation.ids))

    @property
    def boxes(self) -> list[Token]:
        return [
            Token(token.text, token.title, token.differs, token.partial, breaks=bool(token.breaks))
            for token in self.tokens
        ]

    def nodes(self, level: Literal[3, 4]) -> list[Node]:
        heading = Heading([Name(self.name), " ", Small(self.head)], level)
        tokens = [TokenText(self.boxes, f"Tokens of {self.name}")] if self.tokens else []
        return [heading, *(Paragraph(remark, "bad") for remark in self.remarks), *tokens]


def _view(token: TokenSpan, shared: set[tuple[int, int]] | None) -> TokenView:
    shown = _readable(token.data)
    own = "" if token.own == token.data else f"; the token is {_readable(token.own)}"
    return TokenView(
        token.id,
        shown,
        token.data.count(b"\n"),
        shared is not None and token.span is not None and token.span not in shared,
        token.partial,
        f"id {token.id}; bytes {token.data.hex(' ') or 'none'}{own}",
        own,
        [[_readable(bytes.fromhex(part)) for part in merge] for merge in token.merges],
    )


def _readable(data: bytes) -> str:
    return visible(data.decode("utf-8", "backslashreplace"), spaces=True)


def views(texts: Sequence[SegmentedText]) -> list[tuple[SegmentedText, list[SegmentationView]]]:
    """Return each text with the line of each tokenizer."""
    return [(text, SegmentationView.of_all(text)) for text in texts]


def terminal(texts: Sequence[SegmentedText], *, colours: bool) -> Iterator[Text]:
    """Yield the lines for a terminal; without colours :data:`SAME` and :data:`OTHER` separate tokens."""
    from rich.text import Text

    for text, lines in views(texts):
        if text.label:
            yield Text(visible(text.label), "bold" if colours else "")
        for line in lines:
            yield Text.assemble((visible(line.name), "bold" if colours else ""), f"  {line.head}")
            for remark in line.remarks:
                yield Text(f"  ! {visible(remark)}", "yellow" if colours else "")
            if line.tokens:
                yield _coloured(line.tokens) if colours else _plain(line.tokens)
                yield Text(line.ids, "dim" if colours else "")
            yield from (Text(f"  {_merges(token)}") for token in line.tokens if token.merges)
            yield Text()


def _coloured(tokens: Sequence[TokenView]) -> Text:
    from rich.text import Text

    shown = Text()
    for k, token in enumerate(tokens):
        marks = " underline" * token.differs + " italic" * token.partial
        shown.append(token.text, f"black {_COLOURS[k % len(_COLOURS)]}{marks}")
        shown.append("\n" if token.breaks else "")
    return shown


def _plain(tokens: Sequence[TokenView]) -> Text:
    from rich.text import Text

    signs = ((OTHER if token.differs else SAME) + ("\n" if token.breaks else "") for token in tokens)
    return Text("".join(token.text + sign for token, sign in zip(tokens, signs, strict=True)))


def _merges(token: TokenView) -> str:
    return f"{token.id} {token.text}: " + ", ".join(" + ".join(parts) for parts in token.merges)


def as_json(texts: Sequence[SegmentedText]) -> str:
    """Return the texts and their tokens as JSON; bytes are hexadecimal."""
    return json.dumps({"texts": [_json_of(text) for text in texts]}, indent=1, ensure_ascii=True)


def _json_of(text: SegmentedText) -> dict[str, object]:
    return {
        "label": text.label,
        "text": text.text,
        "tokenizers": [
            {
                "tokenizer": line.tokenizer,
                "round_trip": SegmentationView(text, line).round_trip.value,
                "decoded": text.text if line.round_trip else line.back or None,
                "reason": line.reason,
                "tokens": [_token(token) for token in line.tokens(text.text)],
            }
            for line in text.segmentations
        ],
    }


def _token(token: TokenSpan) -> dict[str, object]:
    start, end = token.span or (None, None)
    row = {
        "id": token.id,
        "text": token.data.decode("utf-8", "backslashreplace"),
        "bytes": token.own.hex(),
        "start": start,
        "end": end,
    }
    return row | ({"merges": token.merges} if token.merges else {})


_LEGEND: Final = (
    "Each colour is one token; hover to see its id and bytes. Underlined: tokens that other tokenizers split "
    "differently. A dashed border marks a part of a character. Spaces are shown as ␣, line ends as ⏎, tabs as ⇥, "
    "bytes that are not text as \\x and two digits."
)


def html(texts: Sequence[SegmentedText]) -> str:
    """Return a page that needs neither network nor script."""
    from tokbench.report.html_nodes import page

    sections = (
        Section("", Name(text.label) if text.label else "", [node for line in lines for node in _with_ids(line)])
        for text, lines in views(texts)
    )
    return page("Tokens", _LEGEND, list(sections))


def _with_ids(line: SegmentationView) -> list[Node]:
    nodes = line.nodes(3)
    if line.tokens:
        nodes.append(Details("ids", [Paragraph(line.ids, "ids")]))
    if merged := [_merge_line(token) for token in line.tokens if token.merges]:
        nodes.append(Details("merges", [Bullets(merged)]))
    return nodes


def _merge_line(token: TokenView) -> Line:
    return [Name(token.text), *names_line(": ", [" + ".join(parts) for parts in token.merges], after="")]
