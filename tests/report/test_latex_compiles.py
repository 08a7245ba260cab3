r"""What ``latex`` writes is compiled by pdfLaTeX without an error, and no line is wider than a page of ``article``."""

import shutil
import subprocess

import pytest
from made_up_results import results_of
from report_data import build

from tokbench.formats import latex
from tokbench.measuring.metric import Role
from tokbench.report.escaping import latex_text
from tokbench.results.blocks import CorpusInfo, MetricInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results

DOCUMENT = r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}\input{tables}\end{document}"
NAMES = (
    "gpt-4o",
    "a_tokenizer_with_a_very_long_name_of_many_parts-v2",
    "x" * 80,
    "W_M" * 20,
    "Ĝis é & 50%",
    "Жук 中文 ≡ ạ",
)
LANGUAGES = "am ar bn cs de el en es fa fi fr he hi id it ja ka ko nl no pl pt ru sv th tr uk vi".split()


def premiums() -> Results:
    """Twenty-eight languages, and tokenizers with long names, underscores and letters of other scripts."""
    metrics = {
        "compression": MetricInfo(
            direction="higher", role=Role.TEXT_PER_TOKEN, headline=True, label="compression ratio"
        ),
        "premium": MetricInfo(direction="lower", role=Role.PREMIUM, headline=True, label="premium"),
    }
    cells = [
        Cell(name, "a_long name/of%a corpus", group, metric, value, "bytes/token", value - 0.1, value + 0.1, 40)
        for metric in metrics
        for place, name in enumerate(NAMES)
        for row, group in enumerate([WHOLE, *LANGUAGES, "script: Latin"])
        for value in [1 + row / 7 + place / 3]
    ]
    info = CorpusInfo(groups=dict.fromkeys(LANGUAGES, 40), parallel=True, reference="en")
    return results_of(cells, metrics, corpora={cells[0].corpus: info})


def test_premiums_have_a_table_with_a_row_for_each_language():
    text = latex.render(premiums())
    table = (
        text.partition("Premium, bytes/token, by language of ")[2]
        .partition(r"\midrule")[2]
        .partition(r"\bottomrule")[0]
    )
    rows = [row.partition(" & ")[0].strip() for row in table.split(r"\\")][:-1]
    assert rows[0] == "whole corpus"
    assert {"English", "German", "Thai"} <= set(rows)
    assert len(rows) == 1 + len(LANGUAGES)
    assert "script: Latin" not in table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("é", "é"),
        ("ą", r"\tokbenchchar{ą}{U+0105}"),
        ("ạ", r"\tokbenchchar{ạ}{U+1EA1}"),
        ("ế", r"\tokbenchchar{ế}{U+1EBF}"),
        ("Ж", r"\tokbenchchar{Ж}{U+0416}"),
        ("ø", "ø"),
        ("≡", r"$\equiv$"),
    ],
)
def test_letters_that_pdflatex_lacks_have_their_codes(text, written):
    assert latex_text(text) == written


@pytest.mark.slow
@pytest.mark.skipif(
    not shutil.which("pdflatex"), reason="pdflatex is not installed: Debian's texlive-latex-recommended"
)
@pytest.mark.parametrize("results", [premiums, build], ids=["premiums", "hostile names"])
def test_pdflatex_compiles_the_tables_within_the_width_of_a_page(tmp_path, results):
    (tmp_path / "tables.tex").write_text(latex.render(results()), encoding="utf-8")
    (tmp_path / "main.tex").write_text(DOCUMENT, encoding="utf-8")
    for _ in range(2):  # the second run has the widths of the columns
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-1500:]
    log = (tmp_path / "main.log").read_text("utf-8", "replace")
    assert [line for line in log.splitlines() if line.startswith("Overfull")] == []
