"""The example notebook, executed by Jupyter's own client: run, table, charts, comparison."""

import os
import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[1] / "reports" / "notebook.ipynb"


def test_the_example_has_no_outputs_and_is_small():
    notebook = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(notebook)
    assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]
    assert NOTEBOOK.stat().st_size < 10_000


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Jupyter's libraries warn about their own future
def test_the_example_runs_and_is_saved_in_less_than_a_megabyte(tmp_path):
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, 4)
    options = {"timeout": 300, "kernel_name": "python3", "resources": {"metadata": {"path": str(tmp_path)}}}
    NotebookClient(notebook, **options).execute(env=os.environ | {"TOKBENCH_NO_STORE": "1"})
    nbformat.write(notebook, tmp_path / "done.ipynb")
    assert (tmp_path / "done.ipynb").stat().st_size < 1_000_000
    run, table, heat, curve, speed, compared = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    progress, shown = run  # one line of progress, and no other output
    assert re.fullmatch(r"done in \d+:\d\d", progress.data["text/plain"])
    lines = shown.data["text/plain"].splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("Results 'notebook': 3 tokenizers on 2 corpora")
    assert ".table(&#39;compression_ratio&#39;)" in shown.data["text/html"]
    [output] = table
    assert output.data["text/html"].count("<tr>") > 28  # languages, the whole corpus, and heads
    for [chart] in (heat, curve, speed):
        assert 'src="data:image/svg+xml;base64,' in chart.data["text/html"]
    _, compared = compared[0], compared[-1]
    assert "later against first" in compared.data["text/html"]
    assert "Tokenizers that changed" in compared.data["text/html"]
    assert (tmp_path / "first" / "results.csv").exists()
