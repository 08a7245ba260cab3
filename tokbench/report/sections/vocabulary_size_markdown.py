"""The study in Markdown: bytes per token at each size, knees, the recommendation."""

from __future__ import annotations

from tokbench.report.escaping import markdown, table
from tokbench.report.sections.size_data import Sizes
from tokbench.report.sections.vocabulary_size import by_size, columns_of, marks_of
from tokbench.results.model import Results

__all__ = ["study_section"]


def study_section(results: Results) -> str:
    """The section, or ``""`` if the run had no study."""
    sizes = Sizes(results)
    if not sizes.lines:
        return ""
    head = "Bytes per token when each vocabulary is cut to a size: exact, from one encoding at its own size."
    parts = [f"## Vocabulary size\n\n{head} Special tokens are not counted.\n"]
    parts += [_corpus(sizes, corpus) for corpus in sizes.corpora]
    reasons = [f"- {markdown(line['line'])}: {markdown(line['reason'])}" for line in sizes.lines if line["reason"]]
    if reasons:
        parts.append("Known only at sizes of their own:\n\n" + "\n".join(reasons) + "\n")
    return "\n".join(parts)


def _corpus(sizes: Sizes, corpus: str) -> str:
    columns = columns_of(sizes, corpus)
    head = ["line", "knee", *(f"{size:,}" for size in columns), "own size"]
    rows = [
        [
            markdown(row.line) + marks_of(sizes, row.line, corpus),
            f"{row.knee['size']:,}" if row.knee else "none",
            *("none" if value is None else f"{value:.3f}" for value in [*row.values, row.own]),
        ]
        for row in by_size(sizes, corpus, columns)
    ]
    sentence = sizes.found.get("advice", {}).get(corpus, {}).get("sentence")
    advice = f"\n{markdown(sentence)}\n" if sentence else ""
    inside = any(sizes.in_sample(row.line, corpus) for row in by_size(sizes, corpus, ()))
    advice += "\n† trained on some of this text.\n" if inside else ""
    losses = [f"{row.line} ({lost})" for row in by_size(sizes, corpus, ()) if (lost := sizes.lost(row.line, corpus))]
    advice += f"\n‡ losing text, and never recommended: {markdown('; '.join(losses))}.\n" if losses else ""
    return f"### {markdown(corpus)}\n\n{table(head, rows, range(1, len(head)))}{advice}"
