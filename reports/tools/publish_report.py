"""Publishes a study in reports/: runs its configuration, and keeps the facts of the run.

python reports/tools/publish_report.py vocabularies

A folder after the name is taken as the finished run. README.md of the study is written by hand: figures in it that have
another value now are printed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tokbench.results.model import SCHEMA, Results

SHELF = Path(__file__).parents[1]
FACTS = "run.json"
STUDIES = ("vocabularies", "vocabularies_code", "equal_size-pud", "drift")


def facts(results):
    """Return what a reader must know of a run to make it again."""
    return {
        "configuration": results.name,
        "schema": SCHEMA,
        "created": results.created,
        "python": results.environment.python,
        "packages": dict(sorted(results.environment.packages.items())),
        "corpora": {
            name: {"sha256": corpus.sha256, "licence": corpus.licence, "documents": corpus.documents}
            for name, corpus in results.corpora.items()
        },
    }


def publish(study, run):
    results = Results.read(run / "results.json")
    if results.config.settings or results.config.limit or results.config.only or results.partial:
        sys.exit(f"{run}: a first look is not to be published; run it whole")
    folder = SHELF / study
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS).write_text(json.dumps(facts(results), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in changed_figures(folder / "README.md", results))


def changed_figures(page, results):
    """Yield the lines of a page's table of figures, as far as they are cells of the run, that have another value now."""
    known = {(cell.tokenizer, cell.corpus, cell.group, cell.metric): cell.value for cell in results.cells}
    table = page.read_text(encoding="utf-8").partition("<!-- figures -->")[2].partition("<!-- /figures -->")[0]
    for line in table.strip().splitlines()[2:]:
        *place, figure = line.strip("| ").split(" | ")
        value = known.get(tuple(place))
        now = figure if value is None else f"{value:.{len(figure.partition('.')[2])}f}"
        if now != figure:
            yield f"{page}: {' | '.join(place)}: {figure} is {now} now"


def main(study, run=None):
    if study not in STUDIES:
        sys.exit(f"no published study is called {study!r}; known: {', '.join(STUDIES)}")
    if run:
        publish(study, Path(run))
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "tokbench", "run", study, "-o", folder, "-w", "2"], check=True)
        publish(study, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
