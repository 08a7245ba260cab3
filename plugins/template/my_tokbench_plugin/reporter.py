"""A report format: bytes per token of whole corpora, as a LaTeX table."""

from tokbench.plugin.metrics import WHOLE
from tokbench.plugin.report import ReporterSpec, Results


def escape(text: str) -> str:
    return "".join("\\" + char if char in "#$%&_{}" else char for char in text)


def render(results: Results) -> str:  # a function of the results; it measures nothing
    ratios = {
        (cell.tokenizer, cell.corpus): f"{cell.value:.2f}" if cell.status == "ok" else cell.status.value
        for cell in results.cells
        if cell.metric == "compression_ratio" and cell.group == WHOLE
    }
    corpora = list(dict.fromkeys(corpus for _, corpus in ratios))
    rows = [["tokenizer", *corpora]]
    for tokenizer in dict.fromkeys(tokenizer for tokenizer, _ in ratios):
        rows.append([tokenizer, *(ratios[tokenizer, corpus] for corpus in corpora)])
    body = "".join(" & ".join(map(escape, row)) + " \\\\\n" for row in rows)
    return f"\\begin{{tabular}}{{l{'r' * len(corpora)}}}\n{body}\\end{{tabular}}\n"


SPEC = ReporterSpec(name="tex", summary="a LaTeX table", filename="compression.tex", render=render)
