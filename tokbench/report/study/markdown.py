"""The study in Markdown: bytes per token at each size, knees, the recommendation."""

from __future__ import annotations

from tokbench.report.study.view import Corpus, study_view
from tokbench.report.text import markdown, table
from tokbench.results import Results

__all__ = ["study_section"]


def study_section(results: Results) -> str:
    """The section, or ``""`` if the run had no study."""
    study = study_view(results)
    if study is None:
        return ""
    head = "Bytes per token when each vocabulary is cut to a size: exact, from one encoding at its own size."
    parts = [f"## Vocabulary size\n\n{head} Special tokens are not counted.\n"]
    parts += [_corpus(corpus) for corpus in study.corpora]
    reasons = [f"- {markdown(line['line'])}: {markdown(line['reason'])}" for line in study.lines if line["reason"]]
    if reasons:
        parts.append("Known only at sizes of their own:\n\n" + "\n".join(reasons) + "\n")
    return "\n".join(parts)


def _corpus(corpus: Corpus) -> str:
    head = ["line", "knee", *(f"{size:,}" for size in corpus.columns), "own size"]
    rows = [
        [
            markdown(line),
            f"{knee['size']:,}" if knee else "none",
            *("none" if value is None else f"{value:.3f}" for value in [*values, own]),
        ]
        for line, knee, values, own in corpus.table
    ]
    advice = f"\n{markdown(corpus.advice)}\n" if corpus.advice else ""
    return f"### {markdown(corpus.name)}\n\n{table(head, rows, range(1, len(head)))}{advice}"
