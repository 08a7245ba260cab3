"""Renders the tokens of a document as HTML, for the script of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from markupsafe import Markup, escape

from tokbench.foundation.visible_text import visible
from tokbench.report.document import Node, Token, TokenChooser, Tokens, TokenText
from tokbench.report.pages import packed

_MOST: Final = 60

_CHOICE: Final = Markup("""\
<div class="choose pick">
<label>Text <select id="tokens-text">
{options}</select></label>
<details id="tokens-names"><summary>Tokenizers</summary>
<div role="group" aria-label="Tokenizers to show">
{boxes}</div>
</details>
</div>
<p id="token-info" class="legend" role="status"></p>
<div id="tokens-shown">
{shown}</div>
<noscript>
<p class="legend">With JavaScript there are {texts:,} texts and {names:,} tokenizers to choose from.</p>
</noscript>
<template id="tokens-data">{data}</template>
""")


def safe_text(text: str) -> Markup:
    """Return a text, made visible and escaped."""
    return escape(visible(text))


def tokens_html(tokens: Tokens) -> Markup:
    """Return the number of tokens and the first of them.

    >>> tokens_html(Tokens([Token("a", "id 1"), Token("b", "id 2")], "‡")).striptags()
    '2‡ ab'
    """
    mark = Markup("<sup>{}</sup>").format(tokens.mark) if tokens.mark else ""
    more = Markup(" <em>and {:,} more</em>").format(len(tokens.tokens) - _MOST) if len(tokens.tokens) > _MOST else ""
    boxes = Markup("").join(map(_box, tokens.tokens[:_MOST]))
    return Markup("<b>{:,}{}</b> {}{}").format(len(tokens.tokens), mark, boxes, more)


def token_text_html(text: TokenText) -> Markup:
    """Return all tokens of a text, with its line ends."""
    return Markup('<p class="tokens" tabindex="0" role="group" aria-label="{}">{}</p>\n').format(
        safe_text(text.label),
        Markup("").join(_box(token) + (Markup("<br>") if token.breaks else "") for token in text.tokens),
    )


def _box(token: Token) -> Markup:
    look = "token" + " differs" * token.differs + " part" * token.partial
    return Markup('<span class="{}" title="{}"><bdi>{}</bdi></span>').format(
        look, safe_text(token.title), safe_text(token.text)
    )


def token_chooser_html(chooser: TokenChooser, nodes: Callable[[Sequence[Node]], Markup]) -> Markup:
    """Return the choice of text and tokenizers; ``nodes`` renders a text."""
    frame = Markup('<div class="cut">\n{}</div>\n')
    shown = (frame.format(nodes(chooser.texts[number].nodes)) for number in chooser.first)
    return _CHOICE.format(
        options=_options(chooser),
        boxes=Markup("").join(_checkbox(name, checked=name in chooser.chosen) for name in chooser.names),
        shown=Markup("").join(shown),
        texts=len(chooser.texts),
        names=len(chooser.names),
        data=packed(chooser.data),
    )


def _options(chooser: TokenChooser) -> Markup:
    families: dict[str, Markup] = {}
    for number, text in enumerate(chooser.texts):
        option = Markup('<option value="{}"{}>{}</option>\n').format(
            number, Markup(" selected") if number == chooser.first[0] else "", safe_text(text.name)
        )
        families[text.family] = families.get(text.family, Markup("")) + option
    return Markup("").join(
        Markup('<optgroup label="{}">\n{}</optgroup>\n').format(safe_text(family), options)
        for family, options in families.items()
    )


def _checkbox(name: str, *, checked: bool) -> Markup:
    mark = Markup(" checked") if checked else ""
    return Markup('<label><input type="checkbox"{}> <bdi>{}</bdi></label>\n').format(mark, safe_text(name))
