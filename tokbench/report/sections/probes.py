"""The probes: their texts, and how each tokenizer cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokbench.report.escaping import markdown, visible
from tokbench.results.model import Results

__all__ = ["Cut", "ProbeRow", "ProbeShown", "markdown_section", "probes"]

_MOST_TOKENS = 60
_MOST_TOKENS_MARKDOWN = 24


class Cut(NamedTuple):
    """A text and its tokens.

    Attributes:
        label, text: the text.
        length: how many tokens it has.
        tokens: id and text, made visible, of the first of them.
    """

    label: str
    text: str
    length: int
    tokens: Sequence[tuple[int, str]]

    @property
    def more(self) -> int:
        """How many tokens are not shown."""
        return self.length - len(self.tokens)


class ProbeRow(NamedTuple):
    """What one tokenizer makes of the texts of a probe, or why it makes nothing of them."""

    tokenizer: str
    cuts: Sequence[Cut]
    reason: str


@dataclass(frozen=True, slots=True)
class ProbeShown:
    """One probe.

    Attributes:
        name, title, explanation: what it is.
        values: ids of its metrics.
        texts: label and text of each.
        rows: by tokenizer, in the order of the run.
        own: further texts that are those of one tokenizer.
    """

    name: str
    title: str
    explanation: str
    values: Sequence[str]
    texts: Sequence[tuple[str, str]]
    rows: Sequence[ProbeRow]
    own: Sequence[ProbeRow]

    @property
    def listings(self) -> list[tuple[str, str]]:
        """The texts of many lines, which no heading of a column has room for."""
        return [(label, text) for label, text in self.texts if text.count("\n") > 1]

    @property
    def headings(self) -> list[tuple[str, str]]:
        """The labels, each with its text if it says something else and has one line."""
        same = str.maketrans({"␣": " ", "⏎": "\n"})
        return [(label, "" if "\n" in text or label.translate(same) == text else text) for label, text in self.texts]


def probes(results: Results, most: int = _MOST_TOKENS) -> list[ProbeShown]:
    """The probes of a run, of each text no more than the first ``most`` tokens."""
    return [_probe(entry, most) for entry in results.probes]


def _probe(entry: dict[str, Any], most: int) -> ProbeShown:
    texts = [(str(label), str(text)) for label, text in entry.get("texts", [])]
    rows, own = [], []
    for name, answer in entry.get("answers", {}).items():
        pairs = zip(texts, answer.get("tokens", []), strict=False)
        cuts = [_cut(label, text, tokens, most) for (label, text), tokens in pairs]
        rows.append(ProbeRow(name, cuts, str(answer.get("reason", ""))))
        if answer.get("own"):
            cuts = [_cut(label, text, tokens, most) for label, text, tokens in answer["own"]]
            own.append(ProbeRow(name, cuts, ""))
    return ProbeShown(
        name=str(entry.get("probe", "")),
        title=str(entry.get("title", "")),
        explanation=str(entry.get("explanation", "")),
        values=[str(value) for value in entry.get("values", [])],
        texts=texts,
        rows=rows,
        own=own,
    )


def _cut(label: str, text: str, tokens: Sequence[Sequence[Any]], most: int) -> Cut:
    shown = [(number, visible(str(token), spaces=True)) for number, token in tokens[:most]]
    return Cut(label, text, len(tokens), shown)


def markdown_section(results: Results) -> str:
    """The section of ``report.md``, ``""`` where there were no probes."""
    found = probes(results, _MOST_TOKENS_MARKDOWN)
    if not found:
        return ""
    head = (
        "Texts that the probes bring themselves, and how each tokenizer cuts them: number of tokens, then the tokens, "
        "set apart by ¦. Spaces are shown as ␣, line ends as ⏎, tabs as ⇥.\n"
    )
    return "\n".join(["## Probes\n", head, *map(_markdown, found)])


def _markdown(probe: ProbeShown) -> str:
    parts = [f"### {markdown(probe.title)}\n", f"{markdown(probe.explanation)}\n"]
    for label, text in probe.listings:
        parts.append(f"{markdown(label)}: {markdown(visible(text, spaces=True))}\n")
    head = ["tokenizer", *(markdown(label) for label, _ in probe.texts)]
    rows = [[markdown(row.tokenizer), *_row(row, len(probe.texts))] for row in probe.rows]
    parts.append(_table([head, *rows]))
    if probe.own:
        own = [[row.tokenizer, cut.label, _tokens(cut)] for row in probe.own for cut in row.cuts]
        cells = [[markdown(name), markdown(label), tokens] for name, label, tokens in own]
        parts.append(_table([["tokenizer", "its own text", "tokens"], *cells]))
    return "\n".join(parts)


def _row(row: ProbeRow, texts: int) -> list[str]:
    return [_tokens(cut) for cut in row.cuts] or [markdown(row.reason), *[""] * (texts - 1)]


def _tokens(cut: Cut) -> str:
    more = f" and {cut.more:,} more" if cut.more else ""
    return f"{cut.length:,}: " + markdown(" ¦ ".join(text for _, text in cut.tokens)) + more


def _table(rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(rows[0])
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [rows[0], rule, *rows[1:]])
