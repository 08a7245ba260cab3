"""Probes of formats: YAML, JSON and XML; addresses; emoji."""

from __future__ import annotations

import json
from typing import Final

from tokbench.plugin.metrics import EncodedShard, Measured
from tokbench_research.probes.text_probe import TextProbe, Values, probe_value, tokens_each

_DATA: Final[dict[str, object]] = {
    "order": {
        "id": 20417,
        "customer": "Mara Lindqvist",
        "paid": True,
        "items": [
            {"name": "oak shelf", "price": 129.5, "quantity": 2},
            {"name": "wall hook", "price": 4.25, "quantity": 12},
        ],
        "address": {"city": "Uppsala", "postcode": "753 20"},
    }
}

_YAML: Final = """\
order:
  id: 20417
  customer: Mara Lindqvist
  paid: true
  items:
    - name: oak shelf
      price: 129.5
      quantity: 2
    - name: wall hook
      price: 4.25
      quantity: 12
  address:
    city: Uppsala
    postcode: 753 20
"""

_XML: Final = """\
<order>
  <id>20417</id>
  <customer>Mara Lindqvist</customer>
  <paid>true</paid>
  <items>
    <item>
      <name>oak shelf</name>
      <price>129.5</price>
      <quantity>2</quantity>
    </item>
    <item>
      <name>wall hook</name>
      <price>4.25</price>
      <quantity>12</quantity>
    </item>
  </items>
  <address>
    <city>Uppsala</city>
    <postcode>753 20</postcode>
  </address>
</order>
"""

_FORMATS: Final = {
    "yaml": ("YAML", _YAML),
    "json": ("JSON, indented by two", json.dumps(_DATA, indent=2) + "\n"),
    "json_compact": ("JSON without white space", json.dumps(_DATA, separators=(",", ":"))),
    "xml": ("XML", _XML),
}

_EMOJI: Final = (
    ("grinning face", "\U0001f600"),
    ("red heart", "\u2764\ufe0f"),
    ("thumbs up, medium skin", "\U0001f44d\U0001f3fd"),
    ("flag of Kenya", "\U0001f1f0\U0001f1ea"),
    ("keycap 7", "7\ufe0f\u20e3"),
    ("family of four", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"),
    ("rainbow flag", "\U0001f3f3\ufe0f\u200d\U0001f308"),
)
_JOINER: Final = "\u200d"

_URLS: Final = (
    "https://www.example.com/",
    "https://docs.example.org/en/stable/guide/install.html#from-source",
    "http://localhost:8080/api/v2/users?id=42&sort=desc&page=3",
    "git@git.example.net:team/project.git",
    "/usr/local/lib/python3.12/site-packages/numpy/__init__.py",
)


def _emoji(encoded: EncodedShard) -> Values:
    joined = [k for k, text in enumerate(encoded.shard.texts) if _JOINER in text]
    return {
        "probe_emoji": tokens_each(encoded),
        "probe_emoji_joined": Measured(float(encoded.tokens[joined].mean()), len(joined)),
    }


def _urls(encoded: EncodedShard) -> Values:
    return {"probe_urls": Measured(float(encoded.shard.n_bytes.sum() / encoded.tokens.sum()), len(encoded.shard))}


FORMATS: Final = TextProbe(
    name="formats",
    title="The same data as YAML, JSON and XML",
    explanation=(
        "One order with two items, written four ways. What a format costs depends on whether quotation marks with "
        "their commas, closing tags and indentation are tokens of the vocabulary; text and numbers are the same in all."
    ),
    texts=tuple(_FORMATS.values()),
    values=tuple(
        probe_value(
            f"probe_{name}",
            "tokens",
            "lower",
            f"tokens of the data as {label}",
            f"What one small record of fixed content costs as {label}.",
        )
        for name, (label, _) in _FORMATS.items()
    ),
    measure=lambda encoded: {
        f"probe_{name}": Measured(tokens, 1) for name, tokens in zip(_FORMATS, encoded.tokens.tolist(), strict=True)
    },
)

EMOJI: Final = TextProbe(
    name="emoji",
    title="Emoji",
    explanation=(
        "What is one picture to a reader is up to seven code points: a heart with its variation selector, a hand with "
        "a skin tone, two letters that make a flag, a family of four people held together by three zero-width joiners. "
        "Tokens that end inside a character are shown as bytes."
    ),
    texts=_EMOJI,
    values=(
        probe_value("probe_emoji", "tokens/emoji", "lower", f"Σ tokens / {len(_EMOJI)} emoji", "What an emoji costs."),
        probe_value(
            "probe_emoji_joined",
            "tokens/emoji",
            "lower",
            "Σ tokens / emoji, over those with a zero-width joiner",
            "What an emoji costs that is made of others.",
        ),
    ),
    measure=_emoji,
)

URLS: Final = TextProbe(
    name="urls",
    title="Addresses and paths",
    explanation=(
        "Addresses are full of punctuation and of words without spaces around them. Beginnings such as https://www. "
        "may be a single token; then it is hard to see, or to change, what is inside."
    ),
    texts=tuple((url, url) for url in _URLS),
    values=(
        probe_value(
            "probe_urls", "bytes/token", "higher", "Σ bytes / Σ tokens", "How much of an address or path a token holds."
        ),
    ),
    measure=_urls,
)
